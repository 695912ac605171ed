"""Read a function for questions: its statements, and single changes to a line of it.

Changes are made in the text, at the nodes of its syntax tree; everything else stays as the student
wrote it. In a line after a change, « and » enclose what is changed. Untrusted sources are parsed in
limited.py only.
"""

import ast
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

MAX_WIDTH = 200  # of a line that is changed
MAX_CHANGES = 10_000  # to one function, about
MAX_NUMBER = 5  # most that are changed are axes
MARKUP = frozenset("`«»")  # what a question's texts use
# the sign of an operator, and what may replace it
OPERATORS = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.MatMult: ("@", ""),
}
# expressions that are statements, such as calls of print, are not changed either
NEVER_CHANGED = (ast.Raise, ast.Assert, ast.While, ast.JoinedStr, ast.Expr)
NOT_OBJECTS = ("torch", "math", "F", "nn", "np", "numpy", "self")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def find(tree: ast.Module, target: str) -> Function:
    """Return the function with a name such as "Layer.forward" or "scores"; the last one counts.

    Raises:
        ValueError: there is none.
    """
    body = tree.body
    *outer, last = target.split(".")
    for name in outer:
        classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]
        body = classes[-1].body if classes else []
    functions = [node for node in body if isinstance(node, Function) and node.name == last]
    if not functions:
        raise ValueError(f"there is no function {target}")
    return functions[-1]


def first_line(node: ast.stmt | ast.match_case) -> int:
    """Return the line on which a statement begins, perhaps with a decorator, or a case."""
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def is_of_self(node: ast.AST) -> bool:
    """Return whether a node is an attribute of self."""
    owner = node.value if isinstance(node, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id == "self"


class Outline:
    """A module's text, and the function in it that questions are about.

    Attributes:
        lines: of the module; body: the function's statements without its docstring.
        nodes: of the body; statements: those of them that are statements.
        parameters: the names of the positional ones.
        first_lines: where the names that the function binds get their first values.
        attributes: those of self that the function reads.
    """

    def __init__(self, text: str, target: str) -> None:
        """Parse the module.

        Raises:
            ValueError: there is no such function, or no code in it. SyntaxError: it is not Python.
        """
        self.lines = text.split("\n")
        self.function = find(ast.parse(text), target)
        documented = ast.get_docstring(self.function, clean=False) is not None
        self.body = self.function.body[documented:]
        if not self.body:
            raise ValueError(f"{target} has no code")
        self.nodes = list(itertools.chain.from_iterable(map(ast.walk, self.body)))
        self.statements = [node for node in self.nodes if isinstance(node, ast.stmt)]
        arguments = self.function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        self.parameters = [each.arg for each in positional]
        self.first_lines = {each.arg: 0 for each in [*positional, *arguments.kwonlyargs]}
        self.first_lines.pop("self", None)
        for node in self.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.first_lines.setdefault(node.id, node.lineno)
        self.attributes = [ast.unparse(node) for node in self.nodes if is_of_self(node)]

    def part(self, line: int, start: int | None, end: int | None) -> str:
        """Return a part of a line, between the offsets of nodes, which count bytes of UTF-8."""
        return self.lines[line - 1].encode()[start:end].decode()

    def of(self, node: ast.expr) -> str:
        """Return the text of a node that stands in one line."""
        return self.part(node.lineno, node.col_offset, node.end_col_offset)

    def extent(self, statement: ast.stmt) -> tuple[int, int, int]:
        """Return where a statement is; of one with a body, what comes before the body.

        Returns: its first and last line, and the column of its beginning.
        """
        start = first_line(statement)
        end = statement.end_lineno or start
        inner = getattr(statement, "body", getattr(statement, "cases", None))
        if inner is not None:
            end = max(start, first_line(inner[0]) - 1)
        return start, end, len(self.part(statement.lineno, None, statement.col_offset))

    def places(self) -> Iterator["Place"]:
        """Yield the expressions that may be changed, in the order of the text."""
        waiting: list[tuple[ast.AST, ast.AST, ast.stmt]] = []
        waiting += [(node, self.function, node) for node in reversed(self.body)]
        while waiting:
            node, parent, statement = waiting.pop()
            if isinstance(node, NEVER_CHANGED):
                continue
            if isinstance(node, ast.expr) and self.is_plain(node):
                yield Place(self, node, parent, statement)
            annotation = getattr(node, "annotation", None)
            for child in reversed(list(ast.iter_child_nodes(node))):
                if child is not annotation and not isinstance(child, ast.arguments):
                    inner = child if isinstance(child, ast.stmt) else statement
                    waiting.append((child, node, inner))

    def is_plain(self, node: ast.expr) -> bool:
        """Return whether a node stands in one line that a question can show."""
        line = self.lines[node.lineno - 1]
        can_be_shown = len(line) <= MAX_WIDTH and MARKUP.isdisjoint(line)
        return node.lineno == node.end_lineno and can_be_shown


class Place(NamedTuple):
    """An expression of the function, the node that it is a part of, and its statement."""

    source: Outline
    node: ast.expr
    parent: ast.AST
    statement: ast.stmt

    @property
    def is_variable(self) -> bool:
        """Whether it is a name that the function binds, where it is read."""
        node = self.node
        is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        return is_read and self.source.of(node) in self.source.first_lines

    def line(self, new: str) -> str:
        """Return its line with a text in its place, where something may be marked."""
        node = self.node
        before = self.source.part(node.lineno, None, node.col_offset)
        after = self.source.part(node.lineno, node.end_col_offset, None)
        marked = new if "«" in new else f"«{new}»"
        return f"{before}{marked}{after}"


# --- what an expression may become: kinds of changes, and texts -------------------------------

Texts = Iterator[tuple[str, str]]


def numbers(place: Place) -> Texts:
    """Change a number."""
    node = place.node
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    if not isinstance(inner, ast.Constant) or isinstance(place.parent, ast.UnaryOp):
        return
    text = place.source.of(node)
    if text.removeprefix("-").isdecimal():
        number = int(text)
        for other in (number - 1, number + 1, number + 4, -number):
            if abs(other) < MAX_NUMBER:
                yield "number", str(other)


def operations(place: Place) -> Texts:
    """Change an operator, or leave an operand out."""
    node = place.node
    if not isinstance(node, ast.BinOp) or type(node.op) not in OPERATORS:
        return
    source = place.source
    sign, other = OPERATORS[type(node.op)]
    behind = source.part(node.lineno, node.left.end_col_offset, node.end_col_offset)
    closing, _, right = (text.strip() for text in behind.partition(sign))
    left = source.part(node.lineno, node.col_offset, node.left.end_col_offset) + closing
    if other:
        yield "operator", f"{left} «{other}» {right}"
    yield "operand", f"{left}«»"
    if sign in "+*":
        yield "operand", f"«»{right}"


def calls(place: Place) -> Texts:
    """Leave a call out."""
    node = place.node
    if not isinstance(node, ast.Call):
        return
    source = place.source
    called = source.of(node.func.value) if isinstance(node.func, ast.Attribute) else "self"
    if "(" in called or called.partition(".")[0] not in NOT_OBJECTS:
        yield "call", f"{called}«»"
    elif node.args and not isinstance(node.args[0], ast.Constant | ast.UnaryOp | ast.Starred):
        yield "call", source.of(node.args[0])


def names(place: Place) -> Texts:
    """Replace a name with another that has a value by then; slice what a loop is over."""
    node = place.node
    source = place.source
    text = source.of(node)
    if isinstance(node, ast.Attribute) and text in source.attributes:
        yield from (("name", other) for other in source.attributes)
    if place.is_variable:
        yield from (("name", o) for o, line in source.first_lines.items() if line < node.lineno)
    is_name = isinstance(node, ast.Name | ast.Attribute)
    if isinstance(place.parent, ast.For) and node is place.parent.iter and is_name:
        yield from (("loop", f"{text}«{part}»") for part in ("[1:]", "[:-1]", "[::-1]"))


KINDS: tuple[Callable[[Place], Texts], ...] = (numbers, operations, calls, names)


def changes(source: Outline) -> list[tuple[int, int, str, str]]:
    """Return the single changes to the function, each once.

    Returns: the number of the statement, the line, the kind of change, and the line after it.
    """
    numbers = {statement: number for number, statement in enumerate(source.statements)}
    found: dict[tuple[int, str], tuple[int, int, str, str]] = {}
    for place in source.places():
        line = place.node.lineno
        for kind, new in itertools.chain.from_iterable(make(place) for make in KINDS):
            marked = place.line(new)
            plain = marked.replace("«", "").replace("»", "")
            if plain != source.lines[line - 1]:
                found.setdefault((line, plain), (numbers[place.statement], line, kind, marked))
        if len(found) > MAX_CHANGES:
            break
    return list(found.values())


def outline(text: str, target: str) -> dict[str, Any]:
    """Return what questions on a function need to know of its text; empty if there is no such one.

    Args:
        text: of the module, with lines that end in a line feed.
        target: the name of the function.
    """
    try:
        source = Outline(text, target)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return {}
    function = source.function
    docstring = function.body[: -len(source.body)]
    return {
        "lines": [first_line(function), function.end_lineno],
        "docstring": [[each.lineno, each.end_lineno] for each in docstring],
        "parameters": source.parameters,
        "statements": [source.extent(statement) for statement in source.statements],
        "changes": changes(source),
    }
