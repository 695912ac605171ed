"""leaderboard.html, which may be published, and leaderboard.csv, which is for staff."""

import functools
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tensormark.classroom.entry import Adjustment, Entry, number_of
from tensormark.exercise import Assignment
from tensormark.files import between, digest, encoded, write_whole
from tensormark.intake.submission import read_beside
from tensormark.predictions import (
    NAME_FILE,
    PredictionsError,
    accuracy,
    cleaned,
    differ,
    interval,
    labelled,
)
from tensormark.reports import pages
from tensormark.reports.platforms import csv_text
from tensormark.usage import UserError

PAGE = "leaderboard.html"
TABLE = "leaderboard.csv"
TEMPLATES = Path(__file__).with_name("templates")
LOOK = (TEMPLATES / "leaderboard.html.j2", TEMPLATES / "keys.css")
TITLES = "rank name accuracy low high group student note".split()
DIGITS = 6  # of a name that nobody chose
BASELINE = re.compile(
    r"^\| *(.+?) *\|.*\| *([01]\.[0-9]+) *\|$", re.MULTILINE
)  # first and last cell


class Standings:
    """The leaderboard of a class."""

    def __init__(self, assignment: Assignment, steps: Sequence[Sequence[float]]) -> None:
        """Read the labels and the baselines.

        Args:
            steps: accuracies, each with its bonus.

        Raises:
            UserError: there are no labels, or a file cannot be used.
        """
        if assignment.leaderboard is None:
            raise UserError("leaderboard in class.toml: this assignment has none")
        self.assignment = assignment
        self.steps = steps
        self.test = assignment.leaderboard.test
        self.examples = labelled(assignment.folder, self.test.data)
        if not set(self.examples.values()) <= set(self.test.labels):
            form = f"`label ||| example`, its label one of {', '.join(self.test.labels)}"
            raise UserError(f"{self.test.data}: each line must be {form}")
        self.rows: list[list[Any]] = []  # with a cell for each title
        card = (assignment.folder / assignment.leaderboard.card).read_text("utf-8")
        for name, own in BASELINE.findall(between(card, assignment.leaderboard.mark)):
            self.rows.append(["", name, float(own), "", "", "", "", "baseline"])

    def _rank(self, found: Sequence[tuple[list[bool], str, Entry]]) -> None:
        """Add a row for each, give the bonus, and note for students where they are.

        Args:
            found: which predictions are right, and the name to show; the best first.
        """
        best: list[list[bool]] = []  # of each group, which ends before the first that differs
        for right, name, entry in found:
            if not best or differ(best[-1], right, math.comb(len(found), 2)):
                best.append(right)
            own = accuracy(right)
            numbers = [round(value, 4) for value in (own, *interval(right))]
            rank = 1 + sum(sum(other) > sum(right) for other, *_ in found)
            self.rows.append([rank, name, *numbers, len(best), entry.student, ""])
            assert entry.result
            entry.result["notes"].append(f"leaderboard: rank {rank} of {len(found)}, as {name}")
            bonus = max((points for least, points in self.steps if own >= least), default=0)
            if bonus:
                reason = f"accuracy {own:.3f} on the leaderboard"
                entry.adjustments.append(Adjustment(bonus, reason))

    def write(self, entries: Sequence[Entry], secret: bytes, out: Path) -> str:
        """Score the predictions of those who have a result; return a line for staff.

        Args:
            secret: the class's; names that nobody chose are drawn with it.

        Raises:
            OSError: a file cannot be written.
        """
        found = []
        bad = []
        for entry in entries:
            if entry.result is None:
                continue
            read = functools.partial(read_beside, entry.parts, self.assignment.editable)
            name = f"anonymous {digest(secret + encoded(entry.student))[:DIGITS]}"
            try:
                text = read(self.test.file)
                if text is not None:
                    right = self.test.score(text, self.examples)
                    found.append((right, cleaned(read(NAME_FILE) or "") or name, entry))
            except PredictionsError as error:
                bad.append([*[""] * 6, entry.student, str(error)])
                entry.result["notes"].append(f"not on the leaderboard: {error}")
        self._rank(sorted(found, key=lambda each: (-sum(each[0]), each[1])))
        self.rows.sort(key=lambda row: -row[2])
        title = f"{self.assignment.name}: leaderboard"
        page = pages.page(title, *LOOK, rows=self.rows, total=len(self.examples))
        write_whole(out / PAGE, page)
        write_whole(out / TABLE, csv_text([TITLES, *self.rows, *bad]))
        count = number_of(len(found), "submission")
        more = f"; why {len(bad)} more cannot be scored: {TABLE}" if bad else ""
        return f"leaderboard: {count} in {PAGE}{more}"
