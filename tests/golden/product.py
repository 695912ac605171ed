"""What the golden corpus uses of the product: from files on disk to the result model.

A change of the product's interfaces should need a change in this file only.
"""

import functools
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.submission import SubmissionError
from tensormark.reports.convert import FORMATS
from tensormark.reports.terminal import Report
from tensormark.sandbox.interface import CONTAINED, Program, Sandbox
from tensormark.sandbox.process import ProcessSandbox
from tensormark.sandbox.waiting import warm_workers
from tensormark.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
FORMS = ("html", "gradescope", "summary", "annotations")
# what says how long something took, in a class's files: the last cell of a row, and sentences
SECONDS = (
    (r">[\d.]*</td></tr>", ">SECONDS</td></tr>"),
    (r"\b[\d.]+ (minutes for|s\b)", r"N \1"),
    (r"(?m)^(\d+ done in) .*", r"\1 SECONDS"),
)


class Product:
    """Grades one submission after another, each in a new worker that has imported torch before."""

    def __init__(self) -> None:
        os.environ["TENSORMARK_MAKE"] = "1"  # messages name make's commands, as `make test` sets it
        self.assignment = open_assignment(ROOT)
        self.workers = warm_workers(threads=1)
        self.workers.prepare(self.assignment.harness)
        self.usual = Grading(Settings.of(ROOT), self.assignment, self._sandbox)

    def _sandbox(self, _tier: str, program: Program) -> Sandbox:
        return ProcessSandbox(program, start=self.workers.take)

    def graded(
        self, path: str, training: bool = False, contained: float = 0, **folders: str
    ) -> dict[str, Any] | str:
        """Return the result model of the submission at a path, or why it is refused.

        Args:
            contained: seconds for a hostile submission, which is graded in a container.
            folders: settings that name a folder, such as the references.
        """
        grading = self.usual
        if contained:
            settings = Settings.of(ROOT, tier=CONTAINED, budget=contained)
            grading = Grading(settings, self.assignment)
        elif folders:
            paths = {name: Path(folder) for name, folder in folders.items()}
            grading = Grading(Settings.of(ROOT, **paths), self.assignment, self._sandbox)
        try:
            return grading.grade(path, check=not training, observer=Report()).as_json()
        except SubmissionError as error:
            return str(error)

    @staticmethod
    def written(model: Mapping[str, Any]) -> dict[str, str]:
        """Return a result in the forms that people and platforms read."""
        time = {"started": "2026-11-20T18:00:00+00:00", "seconds": 1.0}
        steadied = {**model, "versions": {}, "references": "0" * 64, "time": time}
        return {form: FORMATS[form](steadied) for form in FORMS}

    @staticmethod
    def grade_class(options: Sequence[str]) -> str:
        """Grade the class in the folder work, as its instructor does, into the folder out."""
        always = ("--check", "--tier", "process", "--workers", "1", "--out", "out")
        line = [sys.executable, "-m", "tensormark", "-C", str(ROOT), "class", *always, *options]
        variables = os.environ | {"TZ": "UTC", "PYTHONIOENCODING": "utf-8"}
        ended = subprocess.run(
            [*line, "--", "work"], env=variables, capture_output=True, encoding="utf-8", check=False
        )
        return steady(f"{ended.stdout}\nexit status {ended.returncode}")


def steady(text: str) -> str:
    """Return one of a class's files without what differs between two runs."""
    for pattern, instead in SECONDS:
        text = re.sub(pattern, instead, text)
    return text


@functools.cache
def opened() -> Product:
    """Return this process's only one."""
    return Product()
