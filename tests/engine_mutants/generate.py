"""Small changes of the engine's own functions, and a sample of them drawn by a seed.

A mutant is stored as the lines it changes and what they become, so that it can be applied wherever
these lines still stand.
"""

import ast
import dataclasses
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.mutants.generate import of_operator, of_sign, of_slice

ENGINE = Path("engine/src/tensormark")
SEED = 2026
ROOMS = {  # how many are drawn from which files
    "judging": (105, ["judging/*.py"]),
    "worker": (
        95,
        [f"worker/{name}.py" for name in "calls outputs stand_ins state exceptions".split()],
    ),
    "answers": (30, ["sandbox/answers.py"]),
    "intake": (70, ["intake/*.py"]),
    "class": (100, ["classroom/**/*.py"]),
}
COMPARISONS = {  # the neighbour of an order, and the opposites
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
DECIDING = ("startswith", "endswith", "removeprefix", "removesuffix", "partition", "split", "get")


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change of a file.

    Attributes:
        file: its path below the root.
        line: where it was when it was drawn, for people.
        occurrence: which of the places with these old lines it is, from 0.
    """

    room: str
    file: str
    line: int
    operator: str
    old: str
    new: str
    occurrence: int

    def place(self, text: str) -> int | None:
        """Return the first line of a file that this changes; None if it no longer stands there."""
        found = places(text.split("\n"), self.old.split("\n"))
        found = found[self.occurrence :] or found[: len(found) == 1]
        return found[0] + 1 if found else None

    def applied(self, text: str) -> str | None:
        """Return a file's text with this change, or None as above."""
        line = self.place(text)
        lines = text.split("\n")
        if line is None:
            return None
        rest = lines[line - 1 + self.old.count("\n") + 1 :]
        return "\n".join([*lines[: line - 1], self.new, *rest])


def places(lines: list[str], wanted: list[str]) -> list[int]:
    """Return the indices at which these lines stand in a file."""
    size = len(wanted)
    return [at for at in range(len(lines) - size + 1) if lines[at : at + size] == wanted]


def path_of(mutant: Mutant, root: Path) -> Path | None:
    """Return the file that a mutant changes: its own, or the only one that its lines moved to."""
    own = root / mutant.file
    if own.is_file() and mutant.place(own.read_text(encoding="utf-8")):
        return own
    lines = mutant.old.split("\n")
    moved = [
        path
        for path in (root / ENGINE).rglob("*.py")
        for _ in places(path.read_text(encoding="utf-8").split("\n"), lines)
    ]
    return moved[0] if len(moved) == 1 else None


def of_comparison(node: ast.Compare) -> Iterator[ast.AST]:
    """Yield the neighbouring and the opposite comparison, and one with an empty string."""
    if len(node.ops) > 1:
        return
    for other in COMPARISONS[type(node.ops[0])]:
        yield ast.Compare(node.left, [other()], node.comparators)
    if isinstance(node.comparators[0], ast.Constant) and isinstance(node.comparators[0].value, str):
        yield ast.Compare(node.left, node.ops, [ast.Constant("")])


def of_boolean(node: ast.BoolOp) -> Iterator[ast.AST]:
    """Yield `and` for `or`, and each operand left out."""
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield ast.BoolOp(other, node.values)
    for at in range(len(node.values)):
        rest = node.values[:at] + node.values[at + 1 :]
        yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def of_constant(node: ast.Constant) -> Iterator[ast.AST]:
    """Yield the other truth value, or the neighbours of an integer."""
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)


def of_call(node: ast.Call) -> Iterator[ast.AST]:
    """Leave out an argument that may have a default, or empty a string that decides."""
    for at in range(len(node.keywords)):
        yield ast.Call(node.func, node.args, node.keywords[:at] + node.keywords[at + 1 :])
    if len(node.args) > 1:
        yield ast.Call(node.func, node.args[:-1], node.keywords)
    if isinstance(node.func, ast.Attribute) and node.func.attr in DECIDING and node.args:
        first = node.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield ast.Call(node.func, [ast.Constant("-"), *node.args[1:]], node.keywords)


def of_lower(node: ast.Slice) -> Iterator[ast.AST]:
    """Leave out the lower bound."""
    if node.lower is not None:
        yield ast.Slice(None, node.upper, node.step)


def of_condition(node: ast.If | ast.IfExp | ast.While) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Decide a condition; a loop's only to end it."""
    yield node.test, ast.Constant(False)
    if not isinstance(node, ast.While):
        yield node.test, ast.Constant(True)


def of_statement(node: ast.stmt) -> Iterator[ast.AST]:
    """Leave out a statement that has an effect elsewhere, or a return's value."""
    if isinstance(node, ast.Return):
        if node.value is not None and not isinstance(node.value, ast.Constant):
            yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Assign):
        if not any(isinstance(target, ast.Name) for target in node.targets):
            yield ast.Pass()
    elif isinstance(node, ast.Expr):
        if not isinstance(node.value, ast.Constant):
            yield ast.Pass()
    elif isinstance(node, ast.AugAssign | ast.Raise | ast.Continue | ast.Break | ast.Delete):
        yield ast.Pass()


def of_handler(node: ast.ExceptHandler) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Leave out a kind of exception."""
    if isinstance(node.type, ast.Tuple):
        for at in range(len(node.type.elts)):
            yield node.type, ast.Tuple(node.type.elts[:at] + node.type.elts[at + 1 :], ast.Load())


OPERATORS = (
    ("comparison", ast.Compare, of_comparison),
    ("boolean", ast.BoolOp, of_boolean),
    ("sign", ast.UnaryOp, of_sign),
    ("constant", ast.Constant, of_constant),
    ("argument", ast.Call, of_call),
    ("arithmetic", ast.BinOp, of_operator),
    ("slice", ast.Slice, of_slice),
    ("slice", ast.Slice, of_lower),
    ("condition", ast.If | ast.IfExp | ast.While, of_condition),
    ("statement", ast.stmt, of_statement),
    ("exception", ast.ExceptHandler, of_handler),
)


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Yield each operator's name with a node below this one and what to put there."""
    for name, kind, mutate in OPERATORS:
        if isinstance(node, kind):
            for change in mutate(node):  # type: ignore[operator]  # each takes its own kind
                yield (name, *change) if isinstance(change, tuple) else (name, node, change)


def inside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one, but no docstring's, annotation's or formatted string's."""
    skipped = ("annotation", "returns", "decorator_list", "defaults", "kw_defaults", "type_params")
    for field, value in ast.iter_fields(node):
        if field in skipped or isinstance(value, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield child
                yield from inside(child)


def functions(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the functions and methods of a module, without those that are inside others."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node)


def with_change(source: str, old: ast.AST, new: ast.AST) -> tuple[int, str, str]:
    """Return the first line that a change concerns, the lines' text before, and after."""
    lines = source.split("\n")
    first = old.lineno - 1  # type: ignore[attr-defined]
    last = old.end_lineno - 1  # type: ignore[attr-defined]
    before = lines[first].encode()[: old.col_offset].decode()  # type: ignore[attr-defined]
    after = lines[last].encode()[old.end_col_offset :].decode()  # type: ignore[attr-defined]
    text = ast.unparse(ast.fix_missing_locations(new))
    if isinstance(new, ast.BinOp | ast.BoolOp | ast.Compare | ast.UnaryOp | ast.IfExp):
        text = f"({text})"
    return first, "\n".join(lines[first : last + 1]), before + text + after


def candidates(room: str, path: Path, root: Path) -> Iterator[Mutant]:
    """Yield all mutants of a file."""
    source = path.read_text(encoding="utf-8")
    lines = source.split("\n")
    tree = ast.parse(source)
    file = path.relative_to(root).as_posix()
    for function in functions(tree):
        for node in inside(function):
            for operator, old, new in changes(node):
                first, before, after = with_change(source, old, new)
                occurrence = places(lines, before.split("\n")).index(first)
                yield Mutant(room, file, first + 1, operator, before, after, occurrence)


def is_another(mutant: Mutant, source: str) -> bool:
    """Return whether a mutant can be parsed and says something else."""
    try:
        return ast.dump(ast.parse(mutant.applied(source) or "")) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


def drawn(root: Path, kept: Sequence[Mutant]) -> list[Mutant]:
    """Draw mutants beside those kept: of all operators alike, never two that change a line."""
    chosen = list(kept)
    for room, (size, patterns) in ROOMS.items():
        draw = random.Random(f"{SEED} {room}")
        paths = sorted(path for pattern in patterns for path in (root / ENGINE).glob(pattern))
        by_operator: dict[str, list[Mutant]] = {}
        for path in paths:
            for mutant in candidates(room, path, root):
                by_operator.setdefault(mutant.operator, []).append(mutant)
        taken = {(mutant.file, mutant.line) for mutant in kept if mutant.room == room}
        while len(taken) < size:
            mutants = by_operator[draw.choice(sorted(by_operator))]
            mutant = draw.choice(mutants)
            source = (root / mutant.file).read_text(encoding="utf-8")
            if (mutant.file, mutant.line) not in taken and is_another(mutant, source):
                taken.add((mutant.file, mutant.line))
                chosen.append(mutant)
    return sorted(chosen, key=lambda mutant: (mutant.room, mutant.file, mutant.line))
