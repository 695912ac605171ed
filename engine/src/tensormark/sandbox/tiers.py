"""Opens the sandbox of a tier; see this package's docstring."""

from tensormark.sandbox.interface import CONTAINED, PROCESS, TIERS, Program, Sandbox
from tensormark.sandbox.process import ProcessSandbox


def open_sandbox(tier: str, program: Program) -> Sandbox:
    """Open a sandbox of a tier; its `with` block closes it.

    Raises:
        WorkerStartError: the machine cannot give that tier.
    """
    if tier == PROCESS:
        return ProcessSandbox(program)
    if tier not in TIERS:
        raise ValueError(f"there is no tier {tier!r}; choose one of {', '.join(TIERS)}")
    from tensormark.sandbox.isolated import (
        IsolatedSandbox,  # Linux only; `process` runs on any system
    )

    return IsolatedSandbox(program, contained=tier == CONTAINED)
