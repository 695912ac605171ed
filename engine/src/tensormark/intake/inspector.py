"""Inspect a submission's sources without running them.

Each source's row is yielded as soon as the source is inspected, so if the inspector dies, the rows
show at which source. Untrusted sources are inspected in limited.py only, and a source that exceeds
the limits there is not graded.
"""

import ast
import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from tensormark.intake.leftovers import hints
from tensormark.intake.syntax import explained, shown

TOO_COMPLEX = "too complex to be read"
NULL = "source code string cannot contain null bytes"
NOTEBOOK = "a notebook and not Python source; export it as a script"
Row = dict[str, Any]


def _parse(name: str, text: str) -> tuple[ast.Module, str]:
    """Return a source's tree, and why it cannot be imported, or ""."""
    try:
        if "\0" in text:
            raise SyntaxError(NULL)  # as from Python 3.11.4 on; a ValueError before
        tree = ast.parse(text, name)
        compile(tree, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        return ast.Module([], []), explained(name, error, text)
    except (RecursionError, MemoryError):
        return ast.Module([], []), f"{name}: {TOO_COMPLEX}"
    except (ValueError, OverflowError, SystemError) as error:
        return ast.Module([], []), f"{name}: not Python source ({shown(str(error))})"
    notebook = text.lstrip().startswith("{") and '"cells"' in text
    return tree, f"{name}: {NOTEBOOK}" if notebook else ""


def inspect(sources: Mapping[str, str]) -> Iterator[Row]:
    """Inspect each source, by module.

    Yields: a row: `fault`, why it cannot be imported, and `hints` (see leftovers.py).
    """
    for module, text in sources.items():
        tree, fault = _parse(f"{module}.py", text)
        yield {"fault": fault, "hints": hints(tree)}


def inspection(request: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows of a request's sources, until memory runs out."""
    with contextlib.suppress(RecursionError, MemoryError):  # missing rows show at which source
        yield from inspect(request["sources"])
