"""Where a submission's code runs: three tiers behind one interface.

    contained   a container, and in it a locked-down process for each exercise: for strangers' code
    locked      the same process without the container, where none is to be had
    process     a plain process, on any system: for one's own code only

What each covers and what it does not is said in contained.py and process.py, with figures in
SECURITY.md. A tier that the machine cannot give is an error that says what is missing: nothing
steps down to another tier by itself.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.process import ProcessSandbox
from grader.wall import (
    CONTAINED,
    LOCKED,
    PROCESS,
    TIERS,
    Limits,
    Printed,
    Progress,
    Reply,
    Request,
    Sandbox,
    WorkerLostError,
    WorkerStartError,
)

__all__ = [
    "CONTAINED",
    "LOCKED",
    "PROCESS",
    "TIERS",
    "Limits",
    "Printed",
    "ProcessSandbox",
    "Progress",
    "Reply",
    "Request",
    "Sandbox",
    "WorkerLostError",
    "WorkerStartError",
    "open_sandbox",
]


def open_sandbox(
    tier: str,
    sources: Mapping[str, str],
    imports: Iterable[str],
    checkpoint: Path,
    threads: int = 1,
    limits: Limits | None = None,
) -> Sandbox:
    """Open a sandbox of a tier; its `with` block closes it.

    Raises:
        WorkerStartError: the machine cannot give that tier.
    """
    if tier == PROCESS:
        return ProcessSandbox(sources, imports, checkpoint, threads, limits)
    if tier not in TIERS:
        raise ValueError(f"there is no tier {tier!r}; there are {', '.join(TIERS)}")
    from grader.contained import IsolatedSandbox  # Linux only; `process` is for any system

    contained = tier == CONTAINED
    return IsolatedSandbox(
        sources, imports, checkpoint, threads, contained=contained, limits=limits
    )
