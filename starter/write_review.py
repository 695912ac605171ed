"""Train a tiny decoder that writes reviews with your own transformer.py: `python write_review.py`.

Your BERT, with the weights of the checkpoint, reads the first sentence of a review, and a decoder
learns to write the rest of it: the whole of figure 1 of [1]. It is made of your DecoderLayer,
causal_mask, sinusoidal_positions and layer_norm. Then it goes on from sentences of your own:

    python write_review.py "i think that lantern is dull ." "harbor lacks wit ."

Dimension key: B batch, T tokens of the target, S tokens of the source, D model width, V vocabulary.

[1] Vaswani et al., "Attention Is All You Need", arXiv:1706.03762
"""

import argparse
import dataclasses
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformer import DecoderLayer, causal_mask, layer_norm, sinusoidal_positions

from arguments import OneLineParser, at_least, explain_file, rate, visible
from bert import BertModel
from classifier import AdamW
from sentences import InputError
from tokenizer import BertTokenizer, padded
from training import (
    batches,
    explain_training,
    finite,
    learning_rate,
    read_reviews,
    shaped,
    shown,
)
from typed import encode, report_new_words
from utils import get_extended_attention_mask

BEGINNINGS = (
    "harbor is the new western by mira .",
    "lantern is not dull .",
    "ember is not charming .",
)


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How to train."""

    steps: int = 400
    batch_size: int = 48
    learning_rate: float = 4e-3  # the highest
    warmup: int = 30  # steps on which the rate rises; in the second half of all, it falls to 0
    clip: float = 1.0  # largest norm of the gradient of all parameters together
    seed: int = 0  # of the weights, and of all that is drawn


Example = tuple[list[int], list[int]]  # a review's first sentence, and the rest of it


class ReviewWriter(nn.Module):
    """BERT, which is not trained, and a decoder of two layers that attends to what BERT returns."""

    def __init__(self, bert: BertModel, layers: int = 2) -> None:
        super().__init__()
        D, V = bert.config.hidden_size, bert.config.vocab_size
        self.bert = bert.requires_grad_(False).eval()
        positions = bert.config.max_position_embeddings
        table = sinusoidal_positions(positions, D)
        self.register_buffer("positions", shaped("sinusoidal_positions", table, (positions, D)))
        self.word_embedding = nn.Parameter(bert.word_embedding.weight.detach().clone())  # (V, D)
        config = dataclasses.replace(bert.config, hidden_dropout_prob=0.0)
        self.layers = nn.ModuleList(DecoderLayer(config, pre_norm=True) for _ in range(layers))
        self.gain, self.shift = nn.Parameter(torch.ones(D)), nn.Parameter(torch.zeros(D))
        self.decoder = nn.utils.skip_init(nn.Linear, D, V)
        self.decoder.weight, self.decoder.bias = self.word_embedding, nn.Parameter(torch.zeros(V))

    def read(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Encode the sources: (B, S) ids and mask to (B, S, D)."""
        with torch.no_grad():
            return self.bert(input_ids, attention_mask)["last_hidden_state"]

    def forward(self, input_ids: Tensor, mask: Tensor, encoded: Tensor, seen: Tensor) -> Tensor:
        """Predict what comes after each token of the targets.

        Args:
            input_ids, mask: (B, T), of the targets.
            encoded: (B, S, D), from `read`; seen: (B, S), the mask of the sources.

        Returns: (B, T, V), logits.
        """
        B, T = input_ids.shape
        states = self.word_embedding[input_ids] + self.positions[:T]  # (B, T, D)
        later = shaped("causal_mask", causal_mask(mask), (B, 1, T, T))
        padding = get_extended_attention_mask(seen, states.dtype)  # (B, 1, 1, S)
        for layer in self.layers:
            result = layer(states, encoded, later, padding)
            states = shaped("the decoder layer", result, states.shape)
        normed = layer_norm(states, self.gain, self.shift)  # in pre-norm order, one is left to do
        return self.decoder(shaped("layer_norm", normed, states.shape))


def read_examples(path: Path, tokenizer: BertTokenizer, longest: int) -> list[Example]:
    """Read the reviews that fit into `longest` tokens, first sentence and rest apart.

    Raises:
        OSError, InputError: the file cannot be read, or has no reviews that fit.
    """
    spelled: dict[str, list[int]] = {}  # each word once, as the language is small

    def spell(text: str) -> list[int]:
        for word in text.split():
            if word not in spelled:
                spelled[word] = tokenizer.tokenizer.encode(word, add_special_tokens=False).ids
        return [number for word in text.split() for number in spelled[word]]

    made = [(spell(first), spell(" ".join(rest))) for first, *rest in read_reviews(path) if rest]
    fitting = [one for one in made if max(len(one[0]) + 2, len(one[1]) + 1) <= longest]
    if not fitting:
        raise InputError(f"{path}: no review fits into {longest} tokens")
    return fitting


def with_mask(rows: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """Write rows as ids and mask, (B, T) each."""
    T = max(map(len, rows))
    return padded(rows, T, pad), padded([[1] * len(row) for row in rows], T, 0)


def losses(
    model: ReviewWriter, tokenizer: BertTokenizer, examples: list[Example], recipe: Recipe
) -> Iterator[tuple[float]]:
    """Train `model` in place, a step each time that the next loss is asked for."""
    rng, pad = random.Random(recipe.seed), tokenizer.pad_token_id
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = AdamW(parameters, betas=(0.9, 0.98), fused=True)
    waiting: list[list[Example]] = []
    for step in range(recipe.steps):
        waiting = waiting or batches(examples, recipe.batch_size, lambda one: len(one[1]), rng)
        batch = waiting.pop()
        sources, seen = with_mask([[cls, *first, sep] for first, _ in batch], pad)  # (B, S)
        targets, mask = with_mask([[cls, *rest] for _, rest in batch], pad)  # (B, T)
        following, _ = with_mask([[*rest, sep] for _, rest in batch], pad)  # (B, T), one ahead
        logits = model(targets, mask, model.read(sources, seen), seen)  # (B, T, V)
        real = mask.bool()
        loss = F.cross_entropy(logits[real], following[real])
        found = finite(loss, step)
        rate_now = learning_rate(step, recipe.steps, recipe.learning_rate, recipe.warmup)
        optimizer.param_groups[0]["lr"] = rate_now
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, recipe.clip)
        optimizer.step()
        yield (found,)


@torch.no_grad()
def sees_ahead(model: ReviewWriter) -> bool:
    """Say whether a later token changes what is predicted before it."""
    source, targets = torch.zeros(1, 1, dtype=torch.int64), torch.tensor([[1, 2, 3], [1, 2, 4]])
    seen = torch.ones_like(source)
    encoded = model.read(source, seen).expand(2, -1, -1)
    logits = model(targets, torch.ones_like(targets), encoded, seen.expand(2, -1))  # (2, 3, V)
    return not torch.allclose(logits[0, :2], logits[1, :2], atol=1e-4)


@torch.no_grad()
def write(
    model: ReviewWriter, tokenizer: BertTokenizer, beginning: str, temperature: float, seed: int
) -> str:
    """Write a review after its first sentence, token by token, drawn by probability.

    Args:
        temperature: below 1, likely tokens become more likely.
    """
    generator = torch.Generator().manual_seed(seed)
    source, _ = encode(beginning, tokenizer, model.bert.config.max_position_embeddings)
    seen = source["attention_mask"]
    encoded = model.read(source["input_ids"], seen)
    written = [tokenizer.cls_token_id]
    while len(written) < model.bert.config.max_position_embeddings:
        ids = torch.tensor([written])
        logits = model(ids, torch.ones_like(ids), encoded, seen)[0, -1]  # (V,)
        chances = (logits / temperature).softmax(dim=0)
        number = int(torch.multinomial(chances, 1, generator=generator))
        if number == tokenizer.sep_token_id:
            break
        written.append(number)
    return tokenizer.decode(written)


def write_all(args: argparse.Namespace, model: ReviewWriter, tokenizer: BertTokenizer) -> None:
    """Print a review for each beginning."""
    model.eval()
    for beginning in args.beginning or BEGINNINGS:
        report_new_words(beginning, tokenizer)
        review = write(model, tokenizer, beginning, args.temperature, args.seed)
        print(f"\n{visible(beginning)}\n  {review}")


def temperature(text: str) -> float:
    """Read a temperature: a number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line; exit with a one-line error if it is wrong."""
    parser = OneLineParser(
        "write_review.py", description="Train a tiny decoder that writes reviews."
    )
    add, root = parser.add_argument, Path(__file__).resolve().parent.parent
    add("beginning", nargs="*", help="first sentences, each in quotes; default: three of ours")
    add("--steps", type=at_least(1), default=Recipe.steps, help="batches to learn from")
    add("--batch-size", type=at_least(1), default=Recipe.batch_size, help="reviews in a batch")
    add("--lr", type=rate, default=Recipe.learning_rate, help="peak learning rate")
    add("--seed", type=at_least(0), default=Recipe.seed, help="of all random numbers")
    add("--temperature", type=temperature, default=0.5, help="below 1: likely words more often")
    add("--text", type=Path, default=root / "data" / "pretraining.txt", help="reviews to read")
    add("--checkpoint", type=Path, default=root / "checkpoint", help="folder of the encoder")
    return parser.parse_args(argv)


def run(args: argparse.Namespace, bert: BertModel, tokenizer: BertTokenizer, examples) -> None:
    """Train, and write."""
    torch.manual_seed(args.seed)  # draws the weights
    torch.set_num_threads(1)  # in a model of this size, threads wait longer than they work
    model = ReviewWriter(bert)
    recipe = Recipe(args.steps, args.batch_size, args.lr, seed=args.seed)
    for _ in shown(losses(model, tokenizer, examples, recipe), recipe.steps, ("loss",)):
        pass
    if sees_ahead(model):
        print("this loss means little: the decoder sees what it should predict; see causal_mask")
    write_all(args, model, tokenizer)


def main(argv: list[str] | None = None) -> int:
    """Run the program; return 0 on success, 1 if training had to stop, 2 for bad input."""
    args = parse_arguments(argv)
    try:
        bert = BertModel.from_pretrained(args.checkpoint)
        tokenizer = BertTokenizer.from_pretrained(args.checkpoint)
        longest = bert.config.max_position_embeddings
        for beginning in args.beginning:
            encode(beginning, tokenizer, longest)  # fail before training, not after
        examples = read_examples(args.text, tokenizer, longest)
    except (OSError, ValueError) as error:
        print(f"write_review.py: {explain_file(error)}", file=sys.stderr)
        return 2
    try:
        run(args, bert, tokenizer, examples)
    except Exception as error:  # whatever the code of the exercises raises
        print(explain_training("write_review.py", error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
