"""Studies of the toy assignment's functions, and sheets on them, in real sandboxes."""

import contextlib
from collections.abc import Collection, Iterator
from pathlib import Path

from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.submission import Submission
from tensormark.sandbox.interface import PROCESS
from tensormark.settings import Settings
from tensormark.viva.copies import opened
from tensormark.viva.draw import questions
from tensormark.viva.question import Sheet
from tensormark.viva.source import Change, Source
from tensormark.viva.study import Study
from tensormark.viva.subject import subjects_of

import toy


@contextlib.contextmanager
def study_of(folder: Path, text: str, exercise: str = "conv") -> Iterator[Study]:
    """Study the function of an exercise in a file with this text."""
    grading = Grading(Settings.of(folder), open_assignment(folder))
    (subject,) = (each for each in subjects_of(folder) if each.exercise == exercise)
    submission = Submission("mine", {"detector": text}, {})
    with opened(grading, submission, [grading.assignment.exercise(exercise)]) as copies:
        yield Study(subject, Source(text, subject.target), copies)


def sheet_of(
    folder: Path,
    text: str,
    seed: str = "7",
    number: int = 5,
    right: Collection[str] = tuple(toy.EXERCISES),
    tier: str = PROCESS,
) -> Sheet:
    """Draw a sheet on a file with this text."""
    grading = Grading(Settings.of(folder, tier=tier), open_assignment(folder))
    return questions(grading, Submission("mine", {"detector": text}, {}), right, seed, number)


def change_of(study: Study, old: str, new: str) -> Change:
    """Return the change that makes a text another one."""
    assert study.source.text.count(old) == 1
    text = study.source.text.replace(old, new)
    (change,) = (each for each in study.changes if each.text == text)
    return change
