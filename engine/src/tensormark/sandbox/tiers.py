"""Opens the sandbox of a tier; see this package's docstring."""

from tensormark.sandbox.interface import CONTAINED, ISOLATING, PROCESS, TIERS, Program, Sandbox
from tensormark.sandbox.process import ProcessSandbox


def open_sandbox(tier: str, program: Program) -> Sandbox:
    """Open a sandbox of a tier; its `with` block closes it.

    Raises:
        WorkerStartError: the machine cannot give that tier.
    """
    if tier == PROCESS:
        return ProcessSandbox(program)
    if tier in ISOLATING:
        from tensormark.sandbox.isolated import IsolatedSandbox  # on Linux only

        return IsolatedSandbox(program, contained=tier == CONTAINED)
    raise ValueError(f"there is no tier {tier!r}; choose one of {', '.join(TIERS)}")
