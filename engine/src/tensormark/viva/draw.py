"""Draws a sheet of questions by a seed: the families take turns, and so do the functions."""

import collections
import contextlib
import dataclasses
import itertools
import random
import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from tensormark.exercise import Assignment
from tensormark.grading import Grading
from tensormark.intake.submission import Submission, inspected
from tensormark.sandbox.interface import printable
from tensormark.usage import command
from tensormark.viva.families import FAMILIES, Sample
from tensormark.viva.question import Listing, Question, Sheet
from tensormark.viva.source import UnfitError
from tensormark.viva.study import Copies, Study
from tensormark.viva.subject import Subject, subjects_of

FEW_FUNCTIONS = 3  # that a short sheet is about, if possible
ARGUMENTS = "Arguments are separate tensors: none is computed from another."
IN_EVAL = "Unless a question mentions training, dropout does nothing: the model is in eval mode."
NO_QUESTIONS = "this assignment has no questions: there is no grader/viva.py"
NOTHING_RIGHT = "no function passes yet; `{check}` says why"


def askable(assignment: Assignment, right: Collection[str]) -> list[Subject]:
    """Return the functions that can be asked about: right ones whose upstream ones are right."""
    return [
        subject
        for subject in subjects_of(assignment.folder)
        if {subject.exercise, *assignment.exercise(subject.exercise).upstream} <= set(right)
    ]


@contextlib.contextmanager
def opened(
    grading: Grading, submission: Submission, subjects: Sequence[Subject]
) -> Iterator[Copies]:
    """Open a sandbox for copies of an inspected submission.

    Raises:
        ReferencesError: they are unusable. WorkerStartError: the tier is not available.
        SubmissionError: given files are missing.
    """
    overlay = grading.given.under(submission)
    exercises = [grading.assignment.exercise(subject.exercise) for subject in subjects]
    with grading.open(submission, exercises, overlay) as sandbox:
        yield Copies(sandbox, overlay.sources)


def turns(samples: Sequence[Sample]) -> Iterator[Question]:
    """Yield questions until none is left: the families take turns, each on the next function."""
    waiting: collections.deque[Iterator[Question]] = collections.deque()
    for turn in range(len(FAMILIES)):
        for number, sample in enumerate(samples, start=turn):
            family = FAMILIES[number % len(FAMILIES)]
            waiting.append(family(sample))
    while waiting:
        proposed = waiting.popleft()
        question = next(proposed, None)
        if question is not None:
            yield question
            waiting.append(proposed)


def samples_of(
    subjects: Sequence[Subject], assignment: Assignment, copies: Copies, seed: str, notes: list[str]
) -> Iterator[Sample]:
    """Yield samples of functions in a random order, and add to the notes why some have none."""
    for subject in random.Random(f"{seed} order").sample(subjects, len(subjects)):
        generator = random.Random(f"{seed} {subject.exercise}")
        try:
            yield Sample(Study(subject, assignment, copies), generator)
        except UnfitError as error:
            notes.append(f"no questions about {subject.exercise}: {error}")


def listing_of(study: Study) -> Listing:
    """Return the function of a study as sheets show it."""
    listing = study.source.listing()
    numbers = [number for number, _ in listing]
    text = "\n".join(line.expandtabs(4) for _, line in listing)
    lines = zip(numbers, textwrap.dedent(text).split("\n"), strict=True)
    return Listing(study.subject.target, f"{study.subject.module}.py", tuple(lines))


def about(studies: Sequence[Study]) -> list[str]:
    """Return what a sheet's reader should know of the calls of some functions."""
    notes = [study.subject.note for study in studies if study.subject.note]
    in_eval = [IN_EVAL] if any(study.subject.training for study in studies) else []
    return [ARGUMENTS, *in_eval, *notes]


def questions(
    grading: Grading,
    submission: Submission,
    right: Collection[str],
    seed: str,
    number: int,
    progress: Callable[[int], None] = lambda done: None,
) -> Sheet:
    """Return a sheet with up to `number` questions on a submission's own functions.

    Args:
        right: ids of the exercises that passed.
        progress: is called with the number of questions so far, after each one.

    Raises:
        SubmissionError: the submission cannot be run. InspectionError: not on this machine.
        WorkerStartError: the tier is not available.
    """
    assignment = grading.assignment
    empty = Sheet(assignment.name, printable(submission.name), seed)
    subjects = askable(assignment, right)
    if not subjects:
        why = NO_QUESTIONS
        if subjects_of(assignment.folder):
            why = NOTHING_RIGHT.format(check=command("check"))
        return dataclasses.replace(empty, notes=(why,))
    drawn: list[Question] = []
    notes: list[str] = []
    # errstate: replies may hold any numbers
    with np.errstate(all="ignore"), opened(grading, inspected(submission), subjects) as copies:
        found = samples_of(subjects, assignment, copies, seed, notes)
        samples = list(itertools.islice(found, max(FEW_FUNCTIONS, number)))
        try:
            for question in itertools.islice(turns(samples), number):
                drawn.append(question)
                progress(len(drawn))
        except UnfitError as error:
            notes.append(f"no more questions: {error}")
    if len(drawn) < number:
        notes.append(f"only {len(drawn)} of {number} questions can be asked about these functions")
    functions = {question.function for question in drawn}
    asked = [sample.study for sample in samples if sample.study.subject.target in functions]
    return dataclasses.replace(
        empty,
        listings=tuple(map(listing_of, asked)),
        questions=tuple(drawn),
        about=tuple(about(asked)),
        notes=tuple(notes),
    )
