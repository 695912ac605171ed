"""Which grader this machine has: a digest of its code, and the versions of its packages."""

import functools
import importlib.metadata
import platform
from collections.abc import Mapping
from typing import Any

from grader.files import ROOT, digest, sha256

# what decides a grade, besides references, checkpoint and data, which travel
FILES = (
    "grader/**/*.py",
    "solution/*.py",
    "starter/*.py",
    "handout.md",
    "requirements.txt",
    "reference_outputs/manifest.json",  # which tells private references from public ones
    *(f"instructor/course/{name}.py" for name in ("parcel", "version", "work", "worker")),
)
PACKAGES = ("torch", "numpy", "safetensors", "tokenizers")


@functools.cache
def code() -> str:
    """Return a digest of the grader's files; asked again, what it was when a process began."""
    paths = sorted({path for pattern in FILES for path in ROOT.glob(pattern)})
    lines = [f"{path.relative_to(ROOT).as_posix()} {sha256(path)}\n" for path in paths]
    return digest("".join(lines).encode())


def versions() -> dict[str, str]:
    """Return the versions of Python, without its third number, and of the packages."""
    found = {"Python": ".".join(platform.python_version_tuple()[:2])}
    return found | {name: importlib.metadata.version(name) for name in PACKAGES}


def about() -> dict[str, Any]:
    """Return what a worker tells about itself."""
    return {"host": platform.node(), "code": code(), "versions": versions()}


def unfit(found: Mapping[str, Any], code: str, versions: Mapping[str, str]) -> str:
    """Say why a worker that has told this about itself may not grade, or nothing."""
    for name, wanted in versions.items():
        if (there := found["versions"].get(name)) != wanted:
            return f"it has {name} {there}, not {wanted}"
    if found["code"] != code:
        return "it has other code of the grader; copy this repository to it and start it again"
    return ""
