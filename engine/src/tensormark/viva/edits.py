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
DETACH = "detach"  # a kind of edit
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


class Edit(NamedTuple):
    """A part of a line, from one column to another, and what takes its place."""

    kind: str
    start: int
    end: int
    new: str


class Place(NamedTuple):
    """An expression of the function, the node that it is a part of, and its statement."""

    node: ast.expr
    parent: ast.AST
    statement: ast.stmt


def find(tree: ast.Module, target: str) -> Function | None:
    """Return the function with a name such as "Layer.forward" or "scores"; the last one counts."""
    body = tree.body
    *outer, last = target.split(".")
    for name in outer:
        classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]
        body = classes[-1].body if classes else []
    functions = [node for node in body if isinstance(node, Function) and node.name == last]
    return functions[-1] if functions else None


class Source:
    """A module's text, and the function in it that questions are about.

    Attributes:
        lines: of the module; body: the function's statements without its docstring.
        first_lines: where the names that the function binds get their first values.
    """

    def __init__(self, text: str, target: str) -> None:
        """Parse the module.

        Raises:
            ValueError: there is no such function. SyntaxError: the text is not valid Python.
        """
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        tree = ast.parse(self.text)
        function = find(tree, target)
        if function is None:
            raise ValueError(f"there is no function {target}")
        self.function = function
        self.lines = self.text.split("\n")
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        comments = (token for token in tokens if token.type == tokenize.COMMENT)
        self.comments = {token.start[0]: token.start[1] for token in comments}
        documented = ast.get_docstring(function, clean=False) is not None
        self.body = function.body[1:] if documented else function.body
        self._find_names()

    def _find_names(self) -> None:
        arguments = self.function.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self.first_lines = {each.arg: 0 for each in parameters if each.arg != "self"}
        self.attributes = list[str]()  # of self, that the function reads
        for node in (node for statement in self.body for node in ast.walk(statement)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.first_lines.setdefault(node.id, node.lineno)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
                self.attributes.append(ast.unparse(node))

    def column(self, line: int, offset: int) -> int:
        """Return the column at an offset, which counts bytes of UTF-8."""
        return len(self.lines[line - 1].encode()[:offset].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the columns between which a node stands, if it stands in one line."""
        start = self.column(node.lineno, node.col_offset)
        return start, self.column(node.lineno, node.end_col_offset or 0)

    def of(self, node: ast.expr | ast.stmt) -> str:
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
        first = self.function.lineno
        last = self.function.end_lineno or 0
        numbers = (n for n in range(first, last + 1) if n not in hidden)
        return [(number, self.lines[number - 1].rstrip()) for number in numbers]

    def places(self) -> Iterator[Place]:
        """Yield the expressions that may be changed, in the order of the text."""
        waiting: list[tuple[ast.AST, ast.AST, ast.stmt]] = []
        waiting += [(node, self.function, node) for node in reversed(self.body)]
        while waiting:
            node, parent, statement = waiting.pop()
            if isinstance(node, NEVER_CHANGED):
                continue
            if isinstance(node, ast.expr) and self.is_plain(node):
                yield Place(node, parent, statement)
            annotation = getattr(node, "annotation", None)
            for child in reversed(list(ast.iter_child_nodes(node))):
                if child is not annotation and not isinstance(child, ast.arguments):
                    inner = child if isinstance(child, ast.stmt) else statement
                    waiting.append((child, node, inner))

    def is_plain(self, node: ast.expr | ast.stmt) -> bool:
        """Return whether a node stands in one line that a question can show."""
        line = self.lines[node.lineno - 1]
        can_be_shown = len(line) <= MAX_WIDTH and not set(line) & {*MARKUP}
        return node.lineno == node.end_lineno and can_be_shown

    def before(self, statement: ast.stmt, new: str) -> str:
        """Return the module's text with a new statement before another."""
        place = statement.lineno - 1
        line = self.lines[place]
        start = self.column(statement.lineno, statement.col_offset)
        separator = f"\n{line[:start]}" if line[:start].isspace() else "; "
        return self.with_line(place + 1, f"{line[:start]}{new}{separator}{line[start:]}")

    def with_line(self, line: int, new: str) -> str:
        """Return the module's text with another line in the place of one."""
        return "\n".join([*self.lines[: line - 1], new, *self.lines[line:]])


@dataclasses.dataclass(frozen=True, eq=False)
class Change:
    """One change to a line of a function, inside a statement."""

    source: Source
    statement: ast.stmt
    line: int
    edit: Edit

    @property
    def new_line(self) -> str:
        """The line after the change."""
        line = self.source.lines[self.line - 1]
        return line[: self.edit.start] + self.edit.new + line[self.edit.end :]

    @property
    def text(self) -> str:
        """The whole module after the change, which may not be valid Python."""
        return self.source.with_line(self.line, self.new_line)

    @property
    def shown(self) -> str:
        """The changed line for a question, without its comment; BEGIN and END mark the change."""
        line = self.source.code(self.line)
        new = f"{BEGIN}{self.edit.new}{END}"
        return (line[: self.edit.start] + new + line[self.edit.end :]).expandtabs(4).strip()


def bracketed(node: ast.expr, text: str) -> str:
    """Return an operand's text, in parentheses if it is not simple."""
    return text if isinstance(node, ATOMS) or text.startswith("(") else f"({text})"


# --- what an expression may become ----------------------------------------------------------


def numbers(source: Source, place: Place) -> Iterator[Edit]:
    """Change a number, or a flag."""
    node = place.node
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    if not isinstance(inner, ast.Constant) or isinstance(place.parent, ast.UnaryOp):
        return
    text = source.of(node)
    start, end = source.span(node)
    if isinstance(inner.value, bool):
        yield Edit("flag", start, end, str(not inner.value))
    elif isinstance(inner.value, float):
        yield Edit("number", end, end, " * 2")
        yield Edit("number", end, end, " * 0")
    elif text.removeprefix("-").isdecimal():
        number = int(text)
        for other in (number - 1, number + 1, number + 4, -number):
            if abs(other) < MAX_NUMBER:
                yield Edit("number", start, end, str(other))


def operations(source: Source, place: Place) -> Iterator[Edit]:
    """Change an operator, exchange the operands, leave one out, or calculate in another way."""
    node = place.node
    if not isinstance(node, ast.BinOp) or type(node.op) not in OPERATORS:
        return
    operator, other = OPERATORS[type(node.op)]
    line = source.lines[node.lineno - 1]
    start, end = source.span(node)
    sign = line.index(operator, source.span(node.left)[1])
    behind = sign + len(operator)
    left = line[start:sign].rstrip()  # with its parentheses
    right = line[behind:end].lstrip()
    if other:
        yield Edit("operator", sign, behind, other)
    yield Edit("order", start, end, f"{bracketed(node.right, right)} {operator} {left}")
    yield Edit("operand", start + len(left), end, "")
    if operator in "+*":
        yield Edit("operand", start, end - len(right), "")
    if operator == "/":
        yield Edit("form", start, end, f"{left} * (1 / {right})")
        yield Edit("form", start, end, f"1 / {bracketed(node.left, left)} * {right}")
    if operator == "/" and isinstance(node.left, ast.BinOp) and "@" in left:
        first = source.of(node.left.left)
        second = source.of(node.left.right)
        yield Edit("form", start, end, f"({first} / {right}) @ {second}")
        yield Edit("form", start, end, f"({first} / {right}) @ ({second} / {right})")


def calls(source: Source, place: Place) -> Iterator[Edit]:
    """Leave a call out, exchange arguments, or exchange a call with what is inside it."""
    node = place.node
    if not isinstance(node, ast.Call):
        return
    start, end = source.span(node)
    arguments = [source.of(argument) for argument in node.args]
    if isinstance(node.func, ast.Attribute) and root(node.func) not in NOT_OBJECTS:
        yield Edit("call", source.span(node.func.value)[1], end, "")
    elif arguments and not isinstance(node.args[0], ast.Constant | ast.UnaryOp | ast.Starred):
        yield Edit("call", start, end, arguments[0])
    for first, second in itertools.combinations(range(len(arguments)), 2):
        swapped = [*arguments]
        swapped[first], swapped[second] = swapped[second], swapped[first]
        opening = source.span(node.args[0])[0]
        closing = source.span(node.args[-1])[1]
        yield Edit("arguments", opening, closing, ", ".join(swapped))
    yield from nestings(source, node)


def nestings(source: Source, node: ast.Call) -> Iterator[Edit]:
    """Exchange a call of one argument with the call, sum or root inside it."""
    if len(node.args) != 1 or node.keywords:
        return
    start, end = source.span(node)
    callee = source.of(node.func)
    inner = node.args[0]
    if isinstance(inner, ast.Call) and len(inner.args) == 1 and not inner.keywords:
        argument = source.of(inner.args[0])
        yield Edit("nesting", start, end, f"{source.of(inner.func)}({callee}({argument}))")
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add):
        left = source.of(inner.left)
        right = source.of(inner.right)
        yield Edit("nesting", start, end, f"{left} + {callee}({right})")
        yield Edit("nesting", start, end, f"{callee}({left}) + {right}")
    if callee.endswith(".sqrt"):
        base = bracketed(inner, source.of(inner))
        yield Edit("form", start, end, f"{base} ** 0.5")


def root(node: ast.expr) -> str:
    """Return the name at the start of a chain of attributes; "" if something else is there."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def names(source: Source, place: Place) -> Iterator[Edit]:
    """Replace a name with another that has a value by then; slice what a loop is over."""
    node = place.node
    start, end = source.span(node)
    original = source.of(node)
    if isinstance(node, ast.Attribute) and original in source.attributes:
        for other in dict.fromkeys(source.attributes):
            if other != original:
                yield Edit("name", start, end, other)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for other, line in source.first_lines.items():
            known = original in source.first_lines and line < node.lineno
            if known and other != original:
                yield Edit("name", start, end, other)
    if isinstance(place.parent, ast.For) and node is place.parent.iter and isinstance(node, ATOMS):
        for part in ("[1:]", "[:-1]", "[::-1]"):
            yield Edit("loop", end, end, part)


def cuts(source: Source, place: Place) -> Iterator[Edit]:
    """Cut off the gradient of a value."""
    node = place.node
    parent = place.parent
    is_callee = isinstance(parent, ast.Call) and parent.func is node
    if is_callee or getattr(parent, "attr", "") in WITHOUT_GRADIENT:
        return
    is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Call) or (is_read and source.of(node) in source.first_lines):
        end = source.span(node)[1]
        yield Edit(DETACH, end, end, ".detach()")


def _changes(source: Source) -> Iterator[Change]:
    for place in source.places():
        for make in (numbers, operations, calls, names, cuts):
            for edit in make(source, place):
                yield Change(source, place.statement, place.node.lineno, edit)


def changes(source: Source) -> list[Change]:
    """Return the single changes to the function, each once."""
    by_line = dict[tuple[int, str], Change]()
    for change in itertools.islice(_changes(source), MAX_CHANGES):
        if change.new_line != source.lines[change.line - 1]:
            by_line.setdefault((change.line, change.new_line), change)
    return list(by_line.values())
