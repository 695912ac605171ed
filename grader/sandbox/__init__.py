"""Where a submission's code runs: three tiers behind one interface.

    contained   a container, and in it a locked-down process for each exercise: for strangers' code
    locked      the same process without the container, where none is to be had
    process     a plain process, on any system: for one's own code only

What each covers and what it does not is said in isolated.py and process.py, with figures in
SECURITY.md. A tier that the machine cannot give is an error that says what is missing: nothing
steps down to another tier by itself.
"""

from grader.sandbox.interface import CONTAINED, PROCESS, TIERS, Program, Sandbox
from grader.sandbox.process import ProcessSandbox


def open_sandbox(tier: str, program: Program) -> Sandbox:
    """Open a sandbox of a tier; its `with` block closes it.

    Raises:
        WorkerStartError: the machine cannot give that tier.
    """
    if tier == PROCESS:
        return ProcessSandbox(program)
    if tier not in TIERS:
        raise ValueError(f"there is no tier {tier!r}; there are {', '.join(TIERS)}")
    from grader.sandbox.isolated import IsolatedSandbox  # Linux only; `process` is for any system

    return IsolatedSandbox(program, contained=tier == CONTAINED)
