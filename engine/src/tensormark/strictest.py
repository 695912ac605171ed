"""Find the strictest tier that a machine can provide, by running a call in each.

A grading never falls back to a weaker tier by itself; callers of this say which tier they use, and
why no stricter one.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from tensormark.exercise import NUMPY, Assignment, Call
from tensormark.intake.submission import SubmissionError
from tensormark.sandbox.interface import Program, Request, WorkerStartError, printable
from tensormark.sandbox.sandbox import Sandbox
from tensormark.sandbox.tiers import ISOLATING, TIERS
from tensormark.settings import Settings

SOURCE = "def same(x):\n    return x\n"


@dataclasses.dataclass(frozen=True)
class Strictest:
    """The strictest tier, or None, and one line for each stricter tier that is not available."""

    tier: str | None
    reasons: tuple[str, ...]


def strictest_isolating(assignment: Assignment, settings: Settings, fix: str) -> str:
    """Return the strictest tier that isolates other people's code.

    Args:
        fix: how whoever reads the error chooses the tier that does not isolate.

    Raises:
        SubmissionError: there is none on this machine.
    """
    best = strictest(assignment, settings, ISOLATING)
    if best.tier is None:
        reasons = "; ".join(best.reasons)
        raise SubmissionError(
            f"this machine cannot isolate submissions ({reasons}); "
            f"docs/isolation.md says what it needs; for code that you trust, {fix}"
        )
    return best.tier


def strictest(
    assignment: Assignment, settings: Settings, tiers: Sequence[str] = TIERS
) -> Strictest:
    """Return the first of these tiers that this machine can provide."""
    reasons: list[str] = []
    for tier in tiers:
        fault = fault_of(assignment, tier, settings)
        if fault is None:
            return Strictest(tier, tuple(reasons))
        reasons.append(f"{tier}: {fault}")
    return Strictest(None, tuple(reasons))


def fault_of(assignment: Assignment, tier: str, settings: Settings) -> str | None:
    """Run a call in a tier; return why that is impossible, or None.

    Grading can then reuse its slot, which has imported torch.
    """
    program = Program(
        main_file="probe.py",
        editable=("probe.py",),
        sources={"probe": SOURCE},
        imports=("probe",),
        harness=assignment.harness,
        requirements=assignment.requirements,
        checkpoint=settings.checkpoint,
        rules=assignment.rules,
    )
    call = Call("same", ("x",), "probe", kind="function", arrays=NUMPY).message()
    request = Request("probe", frozenset(), call, {"x": np.ones(2, np.float32)})
    try:
        with Sandbox(tier, program) as sandbox:
            (reply,) = sandbox.run([request])
    except (WorkerStartError, OSError) as error:
        return printable(str(error))
    return None if reply.status == "ok" else reply.text
