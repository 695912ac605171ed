"""What the golden corpus uses of the product: from files on disk to the result model.

A change of the product's interfaces should need a change in this file only.
"""

import contextlib
import functools
import io
import os
import sys
import time
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "engine" / "tests"))

from tensormark.authoring.variants import edited, region_of
from tensormark.classroom import grade_class, jobs
from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.reports.convert import FORMATS
from tensormark.reports.terminal import Report
from tensormark.sandbox.tiers import CONTAINED
from tensormark.settings import Settings
from tensormark.usage import UserError
from testkit.at_once import here
from testkit.classes import options_in

__all__ = ["edited", "region_of"]
FORMS = ("html", "gradescope", "summary")


@functools.cache
def usual():
    """Return the grading of most submissions, once for this process."""
    os.environ["TENSORMARK_MAKE"] = "1"  # messages name make's commands, as `make test` sets it
    os.environ["TZ"] = "UTC"
    time.tzset()
    return Grading(Settings.of(ROOT), open_assignment(ROOT))


def graded(path, training=False, contained=0, **folders):
    """Return the result model of the submission at a path.

    Args:
        contained: seconds for a hostile submission, which is graded in a container.
        folders: settings that name a folder, such as the references.

    Raises:
        UserError: it is refused.
    """
    grading = usual()
    if contained:
        settings = Settings.of(ROOT, tier=CONTAINED, budget=contained)
        grading = Grading(settings, grading.assignment)
    elif folders:
        paths = {name: Path(folder) for name, folder in folders.items()}
        grading = Grading(Settings.of(ROOT, **paths), grading.assignment)
    submission = grading.read(path)
    return grading.grade(submission, not training, observer=Report()).as_json()


def written(model):
    """Return a result in the forms that people and platforms read."""
    time = {"started": "2026-11-20T18:00:00+00:00", "seconds": 1.0}
    steadied = {**model, "versions": {}, "references": "0" * 64, "time": time}
    return {form: FORMATS[form](steadied) for form in FORMS}


def graded_class(options):
    """Grade the class in the folder work, as its instructor does, into the folder out.

    Args:
        options: those of class.toml.
    """
    options_in(Path("out"), **options)
    words = ["--check", "--workers", "1", "--out", "out", "--", "work"]
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        mock.patch.object(grade_class, "workers", here),
        mock.patch.object(jobs, "_grading", return_value=usual()),
    ):
        try:
            status = grade_class.main(ROOT, "class", words)
        except UserError as error:
            return f"{printed.getvalue()}error: {error}"
    return f"{printed.getvalue()}exit status {status}"
