"""Tasks: exercises graded by a long run, such as a training, instead of by probes."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tensormark.references import References
from tensormark.sandbox.interface import Reply, Request


@dataclasses.dataclass(frozen=True)
class TaskRun:
    """What a task is graded with, and what it says besides its verdict.

    Attributes:
        references, data, checkpoint: what it may read.
        ask: has the submission carry out a request.
        ask_solution: has the solution do so, in a process that has run none of the submission's
            code; None if that is impossible.
        doubtful: the upstream exercises whose properties are not right, such as their gradients.
        flags: sentences on how it was graded, for the instructor.
        measured: for reports, in the form of `measured` in result.schema.json; nothing private.
    """

    references: References
    data: Path
    checkpoint: Path | None
    ask: Callable[[Request], Reply]
    ask_solution: Callable[[Request], Reply] | None
    doubtful: tuple[str, ...] = ()
    flags: list[str] = dataclasses.field(default_factory=list)
    measured: dict[str, Any] = dataclasses.field(default_factory=dict)


class Task:
    """An exercise that is graded by the result of a long run of the student's code.

    Attributes:
        data_files: the files of data/ that grading reads.
        arrays: what its requests are given, as in `Call`; they say so, too.
    """

    data_files: tuple[str, ...] = ()
    arrays: str = "torch"

    def left_out(self, references: References) -> str | None:
        """Return why these references cannot grade it, so that it does not count, or None."""
        return None

    def seconds(self, references: References) -> float | None:
        """Return the seconds that a correct solution takes, if measured."""
        return None

    def grade(self, run: TaskRun, /) -> str:
        """Have the worker run it, and judge the answer; return a few words for the report.

        Raises:
            CheckFailed: the submission's fault. ReferencesError: it cannot be graded.
        """
        raise NotImplementedError
