"""The installed packages that a submission may use: the required ones and their dependencies.

Their files are found by the installers' records, in whatever folders they are. The rest of those
folders is hidden, so that no other installed package can be read: it might implement what an
exercise asks for, or be missing on the machine that grades the next submission.

Covered: packages that were installed with a record of their files, and Debian's. Not covered: any
other package, which is completely missing in the sandbox.
"""

import functools
import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution
from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
FOLDERS = ("site-packages", "dist-packages")
WORKER = ("numpy", "safetensors")  # those that tensormark/worker needs, whatever is required


def requirement_names(requirements: Path) -> list[str]:
    """Return the names of the packages in a requirements file."""
    lines = requirements.read_text(encoding="utf-8").splitlines()
    return [match[0] for line in lines if (match := NAME.match(line)) is not None]


def _requirements_of(distribution: Distribution) -> Iterator[str]:
    """Yield the packages that a package requires, except those that only its extras require."""
    metadata = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    for line in metadata.split("\n\n", 1)[0].splitlines():
        key, _, value = line.partition(": ")
        match = NAME.match(value)
        if key == "Requires-Dist" and match is not None and "extra ==" not in value:
            yield match[0]


@functools.cache
def _found(name: str, folders: tuple[str, ...]) -> Distribution | None:
    return next(iter(Distribution.discover(name=name, path=list(folders))), None)


def installed(names: Sequence[str], folders: Sequence[str]) -> dict[str, Distribution]:
    """Return the distributions of these packages and of their dependencies, if installed."""
    pending = list(names)
    distributions: dict[str, Distribution] = {}
    seen = set()
    while pending:
        name = re.sub(r"[-_.]+", "-", pending.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        distribution = _found(name, tuple(folders))
        if distribution is not None:
            distributions[name] = distribution
            pending += _requirements_of(distribution)
    return distributions


@functools.cache
def _top_entries(distribution: Distribution) -> list[Path]:
    """Return a package's top-level files and folders in the folder that it was installed in."""
    record = distribution.read_text("RECORD")
    if record:
        lines = record.splitlines()
        starts = {line.partition("/")[0] for line in lines}  # a folder, or a file's whole line
        if "__pycache__" in starts:
            shared = [line for line in lines if line.startswith("__pycache__/")]
            starts = {*starts, *shared} - {"__pycache__"}
        tops = {start.partition(",")[0].strip('"') for start in starts}
    else:
        tops = set((distribution.read_text("top_level.txt") or "").split())
    suffixes = ("",) if record else ("", ".py")
    names = map("".join, itertools.product(sorted(tops - {"", ".."}), suffixes))
    paths = [Path(str(distribution.locate_file(name))) for name in names]
    return [path for path in paths if path.exists()]


@functools.cache
def packages(requirements: Path, also: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the files and folders of the packages that submissions may use, as installed here.

    Args:
        also: the names of further packages, such as WORKER.
    """
    folders = [entry or "." for entry in sys.path]
    distributions = installed([*requirement_names(requirements), *also], folders)
    entries = itertools.chain.from_iterable(map(_top_entries, distributions.values()))
    return tuple(sorted({str(path.absolute()) for path in entries}))


@functools.cache
def modules(requirements: Path) -> tuple[str, ...]:
    """Return the names of the modules that submissions may import, besides the standard library.

    Returns: one of that library if nothing is required; none if nothing required has records.
    """
    if not requirement_names(requirements):
        return ("builtins",)
    names = {Path(path).name.partition(".")[0] for path in packages(requirements)}
    return tuple(sorted(name for name in names if name.isidentifier()))


def folders(requirements: Path) -> list[str]:
    """Return the folders of these packages and the worker's, in Python's search order."""
    inside = {str(Path(path).parent) for path in packages(requirements, WORKER)}
    return [entry for entry in dict.fromkeys(sys.path) if entry in inside]


def hidden(roots: Sequence[Path]) -> list[Path]:
    """Return the package folders below these library folders, also by the paths behind links."""
    found = set[Path]()
    for root in roots:
        for path in root.glob("python*/*"):
            if path.name in FOLDERS and path.is_dir():
                found.add(path.resolve())
                if not root.is_symlink():  # a link is one in the container, too
                    found.add(path)
    return sorted(found)


def around(path: Path, excluded: Sequence[Path]) -> Iterator[Path]:
    """Yield files and folders that together are a folder without those excluded below it."""
    if not any(folder.is_relative_to(path) for folder in excluded):
        yield path
    elif path not in excluded:
        for entry in sorted(path.iterdir()):
            if not entry.is_symlink():  # its target has an entry of its own
                yield from around(entry, excluded)
