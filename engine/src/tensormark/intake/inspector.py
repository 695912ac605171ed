"""Find out what the grader has to know of a submission's sources, without running them.

A row for each source, in order, as it gets done with it: whoever reads them knows from the next one
which source it ended at, if it did. Sources that strangers wrote are looked at in limited.py only,
and one that exceeds its limits is not Python that can be graded.
"""

import ast
import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tensormark.intake.flags import Flag, flags
from tensormark.intake.leftovers import hints
from tensormark.intake.syntax import explained, shown

LISTED = 100  # flags of a source at most
TOO_COMPLEX = "too complex to be read"
NOTEBOOK = "a notebook and not Python source; export it as a script"
Row = dict[str, Any]


def rows(found: Sequence[Flag]) -> list[Row]:
    """Return flags as JSON; only the first ones, with short names."""
    short = (dataclasses.replace(one, name=shown(one.name)) for one in found[:LISTED])
    return [dataclasses.asdict(one) for one in short]


def parsed(name: str, text: str) -> tuple[ast.Module, str]:
    """Parse and compile a source; return its tree, and why it cannot be imported, if it cannot."""
    try:
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


def inspect(
    sources: Mapping[str, str], packages: Collection[str] = ()
) -> Iterator[tuple[str, Row]]:
    """Yield what there is to know of each source.

    Yields: the module; and `fault`, `flags` and `hints`, for which see leftovers.py.
    """
    for module, text in sources.items():
        tree, fault = parsed(f"{module}.py", text)
        flagged = rows(flags(tree, packages))
        yield module, {"fault": fault, "flags": flagged, "hints": hints(tree)}


def inspection(request: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows that are asked for, as far as memory reaches."""
    try:
        for _, row in inspect(request["sources"], request["packages"]):
            yield row
    except (RecursionError, MemoryError):  # what is missing says where
        return
