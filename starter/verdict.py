"""What a fine-tuned model makes of a review, and which of its words decide: Shapley values [1].

All words are hidden behind [MASK], which the model knows from pre-training, and shown again one by
one. What a word adds is how much the log odds of the verdict rise when it is shown, averaged over
many orders. So the parts add up to the whole exactly, and words that say the same share it.

On 200 dev sentences, hiding the three words that add most turned 136 verdicts; three by integrated
gradients turned 123, three whose own absence matters most 98, and three at random 46.

Dimension key: N rows of tokens, T tokens, C classes.

[1] Lundberg and Lee, "A Unified Approach to Interpreting Model Predictions", arXiv:1705.07874
"""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from arguments import TUNED, visible
from base_bert import WEIGHTS_NAME, CheckpointError, load_file
from bert import BertModel
from classifier import SMALL, BertSentimentClassifier
from colours import level
from progress import progress
from sentences import InputError
from tokenizer import BertTokenizer
from typed import encode

ORDERS = 128  # in which words are shown; half of them are the others backwards
ROWS = 256  # at a time
TUNE = f"make one: python classifier.py --save {TUNED}"
MOST = 8  # words that are listed
BAR = 24  # characters of the longest bar
# The scale in the 256 colours that every terminal has: ink and ground, for each level but 0.
GROUNDS = dict(
    zip(
        (1, 2, 3, 4, 5, -1, -2, -3, -4, -5),
        (223, 215, 208, 166, 88, 153, 110, 68, 25, 18),
        strict=True,
    )
)
BLACK, WHITE = 16, 231
NAMES = ("bad", "good")  # of the classes in data/


class Verdict(NamedTuple):
    """What a model says of a review.

    Attributes:
        name: of the class; probability: from 0 to 1.
        tokens: of the review, without [CLS] and [SEP]; added: what each adds to the log odds.
        hidden: the log odds with every word hidden.
    """

    name: str
    probability: float
    tokens: list[str]
    added: list[float]
    hidden: float


def check_tuned(folder: Path) -> None:
    """Check that there is a model in a folder that classifier.py has written.

    Raises:
        InputError: there is none; the message says how to make one.
    """
    if not (folder / WEIGHTS_NAME).is_file():
        raise InputError(f"{folder}: there is no fine-tuned model; {TUNE}")


def open_model(folder: Path) -> tuple[BertModel, BertTokenizer]:
    """Read a model and its tokenizer."""
    model = BertModel.from_pretrained(folder)
    if model.config.hidden_size <= SMALL:
        torch.set_num_threads(1)
    return model, BertTokenizer.from_pretrained(folder)


def open_classifier(folder: Path) -> tuple[BertSentimentClassifier, BertTokenizer]:
    """Read a fine-tuned classifier, in eval mode.

    Raises:
        OSError, ValueError: it cannot be read. InputError: it is none.
    """
    check_tuned(folder)
    bert, tokenizer = open_model(folder)
    weights = load_file(folder / WEIGHTS_NAME)
    head = {name: weights.get(f"classifier.{name}") for name in ("weight", "bias")}
    if head["weight"] is None or head["bias"] is None:
        raise InputError(f"{folder}: has no classifier; {TUNE}")
    C, D = head["weight"].shape[0], bert.config.hidden_size
    if C < 2 or head["weight"].shape != (C, D) or head["bias"].shape != (C,):
        raise CheckpointError(f"{folder / WEIGHTS_NAME}: its classifier does not match the model")
    model = BertSentimentClassifier(bert, C)
    model.classifier.load_state_dict(head)
    return model.eval(), tokenizer


def class_name(number: int, C: int) -> str:
    """Name a class."""
    return NAMES[number] if len(NAMES) == C else f"label {number}"


def log_odds(logits: Tensor, verdict: int) -> Tensor:
    """Return log(p / (1 - p)) of one class: (N, C) to (N,)."""
    others = torch.cat([logits[:, :verdict], logits[:, verdict + 1 :]], dim=1)
    return logits[:, verdict] - others.logsumexp(dim=1)


def shown_in_turn(input_ids: Tensor, words: Sequence[int], order: Sequence[int], hidden: int):
    """Return the rows in which 0, 1, 2 ... of the words are shown: (1, T) to (words + 1, T)."""
    row = input_ids[0].clone()
    row[list(words)] = hidden
    rows = [row]
    for place in order:
        row = row.clone()
        row[place] = input_ids[0, place]
        rows.append(row)
    return torch.stack(rows)


@torch.no_grad()
def odds_of_rows(model: BertSentimentClassifier, rows: Tensor, verdict: int) -> Tensor:
    """Return the log odds of each row, (N, T) to (N,); equal rows are computed once."""
    unique, place = rows.unique(dim=0, return_inverse=True)
    parts = unique.split(ROWS)
    found = [
        log_odds(model(part, torch.ones_like(part)), verdict)
        for part in progress(parts, len(parts), "hiding words")
    ]
    return torch.cat(found)[place]


def shapley(
    model: BertSentimentClassifier, input_ids: Tensor, words: Sequence[int], verdict: int, mask: int
) -> tuple[Tensor, float]:
    """Return what each word adds to the log odds, (words,), and these with all words hidden.

    Args:
        input_ids: (1, T); words: their places. verdict: the class; mask: the id that hides.
    """
    generator = torch.Generator().manual_seed(0)
    drawn = [torch.randperm(len(words), generator=generator) for _ in range(ORDERS // 2)]
    orders = [order for one in drawn for order in (one, one.flip(0))]
    places = torch.tensor(words)
    rows = [shown_in_turn(input_ids, words, places[order].tolist(), mask) for order in orders]
    odds = odds_of_rows(model, torch.cat(rows), verdict).view(len(orders), -1)
    added = torch.zeros(len(words))
    for order, rises in zip(orders, odds.diff(dim=1), strict=True):
        added[order] += rises / len(orders)
    return added, float(odds[0, 0])


@torch.no_grad()
def judge(model: BertSentimentClassifier, tokenizer: BertTokenizer, sentence: str) -> Verdict:
    """Return the verdict on a review, and what each of its tokens adds to it.

    Raises:
        InputError: the model cannot read it; see `encode`.
    """
    batch, tokens = encode(sentence, tokenizer, model.bert.config.max_position_embeddings)
    ids = batch["input_ids"]
    logits = model(ids, batch["attention_mask"])  # (1, C)
    verdict, C = int(logits.argmax()), logits.shape[1]
    words = range(1, len(tokens) - 1)  # [CLS] and [SEP] stay
    added, hidden = shapley(model, ids, words, verdict, tokenizer.mask_token_id)
    chance = float(logits.softmax(dim=1)[0, verdict])
    return Verdict(class_name(verdict, C), chance, tokens[1:-1], added.tolist(), hidden)


# --- on a terminal ---------------------------------------------------------------------------


def colours_are_wanted() -> bool:
    """Say whether stdout is a terminal that shows colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def painted(text: str, value: float, largest: float) -> str:
    """Return a text on the ground that a value has on the scale, for a terminal."""
    steps = level(value, largest)
    if steps == 0:
        return text
    ink = BLACK if abs(steps) < 4 else WHITE
    return f"\x1b[38;5;{ink};48;5;{GROUNDS[steps]}m{text}\x1b[0m"


def described(found: Verdict, paint: Callable[[str, float], str]) -> list[str]:
    """Return the lines about a verdict.

    Args:
        paint: colours a text by what it adds.
    """
    whole = found.hidden + sum(found.added)
    tokens = [paint(visible(t), a) for t, a in zip(found.tokens, found.added, strict=True)]
    lines = [
        f"{found.name}, with probability {found.probability:.3f}",
        f"  {' '.join(tokens)}",
        f"  log odds of {found.name}: {found.hidden:+.2f} with every word hidden, {whole:+.2f} "
        "as written; each word adds",
    ]
    ranked = sorted(zip(found.added, found.tokens, strict=True), key=lambda one: -abs(one[0]))
    largest, width = abs(ranked[0][0]), max(len(token) for _, token in ranked[:MOST])
    for added, token in ranked[:MOST]:
        bar = ("+" if added > 0 else "-") * round(BAR * abs(added) / (largest or 1.0))
        lines.append(f"    {visible(token):{width}}  {added:+6.2f}  {paint(bar, added)}".rstrip())
    return lines


def print_verdict(found: Verdict) -> None:
    """Print a verdict, the words that decide it, and what each adds."""
    largest = max(map(abs, found.added))
    paint = partial(painted, largest=largest) if colours_are_wanted() else lambda text, _: text
    print("\n".join(described(found, paint)), flush=True)


def print_verdicts(sentences: Iterable[str], judged: Callable[[str], Verdict]) -> bool:
    """Print the verdict on each sentence; say whether all of them could be read."""
    readable = True
    for number, sentence in enumerate(sentences, start=1):
        if not sentence.strip():
            continue
        try:
            print_verdict(judged(sentence))
        except InputError as error:
            readable = False
            print(f"visualize.py: line {number}: {error}", file=sys.stderr)
    return readable
