"""Labelled sentences: reading them, batching them, and scoring predictions.

Dimension key: N sentences, B batch, T tokens.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from support.saving import write_whole
from tokenizer import BertTokenizer

LABEL = re.compile(r"[0-9]{1,2}")
TAB = "\t"  # separates columns, which a header line may name
BARS = "|||"  # separate a label from a sentence
COLUMNS = ["id", "sentence", "sentiment"]  # of CS224N's files without a header line
GLUE = {"label": "sentiment"}  # the name of a column in GLUE's files
LINE_END = re.compile(rb"\r\n|\r|\n")
WHAT_A_LINE_IS = (
    "`label ||| sentence` with a label from 0 to 99, such as `1 ||| a fine film .`; or "
    "id, sentence and sentiment, separated by tabs"
)


class InputError(ValueError):
    """An argument or a file that cannot be used; the message is one line and names it."""


class Example(NamedTuple):
    """A sentence with its label, if it has one."""

    label: int | None
    sentence: str


def read_lines(path: str | Path) -> list[tuple[int, str]]:
    """Read the lines that are not blank, each with its number, counted from 1.

    Raises:
        InputError: the file is missing, empty or not UTF-8.
    """
    try:
        raw = LINE_END.split(Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from error
    lines = []
    for number, line in enumerate(raw, start=1):
        try:
            text = line.decode("utf-8").strip(" ")
        except UnicodeDecodeError as error:
            raise InputError(f"{path}:{number}: not UTF-8 text") from error
        if text.strip():
            lines.append((number, text))
    if not lines:
        raise InputError(f"{path}: there are no sentences in it; a line should be {WHAT_A_LINE_IS}")
    return lines


def unquoted(cell: str) -> str:
    """Remove the quotation marks that a spreadsheet program has added to a cell."""
    cell = cell.strip()
    if len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in cell[1:-1].replace('""', ""):
        return cell[1:-1].replace('""', '"')
    return cell


def named_columns(line: str) -> list[str] | None:
    """Return the names of columns that a header line has; None if the line is not one."""
    names = [name.strip().lower() for name in line.split(TAB)]
    columns = [GLUE.get(name, name) for name in names]
    return columns if "sentence" in columns else None


def usual_columns(texts: Sequence[str], labelled: bool) -> tuple[str, list[str]]:
    """Return the separator and the columns of lines without a header line."""
    if TAB in texts[0] and BARS not in texts[0]:
        return TAB, COLUMNS
    if labelled or any(BARS in text or TAB in text for text in texts):
        return BARS, ["sentiment", "sentence"]
    return BARS, ["sentence"]


def parse(text: str, separator: str, columns: list[str]) -> Example | None:
    """Read a line with these columns; None if it has others, or no label where one should be."""
    # a sentence may have bars in it
    cells = text.split(TAB) if separator == TAB else text.split(BARS, maxsplit=1)
    if len(cells) != len(columns):
        return None
    row = dict(zip(columns, cells, strict=True))
    sentence = row["sentence"].strip()
    label = row.get("sentiment", "0").strip()
    if not sentence or not LABEL.fullmatch(label):
        return None
    if separator == TAB:
        sentence = unquoted(sentence)
    return Example(int(label) if "sentiment" in columns else None, sentence)


def read_examples(path: str | Path, labelled: bool = True) -> list[Example]:
    """Read sentences in either of the published minBERT data formats.

    `label ||| sentence` lines; or, as in CS224N, tab-separated columns: id, sentence and
    sentiment, or as named in a header line, where GLUE calls the sentiment `label`. Labels
    count from 0: 0 and 1 for two classes, 0 to 4 for SST. Blank lines are ignored.

    Args:
        labelled: otherwise there may be no labels: bare sentences, one on each line, or no column
            `sentiment`.

    Raises:
        InputError: the file is missing, empty or not UTF-8, or a line is something else.
    """
    lines = read_lines(path)
    columns = named_columns(lines[0][1])
    if columns is None:
        separator, columns = usual_columns([text for _, text in lines], labelled)
    else:
        separator = TAB
        lines = lines[1:]
        if labelled and "sentiment" not in columns:
            raise InputError(
                f"{path}: there is no column `sentiment`, so the sentences have no labels"
            )
        if not lines:
            raise InputError(f"{path}: there are no sentences in it, only the column names")
    examples = []
    for number, text in lines:
        example = parse(text, separator, columns)
        if example is None:
            what = f"a line should be {WHAT_A_LINE_IS}; got {text[:40]!r}"
            raise InputError(f"{path}:{number}: {what}")
        examples.append(example)
    return examples


class Split:
    """The sentences of one file, as text and as tensors.

    Attributes:
        sentences: N texts.
        input_ids, attention_mask: (N, T) int64, T the longest of them.
        labels: (N,) int64, or (0,) where the file has none.
        truncated: how many sentences had to be cut to `max_length` tokens.
    """

    def __init__(
        self, path: str | Path, tokenizer: BertTokenizer, max_length: int, labelled: bool = True
    ) -> None:
        """Read a file, and keep `max_length` tokens of each sentence; see `read_examples`."""
        examples = read_examples(path, labelled)
        labels = [example.label for example in examples if example.label is not None]
        self.sentences = [example.sentence for example in examples]
        self.labels = torch.tensor(labels, dtype=torch.int64)
        batch = tokenizer(self.sentences)
        self.truncated = int((batch["attention_mask"].sum(dim=1) > max_length).sum())
        if self.truncated:
            batch = tokenizer(self.sentences, max_length=max_length)  # keeps the [SEP] at the end
        self.input_ids = batch["input_ids"]
        self.attention_mask = batch["attention_mask"]

    def __len__(self) -> int:
        """Count the sentences."""
        return len(self.sentences)


def by_length(
    attention_mask: Tensor, batch_size: int, generator: torch.Generator | None = None
) -> list[Tensor]:
    """Group sentences of similar length, so that batches contain little padding.

    Args:
        attention_mask: (N, T), 1 for a token and 0 for padding.
        batch_size: B, the most sentences in a batch.
        generator: shuffles sentences of equal length, and the batches; None: short sentences
            first.

    Returns: the batches, (B,) int64 each: the numbers of their sentences.
    """
    N = attention_mask.shape[0]
    order = torch.arange(N) if generator is None else torch.randperm(N, generator=generator)
    lengths = attention_mask.sum(dim=1)[order]  # (N,)
    batches = order[lengths.argsort(stable=True)].split(batch_size)
    if generator is None:
        return list(batches)
    return [batches[i] for i in torch.randperm(len(batches), generator=generator).tolist()]


def take(
    input_ids: Tensor, attention_mask: Tensor, rows: Tensor, device: torch.device
) -> tuple[Tensor, Tensor]:
    """Return the sentences `rows` (B,): ids and mask (B, T), T the longest of them."""
    mask = attention_mask[rows]
    T = max(1, int(mask.sum(dim=1).max()))
    return input_ids[rows, :T].to(device), mask[:, :T].to(device)


def accuracy(predictions: Tensor, labels: Tensor) -> float:
    """Return the share of the (N,) predictions that are right."""
    return (predictions == labels).double().mean().item()


def macro_f1(predictions: Tensor, labels: Tensor) -> float:
    """Return the mean over the classes of F1 = 2 TP / (2 TP + FP + FN), for (N,) predictions.

    The classes are those that occur in the labels or the predictions.
    """
    scores = []
    for label in torch.cat([predictions, labels]).unique():
        found = predictions == label
        real = labels == label
        scores.append(2 * (found & real).sum().item() / (found.sum() + real.sum()).item())
    return sum(scores) / len(scores)


def write_predictions(path: Path, sentences: Sequence[str], predictions: Sequence[int]) -> None:
    """Write a line `sentence ||| prediction` for each sentence, atomically."""
    lines = [f"{s} ||| {p}\n" for s, p in zip(sentences, predictions, strict=True)]
    write_whole(path, "".join(lines).encode())
