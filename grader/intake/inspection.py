"""Have a submission's sources inspected, in a process of its own; see inspector.py.

Covered: whatever is written in a source, it costs this process no more than reading its text.
"""

import dataclasses
import json
import marshal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.intake.flags import Flag
from grader.intake.inspector import TOO_COMPLEX, Row, inspect
from grader.intake.submission import Submission

INSPECTOR = Path(__file__).with_name("inspector.py")
DEADLINE = 60.0  # seconds; processor time is limited, so that only a busy machine takes as long


class InspectionError(Exception):
    """The inspector does not work here, which is not the submission's fault."""


def run(sources: Mapping[str, str]) -> list[Row]:
    """Run the inspector; return its lines.

    Raises:
        InspectionError: it does not start, or does not end.
    """
    request = {"sources": dict(sources)}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-B", str(INSPECTOR)],
            input=marshal.dumps(request),
            capture_output=True,
            timeout=DEADLINE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InspectionError(f"sources cannot be inspected: {error}") from error
    if done.returncode > 0:  # less than 0: it was ended at a limit
        said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise InspectionError(f"sources cannot be inspected: {said[:200]}")
    lines = done.stdout.split(b"\n")[:-1]  # the last one may be incomplete
    return [json.loads(line) for line in lines]


def with_findings(
    submission: Submission, modules: Iterable[str], rows: Iterable[Row]
) -> Submission:
    """Return a submission with what was found in its sources.

    Args:
        modules: those of the rows.
    """
    sources, faults = dict(submission.sources), dict(submission.faults)
    flags = dict(submission.flags)
    for module, row in zip(modules, rows, strict=False):
        if row["fault"]:
            sources[module], faults[module] = "", row["fault"]
        else:
            flags[module] = [Flag(**found) for found in row["flags"]]
    return dataclasses.replace(submission, sources=sources, faults=faults, flags=flags)


def inspected(submission: Submission) -> Submission:
    """Inspect an untrusted submission.

    Raises:
        InspectionError: the inspector does not work here.
    """
    while True:
        sources = {module: text for module, text in submission.sources.items() if text}
        modules = [*sources]
        rows = run(sources) if sources else []
        if len(rows) == len(modules):
            return with_findings(submission, modules, rows)
        ended_at = modules[len(rows)]
        fault = {"fault": f"{ended_at}.py: {TOO_COMPLEX}"}
        submission = with_findings(submission, [ended_at], [fault])


def inspected_here(submission: Submission) -> Submission:
    """Inspect one of your own, never a student's, in this process."""
    pairs = list(inspect(submission.sources))
    return with_findings(submission, *zip(*pairs, strict=True)) if pairs else submission
