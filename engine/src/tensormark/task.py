"""Tasks: exercises graded by a long run, such as a training, instead of by probes."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tensormark.references import References
from tensormark.sandbox.interface import Reply, Request


@dataclasses.dataclass(frozen=True)
class TaskRun:
    """What a task is graded with.

    Attributes:
        references, data, checkpoint: what it may read.
        ask: has the submission carry out a request.
        ask_solution: has the solution do so, in a process that has run none of the submission's
            code; None if that is impossible.
        flag: takes a sentence on how it was graded, for the instructor.
        show: takes what was measured, for reports, in the form of `measured` in result.schema.json;
            nothing private.
        doubtful: the upstream exercises whose properties are not right, such as their gradients.
    """

    references: References
    data: Path
    checkpoint: Path | None
    ask: Callable[[Request], Reply]
    ask_solution: Callable[[Request], Reply] | None
    flag: Callable[[str], None]
    show: Callable[[Mapping[str, Any]], None] = lambda measured: None
    doubtful: tuple[str, ...] = ()


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
