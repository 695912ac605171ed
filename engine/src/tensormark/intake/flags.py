"""Flag what an instructor may want to look at: names that functions on tensors do not need.

Examples are os and eval; each flag has a line. A flag costs no points: forbidden calls are stopped
when they run (worker/forbidden.py), and code that never runs costs nothing. The functions here take
source texts, or trees parsed from them, and return plain data.
"""

import ast
import dataclasses
import sys
from collections.abc import Collection, Iterator

from tensormark.intake.names import Names, imported

Source = str | ast.Module
# the standard modules that functions on tensors may need: most others read files, execute text or
# inspect the interpreter, some unexpectedly
ORDINARY = set(
    "__future__ abc argparse bisect collections contextlib copy csv dataclasses datetime decimal "
    "enum fractions functools heapq itertools json math numbers random re statistics textwrap time "
    "typing unicodedata warnings".split()
)
# flagged when imported
FLAGGED_MODULES = (sys.stdlib_module_names - ORDINARY) | set(
    "dill cloudpickle requests tensormark grader".split()
)
# flagged when called or aliased
FLAGGED_CALLS = set(
    "open eval exec compile __import__ globals locals vars setattr delattr getattr input "
    "breakpoint memoryview".split()
)
# flagged as attributes of anything
FLAGGED_ATTRIBUTES = set(
    "__globals__ __builtins__ __subclasses__ __code__ __closure__ __reduce__ __import__ __dict__ "
    "__class__ __wrapped__ __bases__ __mro__ __getattribute__ __loader__ __spec__ __cached__ "
    "__file__ __path__ meta_path path_hooks co_consts f_back f_locals f_globals tb_frame "
    "gi_frame _getframe".split()
)
# flagged in torch, with the standard modules that it imports; its private names are flagged too
FLAGGED_IN_TORCH = (
    set("load save compile hub multiprocessing package ops classes library".split())
    | set("jit export fx onnx ao distributed from_file".split())  # compile, load, or define anew
    | set("os sys subprocess ctypes socket importlib inspect gc pickle marshal threading".split())
    | set("io builtins shutil pathlib tempfile glob ast dis traceback linecache weakref".split())
    | set("platform operator atexit zipfile".split())
)


@dataclasses.dataclass(frozen=True)
class Flag:
    """A name that a person should look at, and its line."""

    name: str
    line: int


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and not node.level:
        yield node.module or ""


def _is_flagged(root: str, name: str) -> bool:
    """Say whether a name in a package is flagged, such as a module that the package imports."""
    if root == "torch":
        return name in FLAGGED_IN_TORCH or name.startswith("_")
    return root not in FLAGGED_MODULES and name.lstrip("_") in FLAGGED_MODULES


def _flagged_parts(path: str) -> Iterator[str]:
    """Yield a full name up to its first flagged part, if it has one."""
    root, *names = path.split(".")
    for count, name in enumerate(names, start=1):
        if _is_flagged(root, name):
            yield ".".join([root, *names[:count]])
            return


def _flags_in(names: Names, node: ast.AST, packages: Collection[str]) -> Iterator[Flag]:
    for module in _modules(node):
        if (root := module.split(".")[0]) in FLAGGED_MODULES or root in packages:
            yield Flag(f"import {module}", _line(node))
    used = [path for _, path in imported(node)] + list(names.paths(node))
    for flagged in (part for path in used for part in _flagged_parts(path)):
        yield Flag(flagged, _line(node))
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Name) and called.id in FLAGGED_CALLS:
        yield Flag(f"{called.id}()", _line(node))
    elif isinstance(node, ast.Name) and node.id in FLAGGED_CALLS - names.bound:
        yield Flag(f"{node.id}()", node.lineno)
    elif isinstance(node, ast.Attribute) and node.attr in FLAGGED_ATTRIBUTES:
        yield Flag(f".{node.attr}", node.lineno)


def flags(source: Source, packages: Collection[str] = ()) -> list[Flag]:
    """List what a person should look at in a source; none of it costs points.

    Args:
        packages: further packages whose import the assignment flags.
    """
    tree = ast.parse(source) if isinstance(source, str) else source
    names = Names(tree)
    flagged = {flag for node in names.nodes for flag in _flags_in(names, node, packages)}
    return sorted(flagged, key=lambda flag: (flag.line, flag.name))
