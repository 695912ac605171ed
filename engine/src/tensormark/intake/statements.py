"""Describe the statements of sources independently of names, comments and layout.

A description has a number for every two consecutive statements of a function. It depends on the
shapes of their syntax trees, on names that are imported, given or attributes, and on which local
names are equal, but not on what they are. Annotations, docstrings, imports and statements without
effect are left out. There is also a number for every single statement with its names as written,
which inserting statements between others does not change.

Untrusted sources are described in limited.py only, one at a time.
"""

import ast
import contextlib
import dataclasses
import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

MAX_NUMBERS = 10_000  # of each kind for one source; the solution has 200
TOGETHER = 2  # consecutive statements in one description
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
LEFT_OUT = (ast.Import, ast.ImportFrom, ast.Pass)
EFFECTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
WITH_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
NOT_SHAPE = ("ctx", "annotation", "returns", "type_comment", "type_params", "simple", "kind")
LOCAL = "\0"  # prefix of the word for a local name


@dataclasses.dataclass(frozen=True)
class _Names:
    """The names that a source itself binds, and the functions and classes among them."""

    own: frozenset[str]
    defined: frozenset[str]


def names_of(tree: ast.AST, given: set[str]) -> _Names:
    """Return the names that a source binds, without the given ones."""
    bound, defined = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, DEFINITIONS):
            defined.add(node.name)
    return _Names(frozenset((bound | defined) - given - {"self"}), frozenset(defined - given))


def _word(node: ast.AST, names: _Names) -> str:
    """Return the word for a node, without its children."""
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
def _shape_fields(fields: tuple[str, ...], has_blocks: bool) -> tuple[str, ...]:
    left_out = (*NOT_SHAPE, *(BLOCKS if has_blocks else ()))
    return tuple(name for name in fields if name not in left_out)


def _shape(statement: ast.AST, names: _Names) -> list[str]:
    """Return the tree of a statement as words, without the statements inside it."""
    words: list[str] = []
    pending: list[ast.AST | None] = [statement]
    while pending:
        node = pending.pop()
        if node is None:
            words.append(")")
            continue
        words.append(_word(node, names))
        children: list[ast.AST | None] = []
        for name in _shape_fields(node._fields, isinstance(node, WITH_BLOCKS)):
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                children.append(value)
            elif isinstance(value, list):
                children += [child for child in value if isinstance(child, ast.AST)]
        if children:
            pending.append(None)
            pending += reversed(children)
    return words


def _assigned(node: ast.AST) -> set[str]:
    """Return the names that a statement assigns, if it does nothing else."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    plain = isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
    return names if plain and len(names) == len(targets) else set()


def _names_read(tree: ast.AST) -> set[str]:
    """Return the names that matter: those read outside assignments to names that do not matter."""
    inside: set[ast.AST] = set()
    needed: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if names := _assigned(node):
            read = [name_node for name_node in ast.walk(node) if isinstance(name_node, ast.Name)]
            inside.update(read)
            for name in names:
                needed.setdefault(name, set()).update(
                    name_node.id for name_node in read if _is_load(name_node)
                )
    all_names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    names_needed = {node.id for node in all_names if _is_load(node) and node not in inside}
    pending = list(names_needed)
    while pending:
        new = needed.get(pending.pop(), set()) - names_needed
        names_needed |= new
        pending += new
    return names_needed


def _is_load(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _is_described(node: ast.AST, read: set[str]) -> bool:
    """Say whether a statement is described: it has an effect and is no docstring or import."""
    if isinstance(node, ast.Expr):
        return any(isinstance(child, EFFECTS) for child in ast.walk(node))
    names = _assigned(node)
    return not isinstance(node, LEFT_OUT) and (not names or bool(names & read))


def _blocks(tree: ast.Module) -> Iterator[tuple[str, ast.AST, list[ast.AST]]]:
    """Yield each function and class, and its statements in order, those of inner blocks too."""
    read = _names_read(tree)
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        name, owner = pending.pop()
        statements: list[ast.AST] = [] if isinstance(owner, ast.Module) else [owner]
        inner = list(reversed(list(_statements_within(owner))))
        while inner:
            node = inner.pop()
            if isinstance(node, DEFINITIONS):
                pending.append((f"{name}.{node.name}".lstrip("."), node))
            elif _is_described(node, read):
                statements.append(node)
                inner += reversed(list(_statements_within(node)))
        yield name, owner, statements


def _statements_within(node: ast.AST) -> Iterator[ast.AST]:
    for name in BLOCKS:
        value = getattr(node, name, None)
        if isinstance(value, list):
            yield from value


def _pair_number(words: Sequence[str]) -> int:
    """Return a number for some words, with local names numbered in order of first appearance."""
    local: dict[str, str] = {}
    return _hash([local.setdefault(w, f"${len(local)}") if w[:1] == LOCAL else w for w in words])


def _hash(words: Sequence[str]) -> int:
    text = " ".join(words).encode(errors="replace")
    return int.from_bytes(hashlib.blake2b(text, digest_size=6).digest())


@dataclasses.dataclass(frozen=True)
class Given:
    """The code that students were given: the names that it defines, and each function's text."""

    names: set[str]
    texts: set[str]

    @classmethod
    def of(cls, sources: Sequence[str]) -> "Given":
        """Read the given sources."""
        given = cls(set(), set())
        for text in sources:
            text = _with_line_ends(text)
            tree, lines = ast.parse(text), text.split("\n")
            given.names.update(n.name for n in ast.walk(tree) if isinstance(n, DEFINITIONS))
            functions = (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))
            given.texts.update(_text(node, lines) for node in functions)
        return given


def _text(node: ast.stmt, lines: Sequence[str]) -> str:
    return "\n".join(lines[node.lineno - 1 : node.end_lineno])


def _with_line_ends(text: str) -> str:
    """Return a text with Unix line ends, as Python reads it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _Description:
    """The numbers that describe a source, up to a maximum of each kind.

    Attributes:
        pairs, written: the numbers of each function; those outside of functions are under "".
        left: how many more may be added.
    """

    def __init__(self) -> None:
        self.pairs: dict[str, list[int]] = {"": []}
        self.written: dict[str, list[int]] = {"": []}
        self.left = {"pairs": MAX_NUMBERS, "written": MAX_NUMBERS}

    @property
    def cut(self) -> bool:
        """Whether there were more than fit."""
        return min(self.left.values()) < 0

    def add(self, kind: str, name: str, numbers: Iterable[int]) -> None:
        """Add the numbers of a function, each once."""
        own = getattr(self, kind).setdefault(name[:100], [])
        new = list(dict.fromkeys(numbers))
        own += new[: max(0, self.left[kind])]
        self.left[kind] -= len(new)


def described(text: str, given: Given) -> dict[str, Any]:
    """Return the description of a source; unchanged given functions are left out.

    Returns: `pairs` and `written`, by function; `tree`, a digest of all but layout and comments;
    and whether it was `cut`.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it cannot be read.
    """
    text = _with_line_ends(text)
    tree, lines = ast.parse(text), text.split("\n")
    names, description = names_of(tree, given.names), _Description()
    # what students were asked to write comes first, wherever else they put statements
    own = sorted(_blocks(tree), key=lambda block: block[0].rpartition(".")[2] not in given.names)
    for name, owner, statements in own:
        if isinstance(owner, FUNCTIONS) and _text(owner, lines) in given.texts:
            continue
        shapes = [_shape(statement, names) for statement in statements]
        starts = range(max(0, len(shapes) - TOGETHER + 1))
        description.add(
            "pairs", name, (_pair_number([*chain(*shapes[i : i + TOGETHER])]) for i in starts)
        )
        # a line that only begins a function would be rare because its name is
        plain = shapes[1:] if isinstance(owner, DEFINITIONS) else shapes
        description.add("written", name, (_hash(["", *each]) for each in plain))
    whole = hashlib.sha256(ast.dump(tree).encode(errors="replace")).hexdigest()
    pairs, written = description.pairs, description.written
    return {"pairs": pairs, "written": written, "tree": whole, "cut": description.cut}


def description(request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the description of the requested source, if it can be read."""
    given = Given(set(request["names"]), set(request["texts"]))
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        yield described(request["text"], given)
