"""The files that a run of the gate depends on: those its process imported or read, with digests.

No list has to be maintained: a run records its files, and is repeated if one of them has changed.
"""

import ast
import functools
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from instructor import ROOT
from tensormark.files import digest, sha256

CARD = "README.md"  # of a folder; no program reads it


class Reading:
    """Records the files of this repository that this process imports or reads from now on."""

    def __init__(self, checkpoint: Path, data: Path) -> None:
        """Begin.

        Args:
            checkpoint: a folder; all its files count, as the libraries that read the weights and
                the tokenizer do not open them through Python.
            data: a folder; only the files that are opened count.
        """
        self.folders = ROOT, checkpoint.resolve(), data.resolve()
        self.opened = {path.resolve() for path in checkpoint.iterdir() if path.name != CARD}
        sys.addaudithook(self.note)

    def note(self, event: str, arguments: Any) -> None:
        """Record a file that Python opens."""
        if event == "open" and isinstance(arguments[0], str):
            self.opened.add(Path(arguments[0]).absolute())

    def paths(self) -> Iterator[Path]:
        """Yield the files so far, except those of Python and its packages."""
        origins = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        for path in self.opened.union(Path(origin).resolve() for origin in origins if origin):
            ours = any(path.is_relative_to(folder) for folder in self.folders)
            if ours and not path.is_relative_to(sys.prefix) and path.suffix != ".pyc":
                yield path

    def digests(self) -> dict[str, str]:
        """Return the digests of the files so far, by path in this repository."""
        paths = sorted(path for path in self.paths() if path.is_file())
        return {_name(path): digest_of(path) for path in paths}


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def _plain(node: Any) -> Any:
    """Return a syntax tree as lists and texts that are equal in all versions of Python.

    Newer versions have more fields, which are empty here; 3.12.0 and 3.12.1 end a format such as
    `{x:{width}}` with an empty text.
    """
    if isinstance(node, ast.JoinedStr):
        node = ["JoinedStr", *(part for part in node.values if getattr(part, "value", "") != "")]
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if isinstance(node, ast.AST):
        fields = [[name, _plain(value)] for name, value in ast.iter_fields(node) if value != []]
        return [type(node).__name__, *(field for field in fields if field[1] != "None")]
    return repr(node)


@functools.cache
def digest_of(path: Path) -> str:
    """Return a file's digest; in a program, comments and docstrings do not count."""
    if path.suffix != ".py":
        return sha256(path)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = None
    return digest(str(_plain(tree)).encode())


def unchanged(files: Mapping[str, str]) -> bool:
    """Return whether the files still have the digests of a run."""
    try:
        return bool(files) and all(digest_of(ROOT / name) == was for name, was in files.items())
    except (OSError, SyntaxError, ValueError):
        return False
