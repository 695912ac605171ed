"""Have a submission's sources inspected, behind the door; see inspector.py."""

import dataclasses
from collections.abc import Collection, Iterable, Mapping

from tensormark.intake.door import DOOR, Answer
from tensormark.intake.flags import Flag
from tensormark.intake.inspector import TOO_COMPLEX, Row, inspect
from tensormark.intake.submission import Submission

SECONDS = 0.8  # of processor time for all sources; the solution takes a twentieth of one


def run(sources: Mapping[str, str], packages: Collection[str], seconds: float) -> Answer:
    """Run the inspector.

    Raises:
        InspectionError: it does not work here.
    """
    return DOOR.ask("inspect", seconds, {"sources": dict(sources), "packages": [*packages]})


def with_findings(
    submission: Submission, modules: Iterable[str], rows: Iterable[Row]
) -> Submission:
    """Return a submission with what was found in its sources.

    Args:
        modules: those of the rows.
    """
    sources, faults = dict(submission.sources), dict(submission.faults)
    flags, hints = dict(submission.flags), dict(submission.hints)
    for module, row in zip(modules, rows, strict=False):
        if row["fault"]:
            sources[module], faults[module] = "", row["fault"]
        else:
            flags[module] = [Flag(**found) for found in row["flags"]]
            hints |= {f"{module}.{path}": hint for path, hint in row["hints"].items()}
    return dataclasses.replace(submission, sources=sources, faults=faults, flags=flags, hints=hints)


def inspected(submission: Submission, packages: Collection[str] = ()) -> Submission:
    """Inspect an untrusted submission.

    A source at which the inspector ends is left out the next time. Each time may take half of what
    is left of the time for all of them.

    Args:
        packages: whose import is flagged.

    Raises:
        InspectionError: the inspector does not work here.
    """
    left = SECONDS
    while True:
        sources = {module: text for module, text in submission.sources.items() if text}
        modules = [*sources]
        if not modules:
            return submission
        answer = run(sources, packages, left / 2)
        if len(answer.rows) >= len(modules):
            return with_findings(submission, modules, answer.rows)
        left -= min(answer.seconds, left / 2)
        ended_at = modules[len(answer.rows)]
        fault = {"fault": f"{ended_at}.py: {TOO_COMPLEX}"}
        submission = with_findings(submission, [ended_at], [fault])


def inspected_here(submission: Submission) -> Submission:
    """Inspect one of your own, never a student's, in this process."""
    pairs = list(inspect(submission.sources))
    return with_findings(submission, *zip(*pairs, strict=True)) if pairs else submission
