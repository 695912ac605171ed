"""Find out what the grader has to know of a submission's sources, without running them.

As a script, `python -I -S inspector.py`, this reads sources from standard input and writes a line
of JSON for each source, in order, as it gets done with it: whoever reads them knows from the next
one which source it ended at, if it did.

Covered: memory and processor time of the parser, the compiler and flags.py, which take the square
of a source's length, or a thousand times its size, where it was written for that. They run in this
process only, and a source that exceeds the limits is not Python that can be graded. Not covered:
systems without such limits, where people grade their own code.
"""

import ast
import dataclasses
import json
import marshal
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # `-I` keeps the environment, the current folder and this script's folder out of sys.path
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.intake.flags import Flag, flags
from grader.intake.syntax import explained, shown

SECONDS = 5  # of processor time; the solution takes a tenth of one
MEMORY = 512 << 20  # bytes of address space
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


def inspect(sources: Mapping[str, str]) -> Iterator[tuple[str, Row]]:
    """Yield what there is to know of each source.

    Yields: the module; and `fault` and `flags`.
    """
    for module, text in sources.items():
        tree, fault = parsed(f"{module}.py", text)
        yield module, {"fault": fault, "flags": rows(flags(tree))}


def limit() -> None:
    """Limit memory, processor time and core dumps, if the system supports such limits."""
    try:
        import resource  # missing on Windows
    except ImportError:
        return
    wanted = [
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_CORE, 0),
    ]
    for kind, bound in wanted:
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))


def main() -> None:
    """Inspect the sources on standard input."""
    request = marshal.load(sys.stdin.buffer)
    limit()
    warnings.simplefilter("ignore")  # about a student's code; they would be printed as they are
    try:
        for _, row in inspect(request["sources"]):
            print(json.dumps(row), flush=True)
    except (RecursionError, MemoryError):
        sys.exit(0)  # what is missing says where


if __name__ == "__main__":
    main()
