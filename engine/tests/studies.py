"""Studies of the toy assignment's functions, and sheets on them, in real sandboxes."""

import contextlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.submission import Submission
from tensormark.sandbox.interface import PROCESS
from tensormark.settings import Settings
from tensormark.viva.copies import opened
from tensormark.viva.draw import generator, questions
from tensormark.viva.families.shapes import Shapes
from tensormark.viva.family import Sample
from tensormark.viva.question import Sheet
from tensormark.viva.source import Change, Source
from tensormark.viva.study import Comparison, Study
from tensormark.viva.subject import subjects_of

import toy


@contextlib.contextmanager
def study_of(folder: Path, text: str, exercise: str = "conv") -> Iterator[Study]:
    """Study the function of an exercise in a file with this text."""
    grading = Grading(Settings.of(folder), open_assignment(folder))
    (subject,) = (each for each in subjects_of(folder) if each.exercise == exercise)
    submission = Submission("mine", {subject.module: text}, {})
    with opened(grading, submission, [grading.assignment.exercise(exercise)]) as copies:
        yield Study(subject, Source(text, subject.target), copies)


def check_words(study: Study) -> None:
    """Check in each world that only facts that can be lost may show, and that axis sizes differ."""
    subject = study.subject
    assert {*subject.mistakes} <= {*messages_of(study)}
    for number, call in enumerate(subject.worlds):
        sizes = [*subject.sizes(call).values()]
        assert len({*sizes}) == len(sizes) or number == 2  # where what raises before may not
        world = study.world(number)
        replies = study.original_replies(number, [*world.runs])
        for place, fact in enumerate(subject.facts):
            shows = Comparison(world, replies, replies).shows(replies, place)
            assert shows is bool(fact.lost), fact


def messages_of(study: Study) -> dict[str, str]:
    """Return the messages for the known mistakes of a study's exercise, by id."""
    references = study.copies.grading.references
    variants = references.manifest["exercises"][study.exercise.id].get("variants", {})
    return {name: entry["says"] for name, entry in variants.items() if "says" in entry}


def shapes_asked(study: Study) -> dict[str, str]:
    """Return the pieces of code whose shape may be asked for, with the right answers."""
    shapes = {}
    for draft in Shapes().drafts(Sample(study, generator("any"))):
        (mark,), options = draft.question.marks, draft.question.options
        code = study.source.lines[mark.line - 1][mark.start : mark.end]
        shapes[code] = options[draft.question.key]
    return shapes


def sheet_of(
    folder: Path,
    sources: Mapping[str, str] | str,
    seed: str = "7",
    number: int = 5,
    right: Collection[str] = tuple(toy.EXERCISES),
    tier: str = PROCESS,
) -> Sheet:
    """Draw a sheet on a submission, or on a single file for the toy assignment."""
    sources = {"detector": sources} if isinstance(sources, str) else sources
    grading = Grading(Settings.of(folder, tier=tier), open_assignment(folder))
    return questions(grading, Submission("mine", sources, {}), right, seed, number)


def change_of(study: Study, old: str, new: str) -> Change:
    """Return the change that replaces one text with another."""
    assert study.source.text.count(old) == 1
    text = study.source.text.replace(old, new)
    (change,) = (each for each in study.changes if each.text == text)
    return change
