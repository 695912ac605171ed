"""The installed packages that a submission may use: those that are required, and what these need.

Their files are found by what installers have recorded, in whatever folders they lie. Folders of
packages are otherwise hidden, so that nothing else that is installed here can be read: it may be
what an exercise asks for, or be missing where the next submission is graded.

Covered: packages that were installed with a record of their files, and Debian's. Not covered: a
package without either, which is missing in the sandbox as a whole.
"""

import functools
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
FOLDERS = ("site-packages", "dist-packages")
WORKER = ("torch", "numpy", "safetensors", "pyseccomp")  # what tensormark/worker needs itself


def listed(requirements: Path) -> list[str]:
    """Return the names of the packages that a file of requirements lists."""
    lines = requirements.read_text(encoding="utf-8").splitlines()
    return [found[0] for line in lines if (found := NAME.match(line)) is not None]


def needs(distribution: Distribution) -> Iterator[str]:
    """Yield what a package requires, but not what only its extras require."""
    about = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    for line in about.split("\n\n", 1)[0].splitlines():
        key, _, value = line.partition(": ")
        found = NAME.match(value)
        if key == "Requires-Dist" and found is not None and "extra ==" not in value:
            yield found[0]


def installed(names: Sequence[str], folders: Sequence[str]) -> list[Distribution]:
    """Return the distributions of these packages and of what they require, as far as installed."""
    waiting, found, seen = list(names), [], set()
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        made = next(iter(Distribution.discover(name=name, path=list(folders))), None)
        if made is not None:
            found.append(made)
            waiting += needs(made)
    return found


def entries(distribution: Distribution) -> Iterator[Path]:
    """Yield a package's files and folders, at the top of the folder that it was installed in."""
    record = distribution.read_text("RECORD")
    names = {line.split(",", 1)[0].strip('"') for line in (record or "").splitlines()}
    names |= set((distribution.read_text("top_level.txt") or "").split() if not record else ())
    tops = {"/".join(name.split("/")[: 2 if "__pycache__" in name[:12] else 1]) for name in names}
    for top in sorted(tops - {"", "..", "__pycache__"}):
        for suffix in ("",) if record else ("", ".py"):
            path = Path(str(distribution.locate_file(f"{top}{suffix}")))
            if path.exists():
                yield path


def paths(requirements: Path, folders: Sequence[str], also: Sequence[str] = ()) -> list[str]:
    """Return the files and folders of what is required, in folders of packages.

    Args:
        also: the names of further packages.

    Raises:
        PackageNotFoundError: nothing that is required is installed there.
    """
    found = installed(listed(requirements), folders)
    if not found:
        raise PackageNotFoundError(str(requirements))
    found += installed(also, folders)
    return sorted({str(path.absolute()) for one in found for path in entries(one)})


@functools.cache
def packages(requirements: Path) -> tuple[str, ...]:
    """Return the files and folders of what submissions may use, as installed here."""
    return tuple(paths(requirements, [entry or "." for entry in sys.path], WORKER))


@functools.cache
def modules(requirements: Path) -> tuple[str, ...]:
    """Return the names of the modules and packages among them; none: nothing is recorded."""
    try:
        names = {Path(path).name.partition(".")[0] for path in packages(requirements)}
        return tuple(sorted(name for name in names if name.isidentifier()))
    except PackageNotFoundError:
        return ()


def folders(requirements: Path) -> list[str]:
    """Return the folders that these packages lie in, in the order in which Python searches them."""
    inside = {str(Path(path).parent) for path in packages(requirements)}
    return [entry for entry in dict.fromkeys(sys.path) if entry in inside]


def hidden(roots: Sequence[Path]) -> list[Path]:
    """Return the folders of packages below the libraries of systems and Pythons."""
    named = {path for root in roots for name in FOLDERS for path in root.glob(f"python*/{name}")}
    return sorted({path.resolve() for path in named if path.is_dir()})


def around(path: Path, left_out: Sequence[Path]) -> Iterator[Path]:
    """Yield files and folders that together are a folder without some that lie below it."""
    if not any(one.is_relative_to(path) for one in left_out):
        yield path
    elif path not in left_out:
        for entry in sorted(path.iterdir()):
            if not entry.is_symlink():  # what it leads to has an entry of its own
                yield from around(entry, left_out)
