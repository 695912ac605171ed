"""What the golden corpus uses of the product: from files on disk to the result model.

A change of the product's interfaces should need a change in this file only.
"""

import functools
from pathlib import Path
from typing import Any

from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.submission import SubmissionError
from tensormark.sandbox.interface import Program, Sandbox
from tensormark.sandbox.process import ProcessSandbox
from tensormark.sandbox.waiting import warm_workers
from tensormark.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


class Product:
    """Grades one submission after another, each in a new worker that has imported torch before."""

    def __init__(self) -> None:
        self.assignment = open_assignment(ROOT)
        self.workers = warm_workers(threads=1)
        self.workers.prepare(self.assignment.harness)
        self.usual = Grading(Settings.of(ROOT), self.assignment, self._sandbox)

    def _sandbox(self, _tier: str, program: Program) -> Sandbox:
        return ProcessSandbox(program, start=self.workers.take)

    def graded(self, path: str, training: bool = False, **folders: str) -> dict[str, Any] | str:
        """Return the result model of the submission at a path, or why it is refused.

        Args:
            folders: settings that name a folder, such as the references.
        """
        grading = self.usual
        if folders:
            paths = {name: Path(folder) for name, folder in folders.items()}
            grading = Grading(Settings.of(ROOT, **paths), self.assignment, self._sandbox)
        try:
            return grading.grade(path, check=not training).as_json()
        except SubmissionError as error:
            return str(error)


@functools.cache
def opened() -> Product:
    """Return this process's only one."""
    return Product()
