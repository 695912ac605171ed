"""The time that one submission may keep a sandbox busy.

Covered: the time from when a child or worker could begin until its answer arrived, by this
process's clock, imports included. A task (training) has its own deadline and is not counted. After
HANGS calls that had to be ended at a deadline, nothing more of the submission is run.
Not covered: importing torch, which happens before there is anything to run; and, in the tier
`process`, the milliseconds in which a call already runs while the answer before it is read.
"""

import contextlib
from collections.abc import Iterator

from tensormark.sandbox.interface import Reply, Request, clock

HANGS = 2  # calls that had to be ended; a single one may be due to an unresponsive machine


class Budget:
    """The budget of one submission, and how much of it is left."""

    def __init__(self, seconds: float) -> None:
        self.seconds = self.remaining = seconds
        self.hung: list[str] = []  # the reason for each call that had to be ended

    def cap(self, request: Request, seconds: float) -> float:
        """Return these seconds, or the rest of the budget if that is less."""
        return seconds if request.task else min(seconds, max(self.remaining, 0.0))

    @contextlib.contextmanager
    def spend(self, request: Request) -> Iterator[None]:
        """Count the time of a `with` block."""
        started = clock()
        try:
            yield
        finally:
            self.remaining -= 0.0 if request.task else clock() - started

    def add(self, reply: Reply) -> None:
        """Record the reply to a call."""
        if reply.hung:
            self.hung.append(reply.text)

    def refusal(self, request: Request) -> Reply | None:
        """Return the reply to a request that will not be run, or None if it will."""
        if len(self.hung) >= HANGS:
            return Reply("lost", f"not run: {', and '.join(self.hung[:HANGS])}")
        if self.remaining <= 0 and not request.task:
            return Reply("lost", f"not run: the submission used up its {self.seconds:g} seconds")
        return None
