"""What an assignment forbids, and what an instructor may want to look at, from the syntax tree.

`offences` cost points: library code that is the exercise itself. `flags` cost nothing: names that
functions on tensors do not need, such as os or eval, with their lines. The functions here take
texts, or trees that were parsed from them, and return plain data.

Covered: imports, attributes of what was imported, and other names for it. Not covered: code that
hides what it does (getattr, exec of a built string), which shows as a flag here, and is stopped
where it is run (worker/forbidden.py). A person has to read for what neither sees.
"""

import ast
import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from grader.exercise import Policy, usual_names
from grader.intake.names import Names, imported, where_bound

Source = str | ast.Module
# flagged when imported: files, processes, the network, the interpreter's internals
FLAGGED_MODULES = set(
    "os sys subprocess ctypes socket importlib inspect gc pickle marshal shelve dill cloudpickle "
    "threading multiprocessing concurrent asyncio signal atexit resource mmap fcntl pty builtins "
    "shutil pathlib tempfile glob io urllib http requests runpy code codecs ast dis types "
    "traceback linecache faulthandler tracemalloc weakref site sysconfig platform getpass operator "
    "pkgutil zipimport grader".split()
)
# flagged when called, or given another name
FLAGGED_CALLS = set(
    "open eval exec compile __import__ globals locals vars setattr delattr getattr input "
    "breakpoint memoryview".split()
)
# flagged as attributes of anything
FLAGGED_ATTRIBUTES = set(
    "__globals__ __builtins__ __subclasses__ __code__ __closure__ __reduce__ __import__ __dict__ "
    "__class__ __wrapped__ __bases__ __mro__ __getattribute__ f_back f_locals f_globals tb_frame "
    "gi_frame _getframe".split()
)
# flagged in torch, as are its private parts and the modules of Python that it has imported
FLAGGED_OF_TORCH = (
    set("load save compile hub multiprocessing package ops classes library".split())
    | FLAGGED_MODULES
) - {"types", "signal"}  # modules of torch's own


@dataclasses.dataclass(frozen=True)
class Offence:
    """What is wrong, and where.

    Attributes:
        name: what was used.
        file: where, if it is not the file that was looked at.
        star: it is an import of everything.
    """

    name: str
    line: int
    file: str = ""
    star: bool = False

    def __str__(self) -> str:
        place = f"{self.file}, line" if self.file else "line"
        return f"{self.name} ({place} {self.line})"


def complaint(found: Sequence[Offence]) -> str:
    """Say in one sentence what offences are about."""
    used = [offence for offence in found if not offence.star]
    listed = ", ".join(str(offence) for offence in (used or found)[:3])
    if used:
        return f"uses {listed}, which is what this assignment asks you to write"
    return f"{listed} is not allowed: import torch's parts by their names"


def parsed(source: Source) -> ast.Module:
    """Parse a source, unless it is parsed already."""
    return ast.parse(source) if isinstance(source, str) else source


def find(tree: ast.AST, in_node: Callable[[ast.AST], Iterator[Offence]]) -> list[Offence]:
    """List what `in_node` finds in a syntax tree, in the order of lines."""
    found = {offence for node in ast.walk(tree) for offence in in_node(node)}
    return sorted(found, key=lambda offence: (offence.line, offence.name))


def line_of(node: ast.AST) -> int:
    """Return the line of a node, or 0."""
    return int(getattr(node, "lineno", 0))


# --- what is forbidden ------------------------------------------------------------------------


class Forbidden:
    """What is forbidden, and how messages call it.

    The same thing has many full names (torch.nn.X is torch.nn.modules.activation.X), so the last
    part of a name counts anywhere in its package, unless it is an ordinary word.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = usual_names(paths)
        self.last: dict[tuple[str, str], str] = {}
        for path, name in self.paths.items():
            root, _, last = path.split(".")[0], *path.rpartition(".")[1:]
            if not (last.isalpha() and last.islower()):
                self.last[root, last] = name

    def at(self, path: str) -> str | None:
        """Return what messages call the forbidden thing that a full name leads to, if it does."""
        root, *names = path.split(".")
        below = itertools.accumulate(names, "{}.{}".format, initial=root)
        found = [self.paths[start] for start in below if start in self.paths]
        found += [self.last[root, name] for name in names if (root, name) in self.last]
        return found[0] if found else None


def modules_of(node: ast.AST) -> Iterator[str]:
    """Yield the modules that a node imports, or imports from."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and not node.level:
        yield node.module or ""


def forbidden_in(
    names: Names, forbidden: Forbidden, node: ast.AST, file: str = ""
) -> Iterator[Offence]:
    """Yield what is forbidden in a node: of a module and a part of it, the module."""
    used = [*modules_of(node), *(path for _, path in imported(node))]
    if isinstance(node, ast.Attribute):
        used += names.paths(node)
    elif isinstance(node, ast.Name):
        used += names.of_name(node.id) if node.id in names.imports else ()
    found = (forbidden.at(path) for path in used)
    for name in itertools.islice(filter(None, found), 1):
        yield Offence(name, line_of(node), file)


def stars_in(roots: frozenset[str], node: ast.AST) -> Iterator[Offence]:
    """Yield a star import of a package of which parts are forbidden."""
    if not isinstance(node, ast.ImportFrom) or node.level or node.names[0].name != "*":
        return
    if (node.module or "").split(".")[0] in roots:
        yield Offence(f"from {node.module} import *", node.lineno, star=True)


def offences(source: Source, policy: Policy) -> list[Offence]:
    """List what an assignment's policy forbids in a source."""
    tree = parsed(source)
    names = Names(tree)
    forbidden = Forbidden([*policy.forbidden, *policy.given_only])
    roots = frozenset(path.split(".")[0] for path in forbidden.paths)

    def in_node(node: ast.AST) -> Iterator[Offence]:
        yield from list(forbidden_in(names, forbidden, node)) or stars_in(roots, node)

    return find(tree, in_node)


# --- what one exercise forbids ----------------------------------------------------------------


class Sources:
    """The sources of a submission, and where each of their names is bound."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self.trees = {module: parsed(source) for module, source in sources.items()}
        self.names = {module: Names(tree) for module, tree in self.trees.items()}
        self.top = {module: where_bound(tree.body) for module, tree in self.trees.items()}

    def definitions(self, module: str, target: str) -> list[ast.AST]:
        """Return every place that may define a function, or a class's method after a dot."""
        owner, _, method = target.rpartition(".")
        found = list(self.top[module].get(target, ()))
        for made in self.top[module].get(owner, ()):
            if isinstance(made, ast.ClassDef):
                found += where_bound(made.body).get(method, ())
        return found

    def used(self, module: str, node: ast.AST, owner: str) -> Iterator[tuple[str, str]]:
        """Yield what a node uses that these sources may define: the module and the name in it.

        Args:
            owner: the class of the method that the node is in, or "".
        """
        if isinstance(node, ast.Name):
            yield module, node.id
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            own = node.value.id in ("self", "cls") and owner
            yield module, f"{own or node.value.id}.{node.attr}"
        for path in self.names[module].paths(node):
            other, _, name = path.partition(".")
            if other in self.trees:
                yield other, name

    def reached(self, module: str, targets: Sequence[str]) -> Iterator[tuple[str, ast.AST]]:
        """Yield the nodes of functions, and of all that they use, each with its module."""
        waiting = [(module, target) for target in targets]
        seen: set[object] = set(waiting)
        while waiting:
            within, target = waiting.pop()
            owner = target.rpartition(".")[0]
            for place in self.definitions(within, target):
                if (id(place), owner) in seen:  # it binds other names, too
                    continue
                seen.add((id(place), owner))
                for node in ast.walk(place):
                    yield within, node
                    used = set(self.used(within, node, owner))
                    waiting += used - seen
                    seen |= used


def offences_within(
    sources: Mapping[str, Source], module: str, targets: Sequence[str], forbidden: Sequence[str]
) -> list[Offence]:
    """List what is forbidden in functions of a module and in what they use of the submission.

    Args:
        sources: module name to source.
        targets: functions, or classes and their methods with a dot between.
        forbidden: full names.
    """
    program, looked_for = Sources(sources), Forbidden(forbidden)
    found: set[Offence] = set()
    for within, node in program.reached(module, targets):
        file = "" if within == module else f"{within}.py"
        found.update(forbidden_in(program.names[within], looked_for, node, file))
    return sorted(found, key=lambda offence: (offence.file, offence.line, offence.name))


# --- what is flagged --------------------------------------------------------------------------


def of_torch(path: str) -> Iterator[str]:
    """Yield a full name up to what is flagged in it, if that is of torch."""
    root, *names = path.split(".")
    for number, name in enumerate(names, start=1):
        if root == "torch" and (name in FLAGGED_OF_TORCH or name.startswith("_")):
            yield ".".join([root, *names[:number]])
            return


def flag_in(names: Names, node: ast.AST) -> Iterator[Offence]:
    """Yield what an instructor may want to look at in a node."""
    for module in modules_of(node):
        if module.split(".")[0] in FLAGGED_MODULES:
            yield Offence(f"import {module}", line_of(node))
    used = [path for _, path in imported(node)] + list(names.paths(node))
    for flagged in (one for path in used for one in of_torch(path)):
        yield Offence(flagged, line_of(node))
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Name) and called.id in FLAGGED_CALLS:
        yield Offence(f"{called.id}()", line_of(node))
    elif isinstance(node, ast.Name) and node.id in FLAGGED_CALLS - names.bound:
        yield Offence(f"{node.id}()", node.lineno)
    elif isinstance(node, ast.Attribute) and node.attr in FLAGGED_ATTRIBUTES:
        yield Offence(f".{node.attr}", node.lineno)


def flags(source: Source) -> list[Offence]:
    """List what a person should look at in a source; none of it costs points."""
    tree = parsed(source)
    return find(tree, functools.partial(flag_in, Names(tree)))
