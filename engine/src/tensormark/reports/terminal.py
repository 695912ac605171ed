"""The report on the terminal: a line per exercise, with the reasons below a failed one.

On a terminal it has colours (unless NO_COLOR is set), marks, and a line that says what is running.
Words carry all meaning: elsewhere there are only words.
"""

import os
import shutil
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import TextIO

from tensormark.reports.model import Model, headline, next_step, ungraded
from tensormark.reports.text import LONGEST, points, visible
from tensormark.result import Grade, Observer, Outcome, Result, lines_of

INDENT = " " * 10
MIN_NAME_WIDTH = 10  # fits the exercises' names, except extensions
OUTPUT_LINES = 20  # of what a submission printed
PROGRESS_SECONDS = 5.0  # between lines of progress without a terminal
CLEAR = "\r\x1b[K"
REDRAW_SECONDS = 0.1  # between two updates
RESET = "\x1b[0m"
STYLES = {
    Outcome.PASSED: ("\x1b[32m", "✓"),
    Outcome.FAILED: ("\x1b[1;31m", "✗"),
    Outcome.NOT_WRITTEN: ("\x1b[33m", "·"),
    Outcome.BLOCKED: ("\x1b[2m", "·"),
    Outcome.COULD_NOT_GRADE: ("\x1b[35m", "?"),
}


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that understands escape sequences."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class LiveLine:
    """A line that says what is running, and disappears when it is done.

    Nothing is written if the stream is not a terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.enabled = is_terminal(stream)
        self._is_shown = False
        self._last_update = 0.0

    def say(self, text: str) -> None:
        """Replace the line."""
        if self.enabled:
            width = max(20, shutil.get_terminal_size().columns - 3)
            self.stream.write(f"{CLEAR}  {visible(text)[:width]}")
            self.stream.flush()
            self._is_shown = True

    def count(self, what: str, done: int, total: int) -> None:
        """Show the progress."""
        now = time.monotonic()
        if now - self._last_update >= REDRAW_SECONDS:
            self._last_update = now
            self.say(f"{what}: {100 * done // total} %")

    def clear(self) -> None:
        """Remove the line."""
        if self._is_shown:
            self.stream.write(CLEAR)
            self.stream.flush()
        self._is_shown = False


def _can_print(text: str, stream: TextIO) -> bool:
    """Return whether a stream's encoding has these characters."""
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def write(text: str = "", before: str = "", limit: int = LONGEST) -> None:
    """Print one line, in which only `before` may act on a terminal."""
    print(before + visible(text, limit, keep="\t"))


def write_output(printed: str) -> None:
    """Print the beginning of what a submission printed."""
    if not printed.strip():
        return
    write()
    write("  your code printed:")
    lines = printed.strip().split("\n")
    for line in lines[:OUTPUT_LINES]:
        write(line, before="  | ", limit=200)
    if len(lines) > OUTPUT_LINES:
        write(f"  | ... and {len(lines) - OUTPUT_LINES} more lines")


def path_of(submission: str, file: str) -> Path | None:
    """Return the path of a file of a submission, which editors turn into a link; None: packed."""
    for path in (Path(submission), Path(submission, file)):
        if path.name == file and path.is_file():
            return path
    return None


class Report(Observer):
    """Prints results as they come in."""

    def __init__(self) -> None:
        self.shown: Collection[str] = ()
        self.submission = ""  # its path
        self.pending: list[str] = []  # exercises without a result yet
        self.width = MIN_NAME_WIDTH  # of the column of names
        self.live = LiveLine(sys.stderr)
        self.last_progress = 0.0
        self.last_step = ("", 0)
        self.details: list[str] = []  # the last ones printed
        self.details_of = ""  # the exercise that they belong to
        terminal = is_terminal(sys.stdout)
        self.colours = terminal and not os.environ.get("NO_COLOR")
        self.marks = terminal and _can_print("✓✗·", sys.stdout)

    def begin(self, assignment: str, submission: str, tier: str, shown: Collection[str]) -> None:
        """Write the first line.

        Args:
            shown: the ids of the exercises to report on; others run only because these need them.
        """
        self.shown = shown
        self.submission = submission
        self.pending = list(shown)
        self.width = max(MIN_NAME_WIDTH, *map(len, shown))
        write(f"{assignment}   submission: {submission}   tier: {tier}")
        write()
        sys.stdout.flush()
        self.live.say(f"importing torch, then grading {self.pending[0]}")

    def progress(self, what: str, done: int, total: int) -> None:
        """Show the progress of a task: a live line on a terminal, occasional lines elsewhere."""
        if not done:
            return
        if self.live.enabled:
            self.live.count(what, done, total)
            return
        is_new = (what, done) != self.last_step
        if is_new and time.monotonic() - self.last_progress > PROGRESS_SECONDS:
            self.last_progress = time.monotonic()
            self.last_step = (what, done)
            print(f"  {visible(what)}: step {done} of {total}", file=sys.stderr, flush=True)

    def result(self, result: Result) -> None:
        """Print an exercise's line and findings."""
        self.live.clear()
        if result.id in self.shown:
            self.show(result.as_json())
            sys.stdout.flush()
        self.pending = [name for name in self.pending if name != result.id]
        if self.pending:
            self.live.say(f"grading {self.pending[0]}")

    def verdict(self, outcome: str) -> str:
        """Return an outcome as a column, with its mark and colour."""
        colour, mark = STYLES[Outcome(outcome)]
        word = outcome.upper() if outcome == Outcome.FAILED else outcome
        text = f"{mark if self.marks else ' '} {word:<16}"
        return f"{colour}{text}{RESET}" if self.colours else text

    def show(self, exercise: Model) -> None:
        """Print an exercise's line and findings; the same cause is explained only once."""
        score = "-" if exercise["score"] is None else points(exercise["score"])
        out_of = f"{score:>3}/{points(exercise['max_score']):<3}"
        line = f" {exercise['id']:<{self.width}} {out_of}  {headline(exercise)}"
        findings = exercise["findings"]
        if findings and findings[0]["details"] == self.details != []:
            line += f" (see {self.details_of})"
        write(line.rstrip(), before=self.verdict(exercise["outcome"]))
        for number, finding in enumerate(findings):
            if number:
                write(f"also: {finding['headline']}", INDENT)
            place = finding["place"]
            path = path_of(self.submission, place["file"]) if place else None
            for line in lines_of(place, str(path or "")):
                write(line, INDENT)
            if finding["details"] != self.details:
                self.details = finding["details"]
                self.details_of = exercise["id"]
                for detail in self.details:
                    write(detail, INDENT)

    def end(self, grade: Grade) -> None:
        """Print the total, notes, the submission's output, and what to do next."""
        self.live.clear()
        result = grade.as_json()
        only_bonus = all(exercise["bonus"] for exercise in result["exercises"])
        write()
        if result["max_score"]:
            write(f"  score   {points(result['score'])} / {points(result['max_score'])}")
        if result["bonus"] or (result["bonus_max_score"] and only_bonus):
            write(f"  bonus   {points(result['bonus'])} / {points(result['bonus_max_score'])}")
        names = ", ".join(ungraded(result))
        if names:
            write(f"  {names} could not be graded, which costs no points; tell your instructor")
        for note in result["notes"]:
            write(f"  note: {note}")
        write_output(grade.printed)
        step = next_step(result)
        if step:
            write()
            write(f"  next: {step}")
        sys.stdout.flush()
