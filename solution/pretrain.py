"""Pre-train a small BERT with your own extensions: `python pretrain.py --steps 500`.

It starts from random weights and learns from the simplest reviews of data/pretraining.txt. All that
pretraining.py and optimizer.py ask for is used: your word pieces, sentence pairs, batches, masks,
heads, loss and AdamW, around your own bert.py. The losses are drawn beside those of the staff's
solution, gaps in sentences are filled before and after, and the model is written to a folder that
visualize.py and classifier.py can open as --checkpoint.

Dimension key: B batch, T tokens, N masked tokens, V vocabulary.
"""

import argparse
import contextlib
import dataclasses
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

from arguments import OneLineParser, at_least, explain_file, rate
from config import BertConfig
from observe import guess
from optimizer import AdamW
from pretraining import (
    IGNORED,
    INPUTS,
    BertForPreTraining,
    Pair,
    Sentence,
    make_sentence_pairs,
    mask_tokens,
    pair_batch,
    pretraining_loss,
    wordpiece,
)
from sentences import InputError, write_whole
from tokenizer import BertTokenizer
from training import (
    REPORT,
    WrongResultError,
    average,
    batches,
    explain_training,
    finite,
    learning_rate,
    read_reviews,
    save_model,
    shaped,
    shown,
    surprise,
)
from visualize import INSTALL

GAPS = (
    "harbor [MASK] witty .",
    "harbor gets five [MASK] .",
    "thumbs [MASK] for harbor .",
    "happily , see [MASK] .",
    "[MASK] , avoid harbor .",
)
Losses = tuple[float, float]  # of a step: of its masked tokens, and of its next sentences
TASKS = ("masked tokens", "next sentence")
NEXT = "next_sentence_label"  # in a batch
SHOWN = 3  # guesses for each gap
STAFF = "pretraining-curve.json"  # in the checkpoint's folder: what the staff's solution reached
UNTRAINED = {
    "initializer_range": 0.05,  # of a small model; 0.02 is made for a width of 768
    "hidden_dropout_prob": 0.0,  # no sentence is read often enough to be learned by heart
    "attention_probs_dropout_prob": 0.0,
}
REVIEWS = 5000  # at the beginning of the text, where they are simplest
FAR = 0.2  # from the staff's mean loss; with other seeds, it is within 0.05 of it


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How to pre-train; the staff's curve was drawn with the defaults."""

    steps: int = 500
    batch_size: int = 64
    learning_rate: float = 4e-3  # the highest
    warmup: int = 50  # steps on which the rate rises; in the second half of all, it falls to 0
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.01
    clip: float = 1.0  # largest norm of the gradient of all parameters together
    seed: int = 0  # of the weights, and of all that is drawn


def spell(reviews: list[list[str]], tokenizer: BertTokenizer) -> list[list[Sentence]]:
    """Write the words of reviews as pieces; each word is spelled once, as the language is small."""
    words = sorted({word for review in reviews for line in review for word in line.split()})
    vocabulary = tokenizer.tokenizer.get_vocab()
    rows = wordpiece(words, vocabulary, tokenizer.unk_token_id)
    if not isinstance(rows, list) or len(rows) != len(words):
        raise WrongResultError(f"wordpiece should return a list of {len(words)} lists of ids")
    spelled = dict(zip(words, rows, strict=True))
    return [
        [[number for word in line.split() for number in spelled[word]] for line in review]
        for review in reviews
    ]


def fresh(config: BertConfig) -> BertForPreTraining:
    """Make a model of these sizes with random weights, and without dropout."""
    return BertForPreTraining(dataclasses.replace(config, **UNTRAINED))


def pairs_of(
    documents: list[list[Sentence]], size: int, longest: int, rng: random.Random
) -> Iterator[list[Pair]]:
    """Pair the sentences again and again, and yield batches of pairs of similar length."""
    while True:
        pairs = make_sentence_pairs(documents, rng, longest)
        if not isinstance(pairs, list) or not pairs:
            raise WrongResultError("make_sentence_pairs should return a list of pairs")
        yield from batches(pairs, size, lambda pair: len(pair[0]) + len(pair[1]), rng)


def masked(
    pairs: list[Pair], tokenizer: BertTokenizer, generator: torch.Generator
) -> dict[str, Tensor]:
    """Write pairs as a batch, hide some of its tokens, and add their labels, (B, T)."""
    batch = pair_batch(pairs, tokenizer)
    if not isinstance(batch, dict) or not {*INPUTS, NEXT} <= batch.keys():
        raise WrongResultError(f"pair_batch should return a dict with {', '.join(INPUTS)}, {NEXT}")
    special = tokenizer.special_ids, tokenizer.mask_token_id, tokenizer.vocab_size
    hidden = mask_tokens(batch["input_ids"], *special, generator)
    if not isinstance(hidden, tuple) or len(hidden) != 2:
        raise WrongResultError("mask_tokens should return two tensors")
    shape = batch["input_ids"].shape
    input_ids, labels = (shaped("mask_tokens", tensor, shape) for tensor in hidden)
    return batch | {"input_ids": input_ids, "labels": labels}


def losses_of(model: BertForPreTraining, batch: dict[str, Tensor]) -> tuple[Tensor, Losses]:
    """Return the loss to learn from, and those of both tasks, whatever the former makes of them."""
    chosen = batch["labels"] != IGNORED  # (B, T)
    labels, next_labels = batch["labels"][chosen], batch[NEXT]  # (N,), (B,)
    tokens, following = model(*(batch[name] for name in INPUTS), chosen)
    shaped("MaskedLanguageModelHead", tokens, (len(labels), model.config.vocab_size))
    shaped("NextSentenceHead", following, (len(next_labels), 2))
    loss = pretraining_loss(tokens, labels, following, next_labels)
    with torch.no_grad():
        parts = surprise(tokens, labels), surprise(following, next_labels)
    return shaped("pretraining_loss", loss, ()), parts


def pretrain(
    model: BertForPreTraining,
    tokenizer: BertTokenizer,
    documents: list[list[Sentence]],
    recipe: Recipe,
) -> Iterator[Losses]:
    """Train `model` in place, a step each time that the next losses are asked for.

    Raises:
        FloatingPointError: the loss is no longer finite.
    """
    rng, generator = random.Random(recipe.seed), torch.Generator().manual_seed(recipe.seed)
    longest = model.config.max_position_embeddings
    source = pairs_of(documents, recipe.batch_size, longest, rng)
    parameters = list(model.parameters())
    optimizer = AdamW(parameters, betas=recipe.betas, weight_decay=recipe.weight_decay)
    model.train()
    for step in range(recipe.steps):
        loss, parts = losses_of(model, masked(next(source), tokenizer, generator))
        finite(loss, step)
        rate_now = learning_rate(step, recipe.steps, recipe.learning_rate, recipe.warmup)
        optimizer.param_groups[0]["lr"] = rate_now
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, recipe.clip)
        optimizer.step()
        yield parts


def fill_gaps(title: str, model: BertForPreTraining, tokenizer: BertTokenizer) -> None:
    """Print what a model puts into each gap."""
    model.eval()
    print(title)
    for sentence in GAPS:
        names, shares = guess(model, tokenizer, sentence)
        best = zip(names[:SHOWN], shares[:SHOWN], strict=True)
        listed = ", ".join(f"{name} {share:.2f}" for name, share in best)
        print(f"  {sentence:<32} {listed}")


def read_losses(path: Path) -> list[Losses] | None:
    """Read the curve that pretrain.py or the staff has written; None if there is none."""
    try:
        curve = json.loads(path.read_text(encoding="utf-8"))
        return [(float(a), float(b)) for a, b in zip(*(curve[t] for t in TASKS), strict=True)]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a curve from pretrain.py") from error


def compare(own: list[Losses], staff: list[Losses]) -> None:
    """Print the staff's last losses, and whether one's own differ too much from them."""
    mine, theirs = average(own[-REPORT:]), average(staff[-REPORT:])
    listed = "  ".join(f"{task} {loss:.3f}" for task, loss in zip(TASKS, theirs, strict=True))
    print(f"the staff's solution: {listed}")
    if any(abs(a - b) > FAR for a, b in zip(mine, theirs, strict=True)):
        print("yours differ by more than chance explains: `make check` looks for the reason")


def write_losses(folder: Path, losses: list[Losses]) -> None:
    """Write the curve: the losses of each step, by task."""
    columns = zip(TASKS, zip(*losses, strict=True), strict=True)
    curve = {task: [round(loss, 4) for loss in column] for task, column in columns}
    write_whole(folder / "curve.json", (json.dumps(curve) + "\n").encode())


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line; exit with a one-line error if it is wrong."""
    parser = OneLineParser(
        "pretrain.py", description="Pre-train a small BERT with your own extensions."
    )
    add, root = parser.add_argument, Path(__file__).resolve().parent.parent
    add("--steps", type=at_least(1), default=Recipe.steps, help="batches to learn from")
    add("--batch-size", type=at_least(2), default=Recipe.batch_size, help="pairs in a batch")
    add("--lr", type=rate, default=Recipe.learning_rate, help="peak learning rate")
    add("--seed", type=at_least(0), default=Recipe.seed, help="of all random numbers")
    add("--text", type=Path, default=root / "data" / "pretraining.txt", help="reviews to read")
    add("--reviews", type=at_least(2), default=REVIEWS, help="how many, from the beginning")
    where = "folder with the sizes, the vocabulary and the staff's curve"
    add("--checkpoint", type=Path, default=root / "checkpoint", help=where)
    add("--save", type=Path, default=Path("runs/pretrained"), help="folder to write to")
    return parser.parse_args(argv)


def run(args: argparse.Namespace, opened: tuple, drawing) -> None:
    """Train, show what was learned, and write it."""
    config, tokenizer, reviews, staff = opened
    documents = spell(reviews, tokenizer)
    recipe = Recipe(args.steps, args.batch_size, args.lr, seed=args.seed)
    torch.manual_seed(args.seed)  # draws the weights
    torch.set_num_threads(1)  # in a model of this size, threads wait longer than they work
    model = fresh(config)
    fill_gaps("before:", model, tokenizer)
    found = pretrain(model, tokenizer, documents, recipe)
    losses = list(shown(found, recipe.steps, TASKS))
    as_staff = args.reviews == REVIEWS and recipe == Recipe(seed=args.seed)
    if as_staff and staff:
        compare(losses, staff)
    fill_gaps("after:", model, tokenizer)
    write_losses(args.save, losses)
    save_model(model, tokenizer, args.save)
    config.to_json(args.save / "config.json")  # with dropout, for fine-tuning
    drawing.save(drawing.draw_pretraining(losses, staff or []), args.save / "curve.png")
    print(f"wrote the model and its curve, curve.png, to {args.save}")


def main(argv: list[str] | None = None) -> int:
    """Run the program; return 0 on success, 1 if training had to stop, 2 for bad input."""
    args = parse_arguments(argv)
    try:
        import drawing  # here, to say how to install matplotlib if it is missing

        config = BertConfig.from_json(args.checkpoint)
        tokenizer = BertTokenizer.from_pretrained(args.checkpoint)
        staff = read_losses(args.checkpoint / STAFF)
        opened = config, tokenizer, read_reviews(args.text, args.reviews), staff
        args.save.mkdir(parents=True, exist_ok=True)  # fail before training, not after
    except ModuleNotFoundError as error:
        print(f"pretrain.py: {error.name} is not installed; {INSTALL}", file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        print(f"pretrain.py: {explain_file(error)}", file=sys.stderr)
        return 2
    try:
        run(args, opened, drawing)
    except Exception as error:  # whatever the code of the exercises raises
        print(explain_training("pretrain.py", error), file=sys.stderr)
        with contextlib.suppress(OSError):  # what is in it stays
            args.save.rmdir()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
