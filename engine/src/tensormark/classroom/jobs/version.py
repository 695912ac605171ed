"""Identifies the grader and assignment of a machine: a digest of both, and package versions."""

import functools
import importlib.metadata
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tensormark.files import digest, sha256
from tensormark.folder import PACKAGE, STAFF_ONLY, VARIABLE, AssignmentError, here
from tensormark.handout import MAIN, PAGES
from tensormark.sandbox.packages import requirement_names

ENGINE = Path(__file__).resolve().parents[2]
# packages that decide no grade, except some modules of classroom/jobs
NOT_GRADING = ("authoring", "classroom", "gradescope", "release", "template")
OF_JOBS = ("parcel", "version", "work", "worker")
# of an assignment; references, checkpoint and data are sent along, and checked on arrival
FILES = (f"{PACKAGE}/**/*.py", "solution/*.py", "starter/*.py", MAIN, PAGES, "requirements.txt")
PACKAGES = ("torch", "numpy", "safetensors")  # besides those that submissions may use
NO_ASSIGNMENT = (
    f"it has no assignment; start it in the folder of one, or with {VARIABLE} set to that folder"
)


def _engine_files() -> Iterator[Path]:
    """Yield the files of tensormark that decide a grade, relative to its own folder."""
    for path in ENGINE.rglob("*.py"):
        inside = path.relative_to(ENGINE)
        if inside.parts[0] not in NOT_GRADING:
            yield inside
    yield from (Path("classroom", "jobs", f"{name}.py") for name in OF_JOBS)


def _assignment_files(folder: Path) -> Iterator[Path]:
    """Yield the files of an assignment that decide a grade, relative to its folder."""
    for path in (path for pattern in FILES for path in folder.glob(pattern)):
        inside = path.relative_to(folder)
        if inside.parts[0] != PACKAGE or inside.parts[1] not in STAFF_ONLY:
            yield inside


@functools.cache
def code(folder: Path) -> str:
    """Return a digest of the files that decide a grade, with those of an assignment.

    It is computed once in a process, so later changes to the files do not show.
    """
    lines = [
        f"{whose} {path.as_posix()} {sha256(root / path)}\n"
        for whose, root, paths in (
            ("tensormark", ENGINE, _engine_files()),
            ("assignment", folder, _assignment_files(folder)),
        )
        for path in sorted(paths)
    ]
    return digest("".join(lines).encode())


def versions(folder: Path) -> dict[str, str]:
    """Return the versions of Python, without its third number, and of packages.

    Args:
        folder: an assignment's; of the packages that it requires, those installed count.
    """
    installed = {"Python": ".".join(platform.python_version_tuple()[:2])}
    requirements = folder / "requirements.txt"
    required = requirement_names(requirements) if requirements.is_file() else []
    for name in dict.fromkeys([*PACKAGES, *required]):
        try:
            installed[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return installed


def about() -> dict[str, Any]:
    """Return what a worker says about itself; its code is "" if it has no assignment."""
    host = platform.node()
    try:
        folder = here()
    except AssignmentError:
        return {"host": host, "code": "", "versions": {}}
    return {"host": host, "code": code(folder), "versions": versions(folder)}


def unfit(answer: Mapping[str, Any], code: str, versions: Mapping[str, str]) -> str:
    """Say why a worker that says this about itself may not grade; "" if it may."""
    if not answer["code"]:
        return NO_ASSIGNMENT
    for name, wanted in versions.items():
        if (installed := answer["versions"].get(name)) != wanted:
            return f"it has {name} {installed}, not {wanted}"
    if answer["code"] != code:
        return "it has different grader code; give it the same, and restart it"
    return ""
