"""How a worker starts: it imports torch, and limits what it may use."""

import contextlib
import gc
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tensormark.worker import scratch

MEMORY = 16 << 30  # bytes of address space besides torch's; a real model with gradients takes 4


def address_space() -> int:
    """Return the bytes that this process has mapped, if the system tells.

    Limits are on top of these, since builds of torch differ by gigabytes.
    """
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def limit_resources(limits: Mapping[str, int]) -> None:
    """Lower resource limits for good; torch must be imported.

    Args:
        limits: names of the module `resource` to limits.
    """
    import resource  # missing on Windows

    for name, bound in limits.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        lower = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (lower, lower))


def limit_process() -> None:
    """Limit memory and files; forbid core dumps, if the system supports such limits."""
    with contextlib.suppress(ImportError):
        memory = address_space() + MEMORY
        limits = {"RLIMIT_AS": memory, "RLIMIT_CORE": 0, "RLIMIT_FSIZE": scratch.MAX_FILE}
        limit_resources(limits)


def import_torch() -> None:
    """Import torch, where it is installed, and whatever else every submission needs.

    Meanwhile no garbage is collected, which would take a tenth of the time and find hardly any.
    Afterwards torch's objects are left alone, or a child would copy the pages that they are in.
    """
    gc.disable()
    from tensormark.worker import overlay  # noqa: F401
    from tensormark.worker.optional_torch import torch

    if torch:
        from tensormark.worker import warm

        warm.spare_dynamo()
        warm.compile_nothing()
        warm.use_torch()
    gc.freeze()
    gc.enable()


def set_threads(count: int) -> None:
    """Set the number of torch's threads, if it is imported."""
    torch = sys.modules.get("torch")
    if torch:
        torch.set_num_threads(count)
