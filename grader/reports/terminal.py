"""The report on the terminal: a line per exercise, and under a failed one the reasons."""

import sys
import time
from collections.abc import Collection
from typing import TYPE_CHECKING

from grader.result import Grade, Outcome, Result

if TYPE_CHECKING:
    from tqdm import tqdm

INDENT = " " * 10
NAMES = 10  # letters of the exercises' names, without extensions
EVERY = 5.0  # seconds between lines of progress without a terminal


def points(value: float) -> str:
    """Format points without trailing zeros."""
    return f"{value:g}"


class Report:
    """Prints results as they come in."""

    def __init__(self) -> None:
        self.shown: Collection[str] = ()
        self.width = NAMES  # of the column of names
        self.bar: tqdm[None] | None = None
        self.last = 0.0
        self.details: tuple[str, ...] = ()
        self.explained = ""  # the exercise whose lines these details are

    def begin(self, assignment: str, submission: str, tier: str, shown: Collection[str]) -> None:
        """Write the first line.

        Args:
            shown: the ids of the exercises to report on; others are run for their sake.
        """
        self.shown = shown
        self.width = max(NAMES, *map(len, shown))
        print(f"{assignment}   submission: {submission}   tier: {tier}\n", flush=True)

    def progress(self, what: str, done: int, total: int) -> None:
        """Show the progress of a task: a bar on a terminal, occasional lines elsewhere."""
        if sys.stderr.isatty():
            from tqdm import tqdm  # here, because importing it delays the first line

            self.bar = self.bar or tqdm(total=total, desc=f"  {what}", leave=False, unit="step")
            self.bar.update(done - self.bar.n)
        elif time.monotonic() - self.last > EVERY:
            self.last = time.monotonic()
            print(f"  {what}: step {done} of {total}", file=sys.stderr, flush=True)

    def result(self, result: Result) -> None:
        """Print an exercise's line and findings."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None
        if result.id not in self.shown:
            return
        word = str(result.outcome)
        word = word.upper() if result.outcome is Outcome.FAILED else word
        score = "-" if result.score is None else points(result.score)
        first = result.findings[0].headline if result.findings else result.note
        if result.findings and result.findings[0].details == self.details != ():
            first += f" (see {self.explained})"
        out_of = f"{score:>3}/{points(result.max_score):<3}"
        row = f"  {word:<16} {result.id:<{self.width}} {out_of}  {first}"
        print(row.rstrip())
        for number, finding in enumerate(result.findings):
            if number:
                print(f"{INDENT}also: {finding.headline}")
            # explain the same cause only once
            if finding.details != self.details:
                print("".join(f"{INDENT}{line}\n" for line in finding.details), end="")
                self.details, self.explained = finding.details, result.id
        sys.stdout.flush()

    def end(self, grade: Grade, printed: str) -> None:
        """Print the total, notes, and the submission's output."""
        ungraded = [result.id for result in grade.results if result.score is None]
        bonus, most = grade.sums(bonus=True)
        print()
        if grade.max_score:
            print(f"  score   {points(grade.score)} / {points(grade.max_score)}")
        if bonus or (most and all(result.bonus for result in grade.results)):
            print(f"  bonus   {points(bonus)} / {points(most)}")
        if ungraded:
            listed = ", ".join(ungraded)
            print(f"  {listed} could not be graded, which costs no points; tell your instructor")
        for note in grade.notes:
            print(f"  note: {note}")
        if printed.strip():
            print("\n  your code printed:")
            lines = printed.strip().split("\n")
            print("\n".join(f"  | {line[:200]}" for line in lines[:20]))
            if len(lines) > 20:
                print(f"  | ... and {len(lines) - 20} more lines")
        sys.stdout.flush()
