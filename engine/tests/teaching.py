"""Made-up classes of the toy assignment, and what teach.html says about them."""

import datetime
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tensormark.classroom.entry import Entry, HandIn
from tensormark.classroom.jobs.store import Attempt
from tensormark.classroom.jobs.work import Work
from tensormark.classroom.reports import teach
from tensormark.classroom.reports.lesson import Lesson, lesson_of
from tensormark.classroom.run import Run
from tensormark.exercise import Assignment
from tensormark.references import References
from tensormark.result import Finding, Grade, Outcome, Result

PASSED, DEADLINE = "passed", datetime.datetime(2027, 3, 1, 18, tzinfo=datetime.UTC)
MISSING = "the last window is missing"


def result(conv: str | None, text: str = "", score: float = 0.0) -> dict[str, Any]:
    """Return a result whose conv passed, or failed with this mistake, or with an unnamed one."""
    wrong = Result(
        "conv",
        Outcome.FAILED,
        score,
        40,
        (Finding(f"raised ValueError: {text}", (text,), conv),),
        note=text,
        flags=(text,),
        title=f"a title {text}",
    )
    right = Result("conv", Outcome.PASSED, 40, 40)
    detector = Result("detector", Outcome.PASSED, 40, 40)
    detection = Result("detection", Outcome.NOT_WRITTEN, 0, 20)
    results = [right if conv == PASSED else wrong, detector, detection]
    name = f"{text}.py"
    return Grade(name, "process", results, [text], [text], name=name, printed=text).as_json()


def students(*graded: dict[str, Any], name: str = "s") -> list[Entry]:
    ids = [f"{name}{number}" for number in range(len(graded))]
    pairs = zip(ids, graded, strict=True)
    return [Entry(HandIn(id, id, Path(f"in/{id}")), result) for id, result in pairs]


def made(*mistakes: str | None) -> list[Entry]:
    return students(*(result(mistake) for mistake in mistakes))


def lesson(assignment: Assignment, entries: Sequence[Entry], **more: Any) -> Lesson:
    recorded = References(assignment.references).manifest["exercises"]
    return lesson_of(assignment, recorded, entries, **more)


def grade_at_once(patch: Any, result: Callable[[Work], dict[str, Any]]) -> None:
    """Give each submission of a run the result that this function returns, without workers."""

    def grade(self: Run, works: Sequence[Work]) -> None:
        for work in works:
            model = result(work) | {"references": self.terms.references}
            self.store.add(work.digest, self.terms, Attempt("here", 1.0, "", model))

    patch.setattr(Run, "grade", grade)


def words(page: str, section: str = "") -> str:
    """Return the text of a page or of one section, including the alt texts of figures."""
    if section:
        (page,) = re.findall(rf'<section id="{section}".*?</section>', page, flags=re.S)
    plain = re.sub(r"<style>.*?</style>", "", page, flags=re.S)
    return " ".join(re.sub(r"<[^>]*>", " ", plain).split())


def shown(assignment: Assignment, entries: Sequence[Entry], section: str = "", **more: Any) -> str:
    return words(teach.page(lesson(assignment, entries, **more)), section)


CONV = "exercise-conv"
