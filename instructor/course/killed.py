"""The result of a submission that ends the process that grades it, each time that it is tried."""

from typing import Any

from grader.assignment import MINBERT
from grader.grading import Grading
from grader.judging.checks import result_of
from grader.references import References
from grader.result import Finding, Grade, Outcome
from grader.selection import selected
from instructor.course.work import Terms, Work

HEADLINE = "the submission ends the process that grades it"
DETAILS = (
    "it did so each time, the last time while nothing else ran there",
    "it may ask for far more memory than it needs",
)
FLAG = f"{HEADLINE}: no exercise has points, and a person should look at it"


def result_of_killed(work: Work, terms: Terms, references: References) -> dict[str, Any]:
    """Return a result model in which nothing is right that was handed in."""
    exercises, shown = selected(MINBERT, terms.mode == "check", None)
    exercises, notes = Grading.without_tasks_left_out(references, exercises)
    finding = Finding(HEADLINE, DETAILS)
    results = [
        result_of(exercise, Outcome.NOT_WRITTEN)
        if exercise.extension and exercise.module not in work.sources
        else result_of(exercise, Outcome.FAILED, (finding,))
        for exercise in exercises
        if exercise.id in shown
    ]
    return Grade(
        submission=MINBERT.main_file,
        name=MINBERT.main_file,
        tier=terms.tier,
        results=results,
        notes=[*work.notes, *notes],
        flags=[FLAG],
        assignment=MINBERT.name,
        mode=terms.mode,
        private=references.private,
        reference_digest=references.digest,
    ).as_json()
