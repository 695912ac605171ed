"""Pre-train a small BERT with your own extensions: `python pretrain.py --steps 500`.

It starts from random weights, or with --continue from those of a checkpoint, and learns from the
simplest reviews of data/pretraining.txt, or from another text. All that
pretraining.py and optimizer.py ask for is used: your word pieces, sentence pairs, batches, masks,
heads, loss and AdamW, around your own bert.py. The model is written to a folder that visualize.py
and classifier.py can open as --checkpoint.

Dimension key: B batch, T tokens, N masked tokens, V vocabulary.
"""

import argparse
import dataclasses
import math
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.distributions import Categorical
from tqdm import tqdm

from config import BertConfig
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
from support.command_line import (
    CHECKPOINT,
    DATA,
    OneLineParser,
    at_least,
    explain_code,
    explain_file,
    rate,
)
from support.saving import save_model
from support.sentences import InputError
from tokenizer import BertTokenizer

TASKS = ("masked tokens", "next sentence")
UNTRAINED = {
    "initializer_range": 0.05,  # of a small model; 0.02 is made for a width of 768
    "hidden_dropout_prob": 0.0,  # no sentence is read often enough to be learned by heart
    "attention_probs_dropout_prob": 0.0,
}
REVIEWS = 5000  # at the beginning of the text, where they are simplest
POOL = 50  # batches from which pairs of similar length are put together
REPORT = 100  # steps between two lines


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How to pre-train."""

    steps: int = 500
    batch_size: int = 64
    learning_rate: float = 4e-3  # the highest
    warmup: int = 50  # steps on which the rate rises; in the second half of all, it falls to 0
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.01
    clip: float = 1.0  # largest norm of the gradient of all parameters together
    seed: int = 0  # of the weights, and of all that is drawn


def read_reviews(path: Path, count: int) -> list[list[str]]:
    """Read the first reviews of a text, each a list of sentences.

    Args:
        path: a sentence on each line, in lower case with spaces between its tokens, and an empty
            line between reviews; the shipped text begins with the simplest.

    Raises:
        OSError, InputError: it cannot be read, or there are no two reviews of several sentences.
    """
    try:
        texts = path.read_text(encoding="utf-8").strip().split("\n\n")[:count]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text") from error
    reviews = [text.split("\n") for text in texts]
    if sum(len(review) > 1 for review in reviews) < 2:
        what = "two reviews or more, of several lines each, with an empty line between"
        raise InputError(f"{path}: there should be {what}")
    return reviews


def spell(reviews: list[list[str]], tokenizer: BertTokenizer) -> list[list[Sentence]]:
    """Write the words of reviews as pieces; each word is spelled once, as the language is small."""
    words = sorted({word for review in reviews for line in review for word in line.split()})
    vocabulary = tokenizer.tokenizer.get_vocab()
    rows = wordpiece(words, vocabulary, tokenizer.unk_token_id)
    spelled = dict(zip(words, rows, strict=True))
    return [
        [[number for word in line.split() for number in spelled[word]] for line in review]
        for review in reviews
    ]


def sorted_batches(pairs: list[Pair], size: int, rng: random.Random) -> list[list[Pair]]:
    """Put pairs of similar length together in batches, in random order."""
    rng.shuffle(pairs)
    made = []
    for start in range(0, len(pairs), POOL * size):
        pool = pairs[start : start + POOL * size]
        pool.sort(key=lambda pair: len(pair[0]) + len(pair[1]))
        made += [pool[first : first + size] for first in range(0, len(pool), size)]
    rng.shuffle(made)
    return made


def batches(
    documents: list[list[Sentence]], size: int, longest: int, rng: random.Random
) -> Iterator[list[Pair]]:
    """Pair the sentences again and again, and yield the batches."""
    while True:
        yield from sorted_batches(make_sentence_pairs(documents, rng, longest), size, rng)


def learning_rate(step: int, recipe: Recipe) -> float:
    """Return the rate of a step, counted from 0: it rises, holds, and in the second half falls."""
    rising = (step + 1) / recipe.warmup
    falling = (recipe.steps - step) / (recipe.steps / 2)
    return recipe.learning_rate * min(1.0, rising, falling)


def surprise(logits: Tensor, labels: Tensor) -> float:
    """Return the mean of -log p, where p are the probabilities of the labels, (N, C) and (N,)."""
    return -Categorical(logits=logits).log_prob(labels).mean().item()


def losses_of(
    model: BertForPreTraining,
    tokenizer: BertTokenizer,
    pairs: list[Pair],
    generator: torch.Generator,
) -> tuple[Tensor, tuple[float, float]]:
    """Hide tokens of a batch; return the loss to learn from, and that of each task by itself."""
    batch = pair_batch(pairs, tokenizer)
    input_ids, labels = mask_tokens(
        batch["input_ids"],
        tokenizer.special_ids,
        tokenizer.mask_token_id,
        tokenizer.vocab_size,
        generator,
    )
    batch["input_ids"] = input_ids
    chosen = labels != IGNORED  # (B, T)
    labels = labels[chosen]  # (N,)
    next_labels = batch["next_sentence_label"]  # (B,)
    tokens, following = model(*(batch[name] for name in INPUTS), chosen)  # (N, V), (B, 2)
    loss = pretraining_loss(tokens, labels, following, next_labels)
    with torch.no_grad():
        return loss, (surprise(tokens, labels), surprise(following, next_labels))


def pretrain(
    model: BertForPreTraining,
    tokenizer: BertTokenizer,
    documents: list[list[Sentence]],
    recipe: Recipe,
) -> Iterator[tuple[float, float]]:
    """Train `model` in place; yield the losses of each step.

    Raises:
        FloatingPointError: the loss is no longer finite.
    """
    rng = random.Random(recipe.seed)
    generator = torch.Generator().manual_seed(recipe.seed)
    source = batches(documents, recipe.batch_size, model.config.max_position_embeddings, rng)
    parameters = list(model.parameters())
    optimizer = AdamW(parameters, betas=recipe.betas, weight_decay=recipe.weight_decay)
    model.train()
    for step in range(recipe.steps):
        loss, parts = losses_of(model, tokenizer, next(source), generator)
        if not math.isfinite(loss.item()):
            raise FloatingPointError(f"the loss became {loss.item()} in step {step + 1}")
        optimizer.param_groups[0]["lr"] = learning_rate(step, recipe)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, recipe.clip)
        optimizer.step()
        yield parts


def report(steps: Iterator[tuple[float, float]], total: int) -> None:
    """Run all steps, and print the mean losses of each hundred."""
    recent: list[tuple[float, float]] = []
    bar = tqdm(steps, "pre-training", total, leave=False, disable=None)
    for step, losses in enumerate(bar, start=1):
        recent.append(losses)
        if step % REPORT == 0 or step == total:
            means = [sum(column) / len(recent) for column in zip(*recent, strict=True)]
            listed = "  ".join(f"{t} {m:.3f}" for t, m in zip(TASKS, means, strict=True))
            tqdm.write(f"step {step}  {listed}")
            recent.clear()


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line; exit with a one-line error if it is wrong."""
    parser = OneLineParser(
        "pretrain.py", description="Pre-train a small BERT with your own extensions."
    )
    add = parser.add_argument
    add("--steps", type=at_least(1), default=Recipe.steps, help="batches to learn from")
    add("--batch-size", type=at_least(2), default=Recipe.batch_size, help="pairs in a batch")
    add("--lr", type=rate, default=Recipe.learning_rate, help="peak learning rate")
    add("--seed", type=at_least(0), default=Recipe.seed, help="of all random numbers")
    add("--text", type=Path, default=DATA / "pretraining.txt", help="reviews to read")
    add("--reviews", type=at_least(2), default=REVIEWS, help="how many, from the beginning")
    where = "folder with the sizes and the vocabulary"
    add("--checkpoint", type=Path, default=CHECKPOINT, help=where)
    add("--continue", dest="go_on", action="store_true", help="start from the checkpoint's weights")
    add("--save", type=Path, default=Path("runs/pretrained"), help="folder to write to")
    return parser.parse_args(argv)


def run(
    args: argparse.Namespace,
    config: BertConfig,
    tokenizer: BertTokenizer,
    reviews: list[list[str]],
    model: BertForPreTraining | None,
) -> None:
    """Train a model, or one with random weights; show what was learned, and write it."""
    documents = spell(reviews, tokenizer)
    recipe = Recipe(args.steps, args.batch_size, args.lr, seed=args.seed)
    torch.manual_seed(args.seed)  # draws the weights
    torch.set_num_threads(1)  # in a model of this size, threads wait longer than they work
    if model is None:
        model = BertForPreTraining(dataclasses.replace(config, **UNTRAINED))
    report(pretrain(model, tokenizer, documents, recipe), recipe.steps)
    save_model(model, tokenizer, args.save)
    config.to_json(args.save / "config.json")  # with dropout, for fine-tuning
    print(f"wrote the model to {args.save}")


def main(argv: list[str] | None = None) -> int:
    """Run the program; return 0 on success, 1 if training had to stop, 2 for bad input."""
    args = parse_arguments(argv)
    try:
        config = BertConfig.from_json(args.checkpoint)
        tokenizer = BertTokenizer.from_pretrained(args.checkpoint)
        reviews = read_reviews(args.text, args.reviews)
        model = BertForPreTraining.from_pretrained(args.checkpoint) if args.go_on else None
        args.save.mkdir(parents=True, exist_ok=True)  # fail before training, not after
    except (OSError, ValueError) as error:
        print(f"pretrain.py: {explain_file(error)}", file=sys.stderr)
        return 2
    try:
        run(args, config, tokenizer, reviews, model)
    except Exception as error:  # whatever the code of the exercises raises
        print(f"{explain_code(error)}; `make check K=...` grades a function", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
