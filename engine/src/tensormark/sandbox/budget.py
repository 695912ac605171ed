"""The time for which one submission may keep a sandbox busy.

Covered: the time from when a child or worker could begin until its answer was there, by this
process's clock, imports included. A task (training) has a deadline of its own and is not counted.
After HANGS calls that had to be ended at a deadline, the rest of a submission is known: nothing
more is run.
Not covered: importing torch, which happens before there is anything to run.
"""

import contextlib
from collections.abc import Iterator

from tensormark.sandbox.interface import Reply, Request, clock

HANGS = 2  # calls that have to be ended; one may be a machine that stood still


class Budget:
    """The budget of one submission, and what it has used of it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = self.left = seconds
        self.hung: list[str] = []  # why a call was ended, a line each

    def cap(self, request: Request, seconds: float) -> float:
        """Return how long a request may take at most, of so many seconds."""
        return seconds if request.task else min(seconds, max(self.left, 0.0))

    @contextlib.contextmanager
    def spend(self, request: Request) -> Iterator[None]:
        """Count the time of a block."""
        started = clock()
        try:
            yield
        finally:
            self.left -= 0.0 if request.task else clock() - started

    def add(self, reply: Reply) -> None:
        """Record a reply that was not known before."""
        if reply.hung:
            self.hung.append(reply.text)

    def over(self, request: Request) -> Reply | None:
        """Return the reply to a request that is not run any more, or None."""
        if len(self.hung) >= HANGS:
            return Reply("lost", f"not run: {', and '.join(self.hung[:HANGS])}")
        if self.left <= 0 and not request.task:
            return Reply("lost", f"not run: the submission used up its {self.seconds:g} seconds")
        return None
