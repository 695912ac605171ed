"""Single changes to one line of a function, made in its text at the nodes of its syntax tree.

What a question shows is the changed line as it runs; everything else stays as the student wrote it.
"""

import ast
import dataclasses
import io
import itertools
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

MAX_WIDTH = 200  # of a line that is changed
MAX_CHANGES = 10_000  # to one function
MAX_NUMBER = 5  # most that are changed are axes
DETACH = "detach"  # a kind of change
# kinds that may make no difference
HARMLESS = ("order", "form", "nesting", "arguments", "number", "name")
# around what is changed
BEGIN = "«"
END = "»"
MARKUP = f"`{BEGIN}{END}"  # what a question's texts use
OPERATORS = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.MatMult: ("@", ""),
}
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
# expressions that are statements, such as calls of print, are not changed either
NEVER_CHANGED = (ast.Raise, ast.Assert, ast.While, ast.JoinedStr, ast.Expr)
NOT_OBJECTS = ("torch", "math", "F", "nn", "np", "numpy", "self")
WITHOUT_GRADIENT = ("shape", "size", "ndim", "dim", "dtype", "device")  # what these attributes give
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


class Source:
    """A module's text, and the function in it that questions are about.

    Attributes:
        lines: of the module; body: the function's statements without its docstring.
        first_lines: where the names that the function binds get their first values.
        attributes: those of self that the function reads.
    """

    def __init__(self, text: str, target: str) -> None:
        """Parse the module.

        Raises:
            ValueError: there is no such function. SyntaxError: the text is not valid Python.
        """
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.lines = self.text.split("\n")
        self.function = find(ast.parse(self.text), target)
        documented = ast.get_docstring(self.function, clean=False) is not None
        self.body = self.function.body[documented:]
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        comments = (token for token in tokens if token.type == tokenize.COMMENT)
        self.comments = {token.start[0]: token.start[1] for token in comments}
        arguments = self.function.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self.first_lines = {each.arg: 0 for each in parameters if each.arg != "self"}
        self.attributes: list[str] = []
        for node in (node for statement in self.body for node in ast.walk(statement)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.first_lines.setdefault(node.id, node.lineno)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
                self.attributes.append(ast.unparse(node))

    def column(self, line: int, offset: int) -> int:
        """Return the column at an offset, which counts bytes of UTF-8."""
        return len(self.lines[line - 1].encode()[:offset].decode())

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Return the columns between which a node stands, if it stands in one line."""
        start = self.column(node.lineno, node.col_offset)
        return start, self.column(node.lineno, node.end_col_offset or 0)

    def of(self, node: ast.expr) -> str:
        """Return the text of a node that stands in one line."""
        start, end = self.span(node)
        return self.lines[node.lineno - 1][start:end]

    def code(self, line: int) -> str:
        """Return a line without its comment."""
        return self.lines[line - 1][: self.comments.get(line)].rstrip()

    def listing(self) -> list[tuple[int, str]]:
        """Return the function's lines with their numbers, without its docstring."""
        hidden = range(0)
        if self.body != self.function.body:
            docstring = self.function.body[0]
            hidden = range(docstring.lineno, (docstring.end_lineno or 0) + 1)
        numbers = range(self.function.lineno, (self.function.end_lineno or 0) + 1)
        return [(n, self.lines[n - 1].rstrip()) for n in numbers if n not in hidden]

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
        can_be_shown = len(line) <= MAX_WIDTH and not set(line) & {*MARKUP}
        return node.lineno == node.end_lineno and can_be_shown

    def before(self, statement: ast.stmt, new: str) -> str:
        """Return the module's text with a new statement before another."""
        line = self.lines[statement.lineno - 1]
        start = self.column(statement.lineno, statement.col_offset)
        separator = f"\n{line[:start]}" if line[:start].isspace() else "; "
        return self.with_line(statement.lineno, f"{line[:start]}{new}{separator}{line[start:]}")

    def with_line(self, line: int, new: str) -> str:
        """Return the module's text with another line in the place of one."""
        return "\n".join([*self.lines[: line - 1], new, *self.lines[line:]])


@dataclasses.dataclass(frozen=True, eq=False)
class Change:
    """One change to a line of a function, inside a statement: `new` between two columns."""

    source: Source
    statement: ast.stmt
    line: int
    kind: str
    start: int
    end: int
    new: str

    def made_in(self, line: str, new: str) -> str:
        """Return a line after the change, with a text in its place."""
        return line[: self.start] + new + line[self.end :]

    @property
    def new_line(self) -> str:
        """The line after the change."""
        return self.made_in(self.source.lines[self.line - 1], self.new)

    @property
    def text(self) -> str:
        """The whole module after the change, which may not be valid Python."""
        return self.source.with_line(self.line, self.new_line)

    @property
    def shown(self) -> str:
        """The changed line for a question, without its comment; BEGIN and END mark the change."""
        line = self.made_in(self.source.code(self.line), f"{BEGIN}{self.new}{END}")
        return line.expandtabs(4).strip()


class Place(NamedTuple):
    """An expression of the function, the node that it is a part of, and its statement."""

    source: Source
    node: ast.expr
    parent: ast.AST
    statement: ast.stmt

    def changed(self, kind: str, new: str, start: int | None = None) -> Change:
        """Return the change that puts a text in its place, or in that of its end."""
        begin, end = self.source.span(self.node)
        return self.cut(kind, begin if start is None else start, end, new)

    def cut(self, kind: str, start: int, end: int, new: str = "") -> Change:
        """Return the change that puts a text between two columns of its line."""
        return Change(self.source, self.statement, self.node.lineno, kind, start, end, new)

    def followed(self, kind: str, new: str) -> Change:
        """Return the change that puts a text behind it."""
        return self.changed(kind, new, self.source.span(self.node)[1])

    @property
    def is_callee(self) -> bool:
        """Whether it is what a call calls."""
        return isinstance(self.parent, ast.Call) and self.parent.func is self.node


def bracketed(node: ast.expr, text: str) -> str:
    """Return an operand's text, in parentheses if it is not simple."""
    return text if isinstance(node, ATOMS) or text.startswith("(") else f"({text})"


# --- what an expression may become ----------------------------------------------------------


def numbers(place: Place) -> Iterator[Change]:
    """Change a number, or a flag."""
    node = place.node
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    if not isinstance(inner, ast.Constant) or isinstance(place.parent, ast.UnaryOp):
        return
    text = place.source.of(node)
    if isinstance(inner.value, bool):
        yield place.changed("flag", str(not inner.value))
    elif isinstance(inner.value, float):
        yield place.followed("number", " * 2")
        yield place.followed("number", " * 0")
    elif text.removeprefix("-").isdecimal():
        number = int(text)
        for other in (number - 1, number + 1, number + 4, -number):
            if abs(other) < MAX_NUMBER:
                yield place.changed("number", str(other))


def operations(place: Place) -> Iterator[Change]:
    """Change an operator, exchange the operands, leave one out, or calculate in another way."""
    node = place.node
    if not isinstance(node, ast.BinOp) or type(node.op) not in OPERATORS:
        return
    source = place.source
    operator, other = OPERATORS[type(node.op)]
    line = source.lines[node.lineno - 1]
    start, end = source.span(node)
    sign = line.index(operator, source.span(node.left)[1])
    behind = sign + len(operator)
    left = line[start:sign].rstrip()  # with its parentheses
    right = line[behind:end].lstrip()
    if other:
        yield place.cut("operator", sign, behind, other)
    yield place.changed("order", f"{bracketed(node.right, right)} {operator} {left}")
    yield place.cut("operand", start + len(left), end)
    if operator in "+*":
        yield place.cut("operand", start, end - len(right))
    if operator == "/":
        yield place.changed("form", f"{left} * (1 / {right})")
        yield place.changed("form", f"1 / {bracketed(node.left, left)} * {right}")
    if operator == "/" and isinstance(node.left, ast.BinOp) and "@" in left:
        first = source.of(node.left.left)
        second = source.of(node.left.right)
        yield place.changed("form", f"({first} / {right}) @ {second}")
        yield place.changed("form", f"({first} / {right}) @ ({second} / {right})")


def calls(place: Place) -> Iterator[Change]:
    """Leave a call out, or exchange two of its arguments."""
    node = place.node
    if not isinstance(node, ast.Call):
        return
    source = place.source
    arguments = [source.of(argument) for argument in node.args]
    if isinstance(node.func, ast.Attribute) and root(node.func) not in NOT_OBJECTS:
        yield place.changed("call", "", source.span(node.func.value)[1])
    elif arguments and not isinstance(node.args[0], ast.Constant | ast.UnaryOp | ast.Starred):
        yield place.changed("call", arguments[0])
    for first, second in itertools.combinations(range(len(arguments)), 2):
        swapped = [*arguments]
        swapped[first], swapped[second] = swapped[second], swapped[first]
        opening = source.span(node.args[0])[0]
        closing = source.span(node.args[-1])[1]
        yield place.cut("arguments", opening, closing, ", ".join(swapped))


def nestings(place: Place) -> Iterator[Change]:
    """Exchange a call of one argument with the call, sum or root inside it."""
    node = place.node
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return
    text = place.source.of
    callee = text(node.func)
    inner = node.args[0]
    if isinstance(inner, ast.Call) and len(inner.args) == 1 and not inner.keywords:
        yield place.changed("nesting", f"{text(inner.func)}({callee}({text(inner.args[0])}))")
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add):
        yield place.changed("nesting", f"{text(inner.left)} + {callee}({text(inner.right)})")
        yield place.changed("nesting", f"{callee}({text(inner.left)}) + {text(inner.right)}")
    if callee.endswith(".sqrt"):
        yield place.changed("form", f"{bracketed(inner, text(inner))} ** 0.5")


def root(node: ast.expr) -> str:
    """Return the name at the start of a chain of attributes; "" if something else is there."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def names(place: Place) -> Iterator[Change]:
    """Replace a name with another that has a value by then; slice what a loop is over."""
    node = place.node
    source = place.source
    original = source.of(node)
    others: list[str] = []
    if isinstance(node, ast.Attribute) and original in source.attributes:
        others = source.attributes
    is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    if is_read and original in source.first_lines:
        others = [name for name, line in source.first_lines.items() if line < node.lineno]
    for other in others:
        yield place.changed("name", other)
    if isinstance(place.parent, ast.For) and node is place.parent.iter and isinstance(node, ATOMS):
        for part in ("[1:]", "[:-1]", "[::-1]"):
            yield place.followed("loop", part)


def cuts(place: Place) -> Iterator[Change]:
    """Cut off the gradient of a value."""
    node = place.node
    if place.is_callee or getattr(place.parent, "attr", "") in WITHOUT_GRADIENT:
        return
    is_value = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    if is_value:
        is_value = place.source.of(node) in place.source.first_lines
    if is_value or isinstance(node, ast.Call):
        yield place.followed(DETACH, ".detach()")


def _changes(source: Source) -> Iterator[Change]:
    for place in source.places():
        for make in (numbers, operations, calls, nestings, names, cuts):
            yield from make(place)


def changes(source: Source) -> list[Change]:
    """Return the single changes to the function, each once."""
    by_line: dict[tuple[int, str], Change] = {}
    for change in itertools.islice(_changes(source), MAX_CHANGES):
        if change.new_line != source.lines[change.line - 1]:
            by_line.setdefault((change.line, change.new_line), change)
    return list(by_line.values())
