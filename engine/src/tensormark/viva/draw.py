"""Draws a sheet of questions by a seed: the families take turns, and each draft is confirmed."""

import contextlib
import dataclasses
import hashlib
import itertools
import random
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from tensormark.exercise import Assignment
from tensormark.grading import Grading
from tensormark.intake.inspection import inspected
from tensormark.intake.submission import Submission
from tensormark.sandbox.interface import printable
from tensormark.usage import command
from tensormark.viva.copies import Copies, UnfitError, opened
from tensormark.viva.families import FAMILIES
from tensormark.viva.family import Draft, Family, Sample
from tensormark.viva.plain import unusual
from tensormark.viva.question import Listing, Mark, Question, Sheet
from tensormark.viva.source import Source
from tensormark.viva.study import RAISES, Study
from tensormark.viva.subject import Subject, subjects_of

MAX_DRAFTS = 6  # of a family on a function, for each question
# a sheet of up to MAX_SMALL_SHEET questions is about this many functions, if possible
FUNCTIONS_OF_SMALL_SHEET, MAX_SMALL_SHEET = 3, 5
MAX_LINES = 60  # of a function on a sheet
MAX_MARKS_PER_LINE = 8
LEFT_BEHIND = "changed copies of its functions affect other code, so no questions are asked"
IN_EVAL = "Results are for eval mode, without dropout, unless a question mentions training."
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


class Drawing:
    """Draws the questions on one submission."""

    def __init__(self, copies: Copies, subjects: Sequence[Subject], seed: str) -> None:
        self.copies, self.subjects, self.seed = copies, subjects, seed
        self.samples: dict[str, Sample] = {}
        self.unfit: dict[str, str] = {}
        self.drafts: dict[tuple[str, str], Iterator[Draft]] = {}
        self.raising, self.used, self.marks = 0, set[str | None](), set[Mark]()

    def sample(self, subject: Subject) -> Sample | None:
        """Return the changed copies of a function; None if nothing can be asked about it."""
        name = subject.exercise
        if name in self.unfit:
            return None
        if name not in self.samples:
            try:
                text = self.copies.sources[subject.module]
                source = Source(text, subject.target)
                if len(source.listing()) > MAX_LINES:
                    raise UnfitError("it is too long")
                if why := unusual(source.tree, source.function):
                    raise UnfitError(why)
                study = Study(subject, source, self.copies)
                self.samples[name] = Sample(study, generator(self.seed, name))
            except (UnfitError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
                self.unfit[name] = (
                    str(error) if isinstance(error, UnfitError) else "it was not found"
                )
                return None
        return self.samples[name]

    def question(self, family: Family, subject: Subject) -> Question | None:
        """Return the next question of a family on a function, if there is another."""
        sample = self.sample(subject)
        if sample is None:
            return None
        key = family.name, subject.exercise
        if key not in self.drafts:
            self.drafts[key] = family.drafts(sample)
        try:
            for draft in itertools.islice(self.drafts[key], MAX_DRAFTS):
                raises = any(name == RAISES and value for _, name, value in draft.claims)
                text = draft.change.text if draft.change else None
                if (raises and self.raising) or text in self.used or self.crowded(draft):
                    continue
                study = sample.study
                if all(study.confirms(*claim) for claim in draft.claims) and draft.holds():
                    self.raising += raises
                    self.used |= {text} - {None}
                    self.marks |= {*draft.question.marks}
                    return draft.question
        except UnfitError as error:
            self.unfit[subject.exercise] = str(error)
        return None

    def crowded(self, draft: Draft) -> bool:
        """Return whether a draft's marks would be too many for a line."""
        marks = self.marks | {*draft.question.marks}
        lines = [(mark.function, mark.line) for mark in marks]
        return any(lines.count(line) > MAX_MARKS_PER_LINE for line in lines)

    def questions(self, number: int) -> Iterator[Question]:
        """Yield questions; a family repeats only after all others that have questions left."""
        order = generator(self.seed, "order")
        families = order.sample(FAMILIES, len(FAMILIES))
        shuffled_subjects = order.sample(self.subjects, len(self.subjects))
        suitable = (subject for subject in shuffled_subjects if self.sample(subject) is not None)
        subjects = [
            *itertools.islice(
                suitable,
                FUNCTIONS_OF_SMALL_SHEET if number <= MAX_SMALL_SHEET else len(shuffled_subjects),
            )
        ]
        count, exhausted = 0, set[tuple[str, str]]()
        codes, present_families = set[str](), set[Family]()
        turn_families = families
        for turn in itertools.count():
            before = count
            for place, family in enumerate(turn_families):
                for step in range(len(subjects)):
                    subject = subjects[(place + turn + step) % len(subjects)]
                    key = family.name, subject.exercise
                    question = None if key in exhausted else self.question(family, subject)
                    if question is None:
                        exhausted.add(key)
                    elif question.code not in codes:
                        codes.add(question.code)
                        present_families.add(family)
                        yield question
                        count += 1
                        break
                if count == number:
                    return
            missing_families = [family for family in families if family not in present_families]
            needs_families = bool(missing_families) and len(present_families) < number
            extra_subject = next(suitable, None) if needs_families or count == before else None
            if extra_subject is not None:
                subjects.append(extra_subject)
            elif count == before and turn_families is families:  # no questions are left
                return
            turn_families = (
                missing_families if needs_families and extra_subject is not None else families
            )

    def left_behind(self) -> bool:
        """Return whether copies left something behind that changes the functions' answers."""
        studies = [sample.study for sample in self.samples.values()]
        with contextlib.suppress(UnfitError):  # copies that hang lose their process anyway
            return not all(study.is_unchanged() for study in studies)
        return False

    def listing(self, function: str) -> Listing:
        """Return the listing of a function."""
        (subject,) = (subject for subject in self.subjects if subject.target == function)
        lines = self.samples[subject.exercise].study.source.listing()
        shown = tuple((number, text.expandtabs(4)) for number, text in lines)
        return Listing(function, f"{subject.module}.py", shown)


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
        WorkerStartError: the tier is not available. SubmissionError: given files are missing.
        InspectionError: it cannot be inspected here.
    """
    assignment = grading.assignment
    empty = Sheet(assignment.name, printable(submission.name), seed, (), ())
    subjects = askable(assignment, right)
    if not subjects:
        wrong = NOTHING_RIGHT.format(check=command("check"))
        why = wrong if subjects_of(assignment.folder) else NOTHING_SAID
        return dataclasses.replace(empty, notes=(why,))
    submission = inspected(submission)
    exercises = [assignment.exercise(subject.exercise) for subject in subjects]
    # replies may hold any numbers
    with np.errstate(all="ignore"), opened(grading, submission, exercises) as copies:
        drawing = Drawing(copies, subjects, seed)
        drawn_questions = list[Question]()
        for question in drawing.questions(number):
            drawn_questions.append(question)
            progress(len(drawn_questions))
        if drawing.left_behind():
            return dataclasses.replace(empty, notes=(LEFT_BEHIND,))
    names = [subject.target for subject in subjects]
    asked = sorted({question.function for question in drawn_questions}, key=names.index)
    trained = any(subject.training for subject in subjects if subject.target in asked)
    notes = [IN_EVAL] if trained else []
    notes += [subject.note for subject in subjects if subject.target in asked and subject.note]
    notes += [f"no questions about {name}: {why}" for name, why in drawing.unfit.items()]
    if len(drawn_questions) < number:
        notes.append(
            f"only {len(drawn_questions)} of {number} questions can be asked about these functions"
        )
    listings = tuple(map(drawing.listing, asked))
    return dataclasses.replace(
        empty, listings=listings, questions=tuple(drawn_questions), notes=tuple(notes)
    )
