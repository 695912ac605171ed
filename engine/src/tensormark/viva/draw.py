"""Draws a sheet of questions by a seed: the families take turns, and so do the functions."""

import contextlib
import dataclasses
import hashlib
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
from tensormark.viva.edits import Source
from tensormark.viva.families import FAMILIES, Sample
from tensormark.viva.question import Listing, Question, Sheet
from tensormark.viva.study import Copies, Study, UnfitError
from tensormark.viva.subject import Subject, subjects_of

FEW_FUNCTIONS = 3  # that a short sheet is about, if possible
MAX_LINES = 60  # of a function on a sheet
IN_EVAL = "Unless a question mentions training, dropout does nothing: the model is in eval mode."
NOTHING_SAID = "this assignment has no questions: there is no grader/viva.py"
NOTHING_RIGHT = "no function is right yet: `{check}` says what is wrong"


def generator(*parts: object) -> random.Random:
    """Return a generator that depends only on these parts, on every machine."""
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return random.Random(int.from_bytes(digest, "big"))


def askable(assignment: Assignment, right: Collection[str]) -> list[Subject]:
    """Return the functions that can be asked about: they and all functions they call are right."""
    return [
        subject
        for subject in subjects_of(assignment.folder)
        if {subject.exercise, *assignment.exercise(subject.exercise).upstream} <= {*right}
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


class Drawing:
    """Draws the questions on one submission.

    Attributes:
        studies: of the functions that were looked at; unfit: why others cannot be asked about.
    """

    def __init__(
        self, assignment: Assignment, copies: Copies, subjects: Sequence[Subject], seed: str
    ) -> None:
        self.assignment = assignment
        self.copies = copies
        self.seed = seed
        self.subjects = generator(seed, "order").sample(subjects, len(subjects))
        self.studies: dict[str, Study] = {}
        self.unfit: dict[str, str] = {}

    def sample(self, subject: Subject) -> Sample | None:
        """Return changes to a function and what they do; None if nothing can be asked about it."""
        exercise = self.assignment.exercise(subject.exercise)
        try:
            source = Source(self.copies.sources[subject.module], subject.target)
            if len(source.listing()) > MAX_LINES:
                raise UnfitError("it is too long")
            study = Study(subject, exercise, source, self.copies, self.assignment.seed)
            self.studies[subject.exercise] = study
            return Sample(study, generator(self.seed, subject.exercise))
        except UnfitError as error:
            self.unfit[subject.exercise] = str(error)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            self.unfit[subject.exercise] = "it was not found"
        return None

    def questions(self, number: int) -> Iterator[Question]:
        """Yield up to this many questions: first on a few functions, then on the others."""
        samples = (sample for sample in map(self.sample, self.subjects) if sample is not None)
        chosen = [*itertools.islice(samples, max(FEW_FUNCTIONS, number // 2))]
        drawn = itertools.chain(turns(chosen), (q for each in samples for q in turns([each])))
        yield from itertools.islice(drawn, number)


def turns(samples: Sequence[Sample]) -> Iterator[Question]:
    """Yield questions until none is left: the families take turns, each on the next function."""
    waiting = [[family(sample) for sample in samples] for family in FAMILIES]
    for first in itertools.count():
        for place, family in enumerate(waiting, start=first):
            while family:
                question = next(family[place % len(family)], None)
                if question is not None:
                    yield question
                    break
                del family[place % len(family)]
        if not any(waiting):
            return


def listing_of(study: Study) -> Listing:
    """Return the function of a study as sheets show it."""
    numbers, lines = zip(*study.source.listing(), strict=True)
    shown = textwrap.dedent("\n".join(line.expandtabs(4) for line in lines)).split("\n")
    subject = study.subject
    return Listing(subject.target, f"{subject.module}.py", tuple(zip(numbers, shown, strict=True)))


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
        wrong = NOTHING_RIGHT.format(check=command("check"))
        why = wrong if subjects_of(assignment.folder) else NOTHING_SAID
        return dataclasses.replace(empty, notes=(why,))
    submission = inspected(submission)
    # replies may hold any numbers
    with np.errstate(all="ignore"), opened(grading, submission, subjects) as copies:
        drawing = Drawing(assignment, copies, subjects, seed)
        drawn = list[Question]()
        notes = list[str]()
        try:
            for question in drawing.questions(number):
                drawn.append(question)
                progress(len(drawn))
        except UnfitError as error:
            notes.append(f"no more questions: {error}")
    functions = {question.function for question in drawn}
    asked = [subject for subject in subjects if subject.target in functions]
    about = [subject.note for subject in asked if subject.note]
    if any(subject.training for subject in asked):
        about.insert(0, IN_EVAL)
    notes += [f"no questions about {name}: {why}" for name, why in drawing.unfit.items()]
    if len(drawn) < number:
        notes.append(f"only {len(drawn)} of {number} questions can be asked about these functions")
    listings = tuple(listing_of(drawing.studies[subject.exercise]) for subject in asked)
    return dataclasses.replace(
        empty, listings=listings, questions=tuple(drawn), about=tuple(about), notes=tuple(notes)
    )
