"""Single changes to one line of a function, made in its text at the nodes of its syntax tree.

What a question shows is the changed line as it runs; everything else stays as the student wrote it.
In a text that is shown, « and » enclose what is changed.
"""

import ast
import dataclasses
import io
import itertools
import re
import tokenize
from collections.abc import Callable, Iterator
from typing import NamedTuple

MAX_WIDTH = 200  # of a line that is changed
MAX_CHANGES = 10_000  # to one function, about
MAX_NUMBER = 5  # most that are changed are axes
MARKUP = frozenset("`«»")  # what a question's texts use
MARK = re.compile("[«»]")
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
            ValueError: there is no such function, or no code in it. SyntaxError: the text is not
                valid Python.
        """
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.lines = self.text.split("\n")
        self.function = find(ast.parse(self.text), target)
        documented = ast.get_docstring(self.function, clean=False) is not None
        self.body = self.function.body[documented:]
        if not self.body:
            raise ValueError(f"{target} has only a docstring")
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

    def part(self, line: int, start: int | None, end: int | None) -> str:
        """Return a part of a line, between the offsets of nodes, which count bytes of UTF-8."""
        return self.lines[line - 1].encode()[start:end].decode()

    def of(self, node: ast.expr) -> str:
        """Return the text of a node that stands in one line."""
        return self.part(node.lineno, node.col_offset, node.end_col_offset)

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

    def statement_lines(self) -> list[int]:
        """Return the lines of the function's statements that do not go on in another line."""
        nodes = [inner for node in self.body for inner in ast.walk(node)]
        statements = [node for node in nodes if isinstance(node, ast.stmt)]
        lines = [node.lineno for node in statements]
        short = [node.lineno for node in statements if node.lineno == node.end_lineno]
        return [line for line in sorted({*short}) if lines.count(line) == 1]

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

    def before(self, statement: ast.stmt, new: str) -> str:
        """Return the module's text with a new statement before another."""
        indentation = self.part(statement.lineno, None, statement.col_offset)
        rest = self.part(statement.lineno, statement.col_offset, None)
        separator = f"\n{indentation}" if indentation.isspace() else "; "
        return self.with_line(statement.lineno, f"{indentation}{new}{separator}{rest}")

    def with_line(self, line: int, new: str) -> str:
        """Return the module's text with another line in the place of one."""
        return "\n".join([*self.lines[: line - 1], new, *self.lines[line:]])


@dataclasses.dataclass(frozen=True, eq=False)
class Change:
    """One change to a line of a function, inside a statement; `marked` is the line after it."""

    source: Source
    statement: ast.stmt
    line: int
    kind: str
    marked: str

    @property
    def new_line(self) -> str:
        """The line as it runs."""
        return MARK.sub("", self.marked)

    @property
    def text(self) -> str:
        """The whole module after the change, which may not be valid Python."""
        return self.source.with_line(self.line, self.new_line)

    @property
    def shown(self) -> str:
        """The changed line for a question, without its comment."""
        comment = self.source.lines[self.line - 1][len(self.source.code(self.line)) :]
        return self.marked.removesuffix(comment).expandtabs(4).strip()


class Place(NamedTuple):
    """An expression of the function, the node that it is a part of, and its statement."""

    source: Source
    node: ast.expr
    parent: ast.AST
    statement: ast.stmt

    @property
    def is_variable(self) -> bool:
        """Whether it is a name that the function binds, where it is read."""
        node = self.node
        is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        return is_read and self.source.of(node) in self.source.first_lines

    def change(self, kind: str, new: str) -> Change:
        """Return the change that puts a text in its place, where something may be marked."""
        node = self.node
        before = self.source.part(node.lineno, None, node.col_offset)
        after = self.source.part(node.lineno, node.end_col_offset, None)
        marked = new if "«" in new else f"«{new}»"
        return Change(self.source, self.statement, node.lineno, kind, f"{before}{marked}{after}")


# --- what an expression may become: kinds of changes, and texts -------------------------------

Texts = Iterator[tuple[str, str]]


def numbers(place: Place) -> Texts:
    """Change a number, or a flag."""
    node = place.node
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    if not isinstance(inner, ast.Constant) or isinstance(place.parent, ast.UnaryOp):
        return
    text = place.source.of(node)
    if isinstance(inner.value, bool):
        yield "flag", str(not inner.value)
    elif text.removeprefix("-").isdecimal():
        number = int(text)
        for other in (number - 1, number + 1, number + 4, -number):
            if abs(other) < MAX_NUMBER:
                yield "number", str(other)


def operations(place: Place) -> Texts:
    """Change an operator, exchange the operands, leave one out, or calculate in another way."""
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
    yield "order", f"{right} {sign} {left}"
    yield "operand", f"{left}«»"
    if sign in "+*":
        yield "operand", f"«»{right}"
    if sign == "/":
        yield "form", f"{left} * (1 / {right})"


def calls(place: Place) -> Texts:
    """Leave a call out, or exchange two of its arguments."""
    node = place.node
    if not isinstance(node, ast.Call):
        return
    source = place.source
    called = source.of(node.func.value) if isinstance(node.func, ast.Attribute) else "self"
    if "(" in called or called.partition(".")[0] not in NOT_OBJECTS:
        yield "call", f"{called}«»"
    elif node.args and not isinstance(node.args[0], ast.Constant | ast.UnaryOp | ast.Starred):
        yield "call", source.of(node.args[0])
    for first, second in itertools.combinations(range(len(node.args)), 2):
        swapped = [source.of(argument) for argument in node.args]
        swapped[first], swapped[second] = swapped[second], swapped[first]
        opening = source.part(node.lineno, node.col_offset, node.args[0].col_offset)
        closing = source.part(node.lineno, node.args[-1].end_col_offset, node.end_col_offset)
        yield "arguments", f"{opening}«{', '.join(swapped)}»{closing}"


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


def changes(source: Source) -> list[Change]:
    """Return the single changes to the function, each once."""
    found: dict[tuple[int, str], Change] = {}
    for place in source.places():
        for kind, new in itertools.chain.from_iterable(make(place) for make in KINDS):
            change = place.change(kind, new)
            if change.new_line != source.lines[change.line - 1]:
                found.setdefault((change.line, change.new_line), change)
        if len(found) > MAX_CHANGES:
            break
    return list(found.values())
