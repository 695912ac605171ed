"""An appeal: regrade one student and print what differs."""

from typing import TYPE_CHECKING

from tensormark.classroom import standing
from tensormark.classroom.failure import Stopped
from tensormark.classroom.jobs.store import Attempt
from tensormark.classroom.standing import Student
from tensormark.classroom.summary import LEFT
from tensormark.intake.submission import SubmissionError
from tensormark.reports.text import points
from tensormark.sandbox.interface import printable
from tensormark.usage import option

if TYPE_CHECKING:
    from tensormark.classroom.run import Run


def _student(run: "Run", name: str) -> Student:
    student = run.students.find(name)
    if student is None:
        several = run.students.names.candidates(name)
        what = "matches several students" if several else "there is no such student"
        fix = "use a name from the `student` column of gradebook.csv"
        raise SubmissionError(f"{option('only', name)}: {what}; {fix}")
    return student


def _stored_attempt(run: "Run", student: Student) -> Attempt | None:
    """Return the attempt with which a student's new result is compared.

    Raises:
        SubmissionError: it was graded with different references.
    """
    name = student.hand_in.student
    stored = run.store.earlier(name, run.terms.mode)
    references = stored.result["references"] if stored and stored.result else None
    if references not in (None, run.terms.references) and not run.options.force:
        raise SubmissionError(
            f"{option('only', name)}: was graded with different references; give the same "
            f"{option('references')}, or compare anyway with {option('force', True)}"
        )
    return stored


def _compare(name: str, stored: Attempt | None, last: Attempt) -> None:
    assert last.result is not None
    now = f"{points(last.result['score'])} / {points(last.result['max_score'])}"
    if stored is None or stored.result is None:
        print(f"{name}: {now}; there was no result before")
        return
    before = stored.result
    lines = standing.differences(before, last.result)
    was = f"{points(before['score'])} / {points(before['max_score'])}"
    print(f"{name}: {was} before, {now} now; {'these differ:' if lines else 'no exercise differs'}")
    print("".join(f"{line}\n" for line in lines), end="")


def _rewrite_gradebook(run: "Run", name: str, last: Attempt) -> int:
    """Rewrite the gradebook if it belongs to this run; return the exit status."""
    left = standing.by_kind(run.students.entries(run.terms))[LEFT]
    if run.compares_only:
        print("the gradebook is unchanged, because it belongs to another run")
        return 0 if last.complete else 3
    if not left:
        return run.report(name)
    print(f"the gradebook is unchanged: this grader has yet to grade {len(left)} more")
    return 0 if last.complete else 3


def appeal(run: "Run", name: str) -> int:
    """Regrade one student, print what differs, and return the exit status.

    Raises:
        SubmissionError: there is no such student, or there is nothing to grade.
    """
    student = _student(run, name)
    name = student.hand_in.student
    if student.work is None:
        raise SubmissionError(f"{option('only', name)}: {student.fault}")
    stored = _stored_attempt(run, student)
    try:
        run.grade([student.work])
        if not run.compares_only and (asks := run.asks(name)):
            run.ask(asks)
    except Stopped:
        print("stopped; the gradebook is unchanged")
        return 130
    last = run.store.newest(student.work.digest, run.terms)
    assert last is not None
    if last.result is None:
        print(f"{printable(name)}: could not be graded: {last.problem}")
        return 3
    _compare(printable(name), stored, last)
    return _rewrite_gradebook(run, name, last)
