"""The state of a class: what was handed in, what is graded, and what is left to do."""

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tensormark.classroom import summary
from tensormark.classroom.entry import Entry, HandIn, first_of, number_of
from tensormark.classroom.jobs.store import Attempt, Store, verdict
from tensormark.classroom.jobs.work import Terms, Work, named, read_work
from tensormark.classroom.students.hand_ins import UNREAD
from tensormark.classroom.students.names import Names
from tensormark.classroom.students.owners import STRANGERS
from tensormark.intake.given_files import GivenFiles
from tensormark.intake.submission import Part, SubmissionError
from tensormark.reports.text import points, visible
from tensormark.sandbox.interface import printable

EVERY = 2.0  # seconds between lines on the progress of reading
LISTED = 20  # students of each kind that are named on the terminal


@dataclasses.dataclass(frozen=True)
class Student:
    """A hand-in, read.

    Attributes:
        work: what to grade; None if there is nothing, and then `fault` says why.
    """

    hand_in: HandIn
    work: Work | None
    fault: str = ""


def _student(hand_in: HandIn, given: GivenFiles) -> Student:
    if hand_in.path is None:
        return Student(hand_in, None, hand_in.fault or summary.NOT_IN)
    try:
        parts = hand_in.parts or [Part.under(hand_in.path.parent, hand_in.path)]
        return Student(hand_in, read_work(parts, given))
    except SubmissionError as error:
        return Student(hand_in, None, str(error))


def read_all(
    hand_ins: Sequence[HandIn], given: GivenFiles, say: Callable[[str], None]
) -> Iterator[Student]:
    """Read what everybody has handed in, and report progress."""
    last_line = time.monotonic()
    say(f"reading what {number_of(len(hand_ins), 'student')} handed in")
    for count, hand_in in enumerate(hand_ins):
        if time.monotonic() - last_line > EVERY:
            last_line = time.monotonic()
            say(f"{count} of {len(hand_ins)} read")
        yield _student(hand_in, given)


class Class:
    """The students, and a store with their results."""

    def __init__(
        self,
        hand_ins: Sequence[HandIn],
        given: GivenFiles,
        store: Store,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Read all submissions, and record who has handed in what.

        Raises:
            InspectionError: nothing can be read on this machine.
        """
        self.store, self.names = store, Names(hand_ins)
        self.students = list(read_all(hand_ins, given, say))
        handed_in = {
            student.hand_in.student: (student.work.digest, student.hand_in.path)
            for student in self.students
            if student.work is not None and student.hand_in.path is not None
        }
        store.record(handed_in)

    def works(self) -> dict[str, Work]:
        """Return all work by its digest; the same work of several students counts once."""
        works = (student.work for student in self.students)
        return {work.digest: work for work in works if work is not None}

    def left(self, terms: Terms, force: bool) -> list[Work]:
        """Return the work to grade: what has no complete result yet, or all of it."""
        graded = set() if force else self.store.graded(terms)
        return [work for name, work in self.works().items() if name not in graded]

    def unread(self) -> list[Entry]:
        """Return the entries of those who have nothing to grade."""
        students = [student for student in self.students if student.work is None]
        return [Entry(student.hand_in, problem=student.fault, attempts=0) for student in students]

    def find(self, name: str) -> Student | None:
        """Return the student whom a name means; None if there is none, or several."""
        found = self.names.find(name)
        return next((each for each in self.students if each.hand_in.student == found), None)

    def entry(self, student: Student, terms: Terms) -> Entry:
        """Return a student's line of the gradebook."""
        hand_in, work = student.hand_in, student.work
        if work is None or hand_in.path is None:
            return Entry(hand_in, problem=student.fault, attempts=0)
        attempt = self.store.last(work.digest, terms)
        if attempt is None:
            return Entry(hand_in, problem=summary.LEFT, attempts=0, sources=work.sources)
        return Entry(
            hand_in=hand_in,
            result=attempt.result and named(attempt.result, hand_in.path),
            problem=attempt.problem,
            previous=self.previous(hand_in.student, attempt, terms.mode),
            seconds=attempt.seconds,
            attempts=self.store.tries(work.digest, terms),
            sources=work.sources,
        )

    def previous(self, student: str, attempt: Attempt, mode: str) -> Mapping[str, Any] | None:
        """Return a student's result before this one, if its verdict differs."""
        earlier = self.store.earlier(student, mode, attempt.number)
        if earlier is None or earlier.result is None or attempt.result is None:
            return None
        return earlier.result if verdict(earlier.result) != verdict(attempt.result) else None

    def entries(self, terms: Terms) -> list[Entry]:
        """Return the lines of the gradebook."""
        return [self.entry(student, terms) for student in self.students]


def by_kind(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Return the entries by kind; each has exactly one."""
    kinds: dict[str, list[Entry]] = {kind: [] for kind in summary.KINDS}
    for entry in entries:
        kinds[summary.kind_of(entry)].append(entry)
    return kinds


def counted(kinds: Mapping[str, Sequence[Entry]]) -> str:
    """Return how many students of each kind there are."""
    total = sum(map(len, kinds.values()))
    present = [kind for kind in kinds if kinds[kind] or kind == summary.GRADED]
    parts = [f"{len(kinds[kind])} {kind}" for kind in present]
    return f"{number_of(total, 'student')}: {', '.join(parts)}"


def _reason(entry: Entry) -> str:
    if entry.result is None:
        return entry.problem
    ungraded = [exercise for exercise in entry.result["exercises"] if exercise["score"] is None]
    return f"{', '.join(exercise['id'] for exercise in ungraded)}: {ungraded[0]['message']}"


def listed(kinds: Mapping[str, Sequence[Entry]]) -> Iterator[str]:
    """Yield a line for each student without a complete result, or not on the class list."""
    everybody = [entry for each in kinds.values() for entry in each]
    unfinished = (*summary.OURS, summary.UNREAD, summary.NOT_IN)
    shown = {kind: kinds[kind] for kind in unfinished}
    for label in STRANGERS:
        shown[label] = [entry for entry in everybody if label in entry.hand_in.notes]
    for kind, entries in shown.items():
        for entry in entries[:LISTED]:
            clear = kind in (summary.NOT_IN, *STRANGERS)
            more = "" if clear else f": {printable(_reason(entry))[:200]}"
            yield f"  {kind}: {printable(entry.hand_in.called)}{more}"
        if len(entries) > LISTED:
            yield f"  {kind}: and {len(entries) - LISTED} more"
    notes = [(entry, note) for entry in everybody for note in entry.hand_in.notes]
    unread = [visible(entry.hand_in.called, 60) for entry, note in notes if note.startswith(UNREAD)]
    if unread:
        yield f"  {UNREAD}{first_of(unread)}"


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return a line for each exercise whose outcome or score differs."""
    old, new = verdict(before), verdict(after)
    lines = []
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            lines.append(f"  {name}: {_in_words(old.get(name))}, now {_in_words(new.get(name))}")
    return lines


def _in_words(standing: tuple[str, float | None] | None) -> str:
    if standing is None:
        return "not asked for"
    outcome, score = standing
    return outcome if score is None else f"{outcome} ({points(score)})"
