"""The result of a submission that kills the process grading it each time it is tried."""

from typing import Any

from tensormark.classroom.work import Terms
from tensormark.exercise import Assignment
from tensormark.grading import selected
from tensormark.intake.submission import Submission
from tensormark.references import References
from tensormark.result import Finding, Grade, Outcome, Result

HEADLINE = "the submission kills the process that grades it"
DETAILS = (
    "it did so on every attempt, the last time with nothing else running",
    "it may allocate far more memory than it needs",
)
FLAG = f"{HEADLINE}: no exercise has points, and a person should check it"


def result_of_killed(
    submission: Submission, terms: Terms, references: References, assignment: Assignment
) -> dict[str, Any]:
    """Return a result model in which everything that was handed in is wrong."""
    exercises, _, notes = selected(assignment, terms.check, None, references)
    finding = Finding(HEADLINE, DETAILS)
    results = [
        Result.of(exercise, Outcome.NOT_WRITTEN)
        if exercise.extension and exercise.module not in submission.sources
        else Result.of(exercise, Outcome.FAILED, findings=(finding,))
        for exercise in exercises
    ]
    return Grade(
        submission=assignment.main_file,
        name=assignment.main_file,
        tier=terms.tier,
        results=results,
        notes=[*submission.notes, *notes],
        flags=[FLAG],
        assignment=assignment.name,
        mode="check" if terms.check else "grade",
        private=references.private,
        reference_digest=references.digest,
    ).as_json()
