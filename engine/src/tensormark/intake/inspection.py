"""Have a submission's sources inspected in the process with limits; see door.py, inspector.py."""

import dataclasses
from collections.abc import Iterable

from tensormark.intake.door import DOOR
from tensormark.intake.inspector import TOO_COMPLEX, Row, inspect
from tensormark.intake.submission import Submission

SECONDS = 0.8  # of processor time for all sources; the solution takes a twentieth of one


def _with_findings(
    submission: Submission, modules: Iterable[str], rows: Iterable[Row]
) -> Submission:
    """Return a submission with what the inspector found.

    Args:
        modules: the module of each row.
    """
    sources, faults = dict(submission.sources), dict(submission.faults)
    hints = dict(submission.hints)
    for module, row in zip(modules, rows, strict=False):
        if row["fault"]:
            sources[module], faults[module] = "", row["fault"]
        else:
            hints |= {f"{module}.{path}": hint for path, hint in row["hints"].items()}
    return dataclasses.replace(submission, sources=sources, faults=faults, hints=hints)


def inspected(submission: Submission) -> Submission:
    """Inspect an untrusted submission.

    Each attempt may take half of the remaining time. If it breaks off, the next one goes on with
    the source that it broke off at: only an attempt's first source is to blame for its end.

    Raises:
        InspectionError: the inspector does not work on this machine.
    """
    remaining = SECONDS
    left = {module: text for module, text in submission.sources.items() if text}
    while left:
        answer, modules = DOOR.ask("inspect", remaining / 2, {"sources": left}), [*left]
        rows = answer.rows or [{"fault": f"{modules[0]}.py: {TOO_COMPLEX}"}]
        submission = _with_findings(submission, modules, rows)
        remaining -= min(answer.seconds, remaining / 2)
        left = {module: left[module] for module in modules[len(rows) :]}
    return submission


def inspected_here(submission: Submission) -> Submission:
    """Inspect a submission in this process: only your own, never a student's."""
    return _with_findings(submission, submission.sources, inspect(submission.sources))
