"""The tiers: how well a submission is isolated.

A new one is a line in ALL, and perhaps a container of its own: see `NoContainer` in container.py,
which says what one may change, and bubblewrap.py.
"""

import dataclasses

from tensormark.sandbox.bubblewrap import Bubblewrap
from tensormark.sandbox.container import NoContainer

CONTAINED = "contained"
LOCKED = "locked"
PROCESS = "process"
HERE = NoContainer()


@dataclasses.dataclass(frozen=True)
class Tier:
    """A tier.

    Attributes:
        allows: what a submission can do all the same.
        container: what its worker runs in.
        isolates: whether each exercise has a process of its own, which is locked down.
    """

    name: str
    allows: str
    container: NoContainer = HERE
    isolates: bool = True


# the strictest first
ALL = (
    Tier(CONTAINED, "what docs/isolation.md lists", Bubblewrap()),
    Tier(LOCKED, "a submission can see names, sizes and times of files, but not their contents"),
    Tier(
        PROCESS,
        "a submission can read the private references and forge its results",
        isolates=False,
    ),
)
BY_NAME = {tier.name: tier for tier in ALL}
TIERS = tuple(BY_NAME)
ISOLATING = tuple(tier.name for tier in ALL if tier.isolates)
