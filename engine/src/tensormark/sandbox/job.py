"""The key that a slot is started with, the jobs that it runs, and how they end. Trusted side."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from tensormark.sandbox.interface import Limits
from tensormark.worker.reply_buffer import ReplyBuffer


class SlotError(Exception):
    """The slot is lost, which cannot be blamed on a submission."""


@dataclasses.dataclass(frozen=True)
class SlotKey:
    """What a slot is started with.

    Attributes:
        contained: whether it has its own container.
        harness: the assignment's file that runs next to a student's code.
        requirements: the file that lists the packages that children may import.
        checkpoint: the only folder that children may read besides Python, if there is one.
        rules: what the assignment forbids, with where it is listed; see Program.
        lock: False skips the children's lockdown, for measurements only.
    """

    contained: bool
    harness: Path
    requirements: Path
    checkpoint: Path | None = None
    rules: tuple[tuple[str, str], ...] = ()
    lock: bool = True


@dataclasses.dataclass(frozen=True)
class Job:
    """The work of one child.

    Attributes:
        content: the frames of its requests, the import first.
        deadlines: seconds for each request; together: seconds for all of them.
    """

    content: bytes
    deadlines: Sequence[float]
    together: float
    threads: int
    limits: Limits


@dataclasses.dataclass(frozen=True)
class Ending:
    """How a job ended.

    Attributes:
        status: the exit status, or minus the number of the signal that ended it.
        exceeded: the deadline in seconds at which it had to be ended, if any.
    """

    answers: ReplyBuffer
    status: int
    exceeded: float | None
