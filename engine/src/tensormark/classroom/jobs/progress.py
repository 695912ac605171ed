"""Progress of a run: a bar with an estimate on a terminal, or else one line per minute."""

import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import TextIO

from tqdm import tqdm

from tensormark.classroom.jobs.estimate import FEW, expected, spent
from tensormark.classroom.jobs.store import Attempt
from tensormark.classroom.summary import COULD_NOT
from tensormark.reports.live import is_terminal

EVERY = 60.0  # seconds between lines


def kind_of(attempt: Attempt) -> str:
    """Return the label that an attempt is counted under while a class is graded."""
    if attempt.result is None or not attempt.complete:
        return COULD_NOT
    core = [exercise for exercise in attempt.result["exercises"] if not exercise["bonus"]]
    passed = all(exercise["outcome"] == "passed" for exercise in core)
    return "all passed" if passed else "not all passed"


class Progress:
    """Counts and shows what is done."""

    def __init__(
        self,
        total: int,
        stream: TextIO | None = None,
        estimated: bool = True,
        kind: Callable[[Attempt], str] = kind_of,
    ) -> None:
        """Begin at zero.

        Args:
            estimated: whether an estimate was given; if not, one follows once a few are done.
            kind: returns the label that an attempt is counted under.
        """
        self.kind = kind
        self.total, self.stream, self.estimated = total, stream or sys.stderr, estimated
        self.durations: list[float] = []
        self.counts: Counter[str] = Counter()
        self.began, self.last = time.monotonic(), 0.0
        self.bar = None
        if is_terminal(self.stream):
            self.bar = tqdm(total=total, file=self.stream, dynamic_ncols=True, smoothing=0.1)

    @property
    def finished(self) -> int:
        """How many submissions are done."""
        return sum(self.counts.values())

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return time.monotonic() - self.began

    def done(self, attempt: Attempt, final: bool) -> None:
        """Count an attempt, unless its work will be tried again."""
        if not self.estimated and attempt.seconds:
            self.durations.append(attempt.seconds)
        if not final:
            return
        self.counts[self.kind(attempt)] += 1
        if self.bar is not None:
            self.bar.update()
            self.bar.set_postfix_str(self.summary())

    def tick(self, slots: int, under_way: int) -> None:
        """Print a line if one is due."""
        if not self.estimated and len(self.durations) >= max(FEW, 2 * slots):
            self.estimated = True
            remaining = self.total - self.finished
            if remaining > under_way:
                self.say(f"{remaining} to go: {expected(remaining, slots, self.durations)}")
        if self.bar is not None or self.seconds - self.last < EVERY:
            return
        self.last = self.seconds
        self.say(f"{self.finished} of {self.total}: {self.summary()}; {self.remaining()}")

    def remaining(self) -> str:
        """Return the speed and the remaining time."""
        rate = self.finished / self.seconds
        if not rate:
            return "no estimate yet"
        time_left = spent((self.total - self.finished) / rate)
        return f"{60 * rate:.1f} a minute, {time_left} left"

    def summary(self) -> str:
        """Return the counts by outcome."""
        return ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items()))

    def say(self, line: str) -> None:
        """Print a line, above the bar if there is one."""
        if self.bar is not None:
            self.bar.write(line, file=self.stream)
        else:
            print(line, file=self.stream, flush=True)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self.bar is not None:
            self.bar.close()
