"""What an assignment forbids, and what an instructor may want to look at, from the syntax tree.

`offences` cost points: library code that is the exercise itself. `flags` cost nothing: names that
functions on tensors do not need, such as os or eval, with their lines.

Covered: the usual ways of writing such a call or import. Not covered: code that hides what it does
(getattr with a computed name, exec of a built string), which only shows as a flag for getattr or
exec. A person has to read for that; tensors cannot show it, and the sandbox does not depend on it.
"""

import ast
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping

from grader.exercise import Policy

Source = str | ast.Module
# flagged when imported: files, processes, the network, the interpreter's internals
FLAGGED_MODULES = set(
    "os sys subprocess ctypes socket importlib inspect gc pickle marshal shelve dill cloudpickle "
    "threading multiprocessing concurrent asyncio signal atexit resource mmap fcntl pty builtins "
    "shutil pathlib tempfile glob io urllib http requests runpy code codecs ast dis types "
    "traceback linecache faulthandler tracemalloc weakref site sysconfig platform getpass "
    "grader".split()
)
# flagged when called by that name
FLAGGED_CALLS = set(
    "open eval exec compile __import__ globals locals vars setattr delattr getattr input "
    "breakpoint memoryview".split()
)
# flagged as attributes of anything
FLAGGED_ATTRIBUTES = set(
    "__globals__ __builtins__ __subclasses__ __code__ __closure__ __reduce__ __import__ __dict__ "
    "__class__ f_back f_locals f_globals tb_frame gi_frame _getframe".split()
)
FLAGGED_OF_TORCH = {
    "load",
    "save",
    "compile",
    "hub",
    "multiprocessing",
    "package",
    "ops",
    "classes",
}


@dataclasses.dataclass(frozen=True)
class Offence:
    """A name and its line."""

    name: str
    line: int

    def __str__(self) -> str:
        return f"{self.name} (line {self.line})"


def parsed(source: Source) -> ast.Module:
    """Parse a source, unless it is parsed already."""
    return ast.parse(source) if isinstance(source, str) else source


def find(tree: ast.AST, in_node: Callable[[ast.AST], Iterator[Offence]]) -> list[Offence]:
    """List what `in_node` finds in a syntax tree, in the order of lines."""
    found = {offence for node in ast.walk(tree) for offence in in_node(node)}
    return sorted(found, key=lambda offence: (offence.line, offence.name))


def imported(node: ast.AST) -> Iterator[str]:
    """Yield the modules that a node imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and not node.level:
        yield node.module or ""


def line_of(node: ast.AST) -> int:
    """Return the line of a node, or 0."""
    return int(getattr(node, "lineno", 0))


def offence_in(policy: Policy, node: ast.AST) -> Iterator[Offence]:
    """Yield what is forbidden in a node."""
    for module in imported(node):
        if module.split(".")[0] in policy.forbidden_modules:
            yield Offence(module, line_of(node))
    if isinstance(node, ast.Attribute) and node.attr in policy.forbidden_names:
        yield Offence(f"{policy.forbidden_names[node.attr]}.{node.attr}", node.lineno)
    elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch":
        for alias in node.names:
            if alias.name in policy.forbidden_names:
                yield Offence(f"{policy.forbidden_names[alias.name]}.{alias.name}", node.lineno)


def flag_in(node: ast.AST) -> Iterator[Offence]:
    """Yield what an instructor may want to look at in a node."""
    for module in imported(node):
        if module.split(".")[0] in FLAGGED_MODULES:
            yield Offence(f"import {module}", line_of(node))
    if isinstance(node, ast.ImportFrom) and node.module == "torch":
        for alias in node.names:
            if alias.name in FLAGGED_OF_TORCH:
                yield Offence(f"torch.{alias.name}", node.lineno)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in FLAGGED_CALLS:
            yield Offence(f"{node.func.id}()", node.lineno)
    elif isinstance(node, ast.Attribute):
        of_torch = isinstance(node.value, ast.Name) and node.value.id == "torch"
        if node.attr in FLAGGED_ATTRIBUTES:
            yield Offence(f".{node.attr}", node.lineno)
        elif of_torch and node.attr in FLAGGED_OF_TORCH:
            yield Offence(f"torch.{node.attr}", node.lineno)


def offences(source: Source, policy: Policy) -> list[Offence]:
    """List what an assignment's policy forbids in a source."""
    return find(parsed(source), functools.partial(offence_in, policy))


def definition(tree: ast.AST, target: str) -> ast.AST:
    """Return where a function is defined; an empty tree where it is not.

    Args:
        target: a function, or a class and its method with a dot between.
    """
    for name in target.split("."):
        kinds = (ast.ClassDef, ast.FunctionDef)
        body = getattr(tree, "body", [])
        found = [node for node in body if isinstance(node, kinds) and node.name == name]
        tree = found[-1] if found else ast.Module([], [])
    return tree


def used_by(tree: ast.Module, target: str) -> ast.AST:
    """Return a function's definition, and what it uses of the top level of its file.

    Args:
        target: see `definition`.
    """
    top: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            top[node.name] = node
        elif isinstance(node, ast.Assign):
            top |= {name.id: node for name in node.targets if isinstance(name, ast.Name)}
    waiting, found = [definition(tree, target)], []
    while waiting:
        found.append(waiting.pop())
        names = {node.id for node in ast.walk(found[-1]) if isinstance(node, ast.Name)}
        waiting += [top.pop(name) for name in sorted(names & top.keys())]
    return ast.Module([node for node in found if isinstance(node, ast.stmt)], [])


def bound(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield what an import binds: the name in the file, and where it comes from, with dots."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            path = f"{module}{alias.name}"
            yield alias.asname or (alias.name if module else path.split(".")[0]), path


def offences_within(source: Source, target: str, names: Mapping[str, str]) -> list[Offence]:
    """List what is forbidden in one function and in what it calls of its own file.

    A name counts wherever it was imported from, and under the name that it was imported by.

    Args:
        target: see `definition`.
        names: a name, of a module too, to what messages put before it, which may be nothing.
    """
    tree = parsed(source)
    imported_as = {name: path for node in ast.walk(tree) for name, path in bound(node)}

    def in_node(node: ast.AST) -> Iterator[Offence]:
        used = [path for _, path in bound(node)]
        if isinstance(node, ast.Attribute):
            used.append(node.attr)
        elif isinstance(node, ast.Name):
            used.append(imported_as.get(node.id, ""))
        for name in {part for path in used for part in path.split(".")}.intersection(names):
            yield Offence(f"{names[name]}.{name}".lstrip("."), line_of(node))

    return find(used_by(tree, target), in_node)


def flags(source: Source) -> list[Offence]:
    """List what a person should look at in a source; none of it costs points."""
    return find(parsed(source), flag_in)
