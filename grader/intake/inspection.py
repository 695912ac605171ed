"""Have a submission's sources inspected, behind the door; see inspector.py."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from grader.exercise import Assignment
from grader.intake.door import DOOR, Answer
from grader.intake.inspector import TOO_COMPLEX, Hole, Row, inspect
from grader.intake.policy import Offence
from grader.intake.submission import Submission

SECONDS = 0.8  # of processor time for all sources; the solution takes a twentieth of one


def holes_of(assignment: Assignment) -> list[Hole]:
    """List the holes of an assignment, in order."""
    return [
        Hole(e.id, e.module, tuple(dict.fromkeys(c.target for c in e.calls)), tuple(e.forbidden))
        for e in assignment.exercises
        if e.probes
    ]


def run(
    sources: Mapping[str, str], assignment: Assignment, holes: Sequence[Hole], seconds: float
) -> Answer:
    """Run the inspector.

    Raises:
        InspectionError: it does not work here.
    """
    policy = dataclasses.asdict(assignment.policy)
    request = {"sources": dict(sources), "policy": policy, "holes": [tuple(hole) for hole in holes]}
    return DOOR.ask("inspect", seconds, request)


def with_findings(
    submission: Submission, modules: Iterable[str], rows: Iterable[Row]
) -> Submission:
    """Return a submission with what was found in its sources.

    Args:
        modules: those of the rows.
    """
    sources, faults = dict(submission.sources), dict(submission.faults)
    flags, offences = dict(submission.flags), dict(submission.offences)
    for module, row in zip(modules, rows, strict=False):
        if "exercise" in row:
            offences[row["exercise"]] = [Offence(**found) for found in row["offences"]]
        elif row["fault"]:
            sources[module], faults[module] = "", row["fault"]
        else:
            flags[module] = [Offence(**found) for found in row["flags"]]
    return dataclasses.replace(
        submission, sources=sources, faults=faults, flags=flags, offences=offences
    )


def inspected(submission: Submission, assignment: Assignment) -> Submission:
    """Inspect an untrusted submission.

    A source at which the inspector ends is left out the next time. Each time may take half of what
    is left of the time for all of them.

    Raises:
        InspectionError: the inspector does not work here.
    """
    left = SECONDS
    while True:
        sources = {module: text for module, text in submission.sources.items() if text}
        holes = [hole for hole in holes_of(assignment) if hole.module in sources]
        modules = [*sources, *(hole.module for hole in holes)]
        if not modules:
            return submission
        answer = run(sources, assignment, holes, left / 2)
        if len(answer.rows) >= len(modules):
            return with_findings(submission, modules, answer.rows)
        left -= min(answer.seconds, left / 2)
        ended_at = modules[len(answer.rows)]
        fault = {"fault": f"{ended_at}.py: {TOO_COMPLEX}"}
        submission = with_findings(submission, [ended_at], [fault])


def inspected_here(submission: Submission, assignment: Assignment) -> Submission:
    """Inspect one of your own, never a student's, in this process."""
    holes = [hole for hole in holes_of(assignment) if hole.module in submission.sources]
    pairs = list(inspect(submission.sources, assignment.policy, holes))
    return with_findings(submission, *zip(*pairs, strict=True)) if pairs else submission
