"""Describe the statements of sources, whatever names, comments and layout they have.

As a script, `python -I -S statements.py`, this reads sources from standard input, those that were
given and those of students, and writes a line of JSON for each, in order, so that whoever reads
them knows at which source it ended, if it did.

A description is a number for every two consecutive statements of a function. It depends on the
shape of their syntax trees, on names that are imported, given or attributes, and on which local
names are equal, but not on what those are. Annotations, docstrings and imports are left out.

Covered: memory and processor time of the parser, which a source may be written to exhaust. It runs
in this process only. Not covered: systems without such limits.
"""

import ast
import dataclasses
import functools
import hashlib
import itertools
import json
import marshal
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

SECONDS = 2  # of processor time for one source; the solution takes a hundredth of one
MEMORY = 512 << 20  # bytes of address space
MOST = 4000  # descriptions of one source
TOGETHER = 2  # consecutive statements in one description
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
LEFT_OUT = (ast.Import, ast.ImportFrom, ast.Pass)
WITH_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
NOT_SHAPE = ("ctx", "annotation", "returns", "type_comment", "type_params", "simple", "kind")
LOCAL = "\0"  # begins what stands for a local name


@dataclasses.dataclass(frozen=True)
class Names:
    """Names of one source: those that are its own, and the functions and classes among them."""

    own: frozenset[str]
    defined: frozenset[str]


def definitions(tree: ast.AST) -> set[str]:
    """Return the names of the functions and classes that a source defines."""
    return {node.name for node in ast.walk(tree) if isinstance(node, DEFINITIONS)}


def names_of(tree: ast.AST, given: set[str]) -> Names:
    """Return the names that a source binds, without those that were given."""
    bound, defined = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, DEFINITIONS):
            defined.add(node.name)
    return Names(frozenset((bound | defined) - given - {"self"}), frozenset(defined - given))


def word(node: ast.AST, names: Names) -> str:
    """Return what stands for a node by itself, without its children."""
    if isinstance(node, ast.Name):
        return LOCAL + node.id if node.id in names.own else node.id
    if isinstance(node, ast.Attribute):
        return LOCAL + node.attr if node.attr in names.defined else f".{node.attr}"
    if isinstance(node, ast.Constant):
        return "text" if isinstance(node.value, str | bytes) else repr(node.value)[:40]
    if isinstance(node, ast.arg):
        return LOCAL + node.arg if node.arg in names.own else node.arg
    if isinstance(node, ast.keyword):
        return f"{node.arg}="
    if isinstance(node, DEFINITIONS):
        return LOCAL + node.name if node.name in names.own else f"def {node.name}"
    return "Assign" if isinstance(node, ast.AnnAssign) else type(node).__name__


@functools.cache
def parts(fields: tuple[str, ...], has_blocks: bool) -> tuple[str, ...]:
    """Return which fields of a type of node belong to its shape."""
    left_out = (*NOT_SHAPE, *(BLOCKS if has_blocks else ()))
    return tuple(name for name in fields if name not in left_out)


def shape(statement: ast.AST, names: Names) -> list[str]:
    """Return the tree of a statement as words, without the statements within it."""
    made: list[str] = []
    waiting: list[ast.AST | None] = [statement]
    while waiting:
        node = waiting.pop()
        if node is None:
            made.append(")")
            continue
        made.append(word(node, names))
        children: list[ast.AST | None] = []
        for name in parts(node._fields, isinstance(node, WITH_BLOCKS)):
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                children.append(value)
            elif isinstance(value, list):
                children += [one for one in value if isinstance(one, ast.AST)]
        if children:
            waiting.append(None)
            waiting += reversed(children)
    return made


def is_said(node: ast.AST) -> bool:
    """Say whether a statement is described: not a docstring, an import or a pass."""
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return not text and not isinstance(node, LEFT_OUT)


def blocks(tree: ast.Module) -> Iterator[tuple[str, ast.AST, list[ast.AST]]]:
    """Yield each function and class, and its statements in order, those of inner blocks too."""
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        name, owner = waiting.pop()
        statements: list[ast.AST] = [] if isinstance(owner, ast.Module) else [owner]
        inner = list(reversed(list(below(owner))))
        while inner:
            node = inner.pop()
            if isinstance(node, DEFINITIONS):
                waiting.append((f"{name}.{node.name}".lstrip("."), node))
            elif is_said(node):
                statements.append(node)
                inner += reversed(list(below(node)))
        yield name, owner, statements


def below(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements directly within one."""
    for name in BLOCKS:
        value = getattr(node, name, None)
        if isinstance(value, list):
            yield from value


def number(words: Sequence[str]) -> int:
    """Return a number for some words, in which local names count by where they come first."""
    local: dict[str, str] = {}
    same = [local.setdefault(w, f"${len(local)}") if w[:1] == LOCAL else w for w in words]
    text = " ".join(same).encode(errors="replace")
    return int.from_bytes(hashlib.blake2b(text, digest_size=6).digest())


@dataclasses.dataclass(frozen=True)
class Given:
    """What students were given: the names that it defines, and the text of each function."""

    names: set[str]
    texts: set[str]

    @classmethod
    def of(cls, sources: Sequence[str]) -> "Given":
        """Read the given sources."""
        made = cls(set(), set())
        for text in sources:
            tree, lines = ast.parse(text), text.split("\n")
            made.names.update(definitions(tree))
            functions = (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))
            made.texts.update(text_of(node, lines) for node in functions)
        return made


def text_of(node: ast.stmt, lines: Sequence[str]) -> str:
    """Return the lines of a statement."""
    return "\n".join(lines[node.lineno - 1 : node.end_lineno])


def described(text: str, given: Given) -> dict[str, list[int]]:
    """Return the descriptions of a source, by function; functions as they were given are left out.

    What stands in no function is under "", which is always there.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it cannot be read.
    """
    tree, lines = ast.parse(text), text.split("\n")
    names = names_of(tree, given.names)
    made: dict[str, list[int]] = {"": []}
    left = MOST
    for name, owner, statements in blocks(tree):
        if isinstance(owner, FUNCTIONS) and text_of(owner, lines) in given.texts:
            continue
        shapes = [shape(one, names) for one in statements[: left + TOGETHER]]
        starts = range(max(0, len(shapes) - TOGETHER + 1))
        numbers = [number([*itertools.chain(*shapes[i : i + TOGETHER])]) for i in starts][:left]
        left -= len(numbers)
        if numbers:
            made.setdefault(name[:100], []).extend(numbers)
    return made


def limit() -> None:
    """Limit memory and core dumps, if the system supports such limits."""
    try:
        import resource  # missing on Windows
    except ImportError:
        return
    for kind, bound in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))


def main() -> None:
    """Describe the sources on standard input."""
    request: dict[str, Any] = marshal.load(sys.stdin.buffer)
    warnings.simplefilter("ignore")  # about a student's code
    given = Given.of(request["given"])
    limit()
    for text in request["given"]:
        print(json.dumps(described(text, Given(given.names, set()))), flush=True)
    for text in request["sources"]:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)  # ends this process
        try:
            found = described(text, given)
        except (SyntaxError, ValueError, OverflowError, SystemError, RecursionError, MemoryError):
            found = {}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
