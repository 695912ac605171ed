"""What a task is, and what it is graded with: an exercise without probes, such as a training."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tensormark.references import References
from tensormark.sandbox.interface import Reply, Request


def ignore(measured: Mapping[str, Any]) -> None:
    """Show nothing."""


@dataclasses.dataclass(frozen=True)
class TaskRun:
    """What a task is graded with.

    Attributes:
        references, data, checkpoint: what it may read.
        ask: has the submission carry out a request.
        ask_solution: has the solution do so, in a process that nothing of the submission's has run
            in; None where that cannot be.
        why_not: then a few words that say why.
        wrong: the upstream exercises whose values are not right.
        flag: takes a sentence on how it was graded, for the instructor.
        show: takes what was measured, for reports, as `measured` in result.schema.json says;
            nothing that is private.
    """

    references: References
    data: Path
    checkpoint: Path | None
    ask: Callable[[Request], Reply]
    ask_solution: Callable[[Request], Reply] | None
    why_not: str
    wrong: tuple[str, ...]
    flag: Callable[[str], None]
    show: Callable[[Mapping[str, Any]], None] = ignore


class Task:
    """An exercise that is graded by the result of a long run of the student's code.

    Attributes:
        data_files: the files of data/ that grading it reads.
        hidden_files: the files that private references may have in their place.
    """

    data_files: tuple[str, ...] = ()
    hidden_files: tuple[str, ...] = ()

    def left_out(self, references: References) -> str | None:
        """Say why these references cannot grade it, or None; if they cannot, it does not count."""
        return None

    def seconds(self, references: References) -> float | None:
        """Return how long a right solution takes, if that was measured."""
        return None

    def grade(self, run: TaskRun, /) -> str:
        """Have the worker run it, and judge the answer; return a few words for the report.

        Raises:
            CheckFailed: the submission's fault. ReferencesError: it cannot be graded.
        """
        raise NotImplementedError
