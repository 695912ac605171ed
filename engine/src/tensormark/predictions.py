"""Predictions for examples whose labels only staff have: their form, and how they are scored.

A file of examples has lines `label ||| example`; students get the test set's without labels.
Predictions are lines `example ||| label`, one for each example, in any order.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tensormark.characters import is_visible, shown
from tensormark.files import read_text
from tensormark.usage import UserError

FOLDER = "predictions"  # in the folder where students work
NAME_FILE = "leaderboard-name.txt"  # what a student wants to be called
LONGEST_NAME = 40  # characters
LARGEST = 16 << 20  # bytes of a file of examples
MARK = "|||"
LINE_END = re.compile(r"\r\n|\r|\n")
DEVIATIONS = 1.96  # of a 95% interval
LEVEL = 20  # chance alone makes a significant difference in at most one of this many classes: 5%


class PredictionsError(UserError):
    """Predictions that cannot be scored; the message names the file, the line and the fix."""


def labelled(folder: Path, data: str) -> dict[str, str]:
    """Return the label of each example in a file, "" if it has none.

    Raises:
        UserError: one is there twice. OSError, UnicodeDecodeError: the file cannot be read.
    """
    lines = LINE_END.split(read_text(folder / data, LARGEST).rstrip())
    pairs = [line.rpartition(MARK) for line in lines]
    found = {example.strip(): label.strip() for label, _, example in pairs}
    if len(found) < len(lines):
        raise UserError(f"{data}: has an example twice; keep one of its lines")
    return found


def cleaned(name: str) -> str:
    """Return what a student wants to be called: short, on one line, without unseen characters."""
    on_one_line = " ".join(name.split())
    return "".join(filter(is_visible, on_one_line))[:LONGEST_NAME].strip()


def accuracy(right: Sequence[bool]) -> float:
    """Return the share of predictions that are right."""
    return sum(right) / len(right)


def interval(right: Sequence[bool]) -> tuple[float, float]:
    """Return Wilson's 95% interval of the accuracy."""
    share = accuracy(right)
    doubt = DEVIATIONS**2 / len(right)
    middle = share + doubt / 2
    half = math.sqrt(doubt * (share * (1 - share) + doubt / 4))
    return (middle - half) / (1 + doubt), (middle + half) / (1 + doubt)


def differ(first: Sequence[bool], second: Sequence[bool], pairs: int) -> bool:
    """Return whether two differ significantly by McNemar's exact test, two-sided, at 5%.

    Args:
        first, second: which predictions are right.
        pairs: how many there are to compare, for Bonferroni's correction.
    """
    unequal = [one for one, other in zip(first, second, strict=True) if one != other]
    fewer = min(unequal.count(True), unequal.count(False))
    tail = sum(math.comb(len(unequal), count) for count in range(fewer + 1))
    # 2 * tail / 2**n <= 1 / LEVEL / pairs, in whole numbers of any size
    return 2 * tail * LEVEL * pairs <= 1 << len(unequal)


@dataclass(frozen=True)
class Split:
    """A file of examples, and a student's predictions for them.

    Attributes:
        data: the path of the examples in the assignment's folder.
        file: the name of the predictions, in FOLDER and beside the main file that is handed in.
        labels: all that an example may have.
    """

    data: str
    file: str
    labels: tuple[str, ...]

    def score(self, text: str, examples: Mapping[str, str]) -> list[bool]:
        """Return which predictions are right, in the order of the examples.

        Args:
            examples: what `labelled` returns of the file.

        Raises:
            PredictionsError: they do not have the form that the module describes.
        """
        form = f"`example {MARK} label`, each example of {self.data} once"
        found: dict[str, str] = {}
        for number, line in enumerate(LINE_END.split(text.rstrip()), start=1):
            example, _, label = map(str.strip, line.rpartition(MARK))
            if example in found:
                raise PredictionsError(f"{self.file}:{number}: {shown(example)!r} is there twice")
            if example not in examples or label not in self.labels:
                fault = f"{shown(line)!r} must be {form}, its label one of {', '.join(self.labels)}"
                raise PredictionsError(f"{self.file}:{number}: {fault}")
            found[example] = label
        missing = [example for example in examples if example not in found]
        if missing:
            fault = f"predict every example of {self.data}; missing: {len(missing)}, such as"
            raise PredictionsError(f"{self.file}: {fault} {shown(missing[0])!r}")
        return [found[example] == label for example, label in examples.items()]


@dataclass(frozen=True)
class Leaderboard:
    """What students may compete in.

    Attributes:
        test: its labels are known to staff only; dev: its labels are known to everybody.
        card: the path of a page with a table of models to compare with, whose last column has their
            accuracies; mark: the mark around the table, see `files.between`.
    """

    test: Split
    dev: Split
    card: str
    mark: str
