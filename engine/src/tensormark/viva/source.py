"""Single changes to a function, made in its text at the nodes of its syntax tree.

What is shown is what runs: everything outside the changed place stays as the student wrote it.
"""

import ast
import bisect
import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from tensormark.viva.question import Mark, named

MAX_REPLACEMENT_LENGTH = 60  # characters
DETACH, UNWRAP = "detach", "unwrap"  # kinds of changes
Function = ast.FunctionDef | ast.AsyncFunctionDef
UNCHANGED_STATEMENTS = (ast.Raise, ast.Assert, ast.While, ast.JoinedStr, ast.Import, ast.ImportFrom)
STRAIGHT_LINE_STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
ATOMIC_EXPRESSIONS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)


class Edit(NamedTuple):
    """What an expression may become.

    Attributes:
        kind: such as "number".
        new: the text of the whole expression.
        start, end: of the marked part, in the module's text; None: all of the expression.
        shown: what the marked part becomes; None: `new`. Empty: it is removed.
    """

    kind: str
    new: str
    start: int | None = None
    end: int | None = None
    shown: str | None = None


@dataclasses.dataclass(frozen=True)
class Change:
    """One change to a function's text.

    Attributes:
        kind: such as "number".
        mark: its place; shown: what that becomes, empty if it is removed.
        text: the whole module after the change, which may not be valid Python.
    """

    kind: str
    mark: Mark
    shown: str
    text: str

    @property
    def reveals(self) -> bool:
        """Whether the replacement reveals, without the code, what was there."""
        return not set(self.shown).isdisjoint(" ([")

    @property
    def line(self) -> int:
        """The line of its place in the file."""
        return self.mark.line

    def sentence(self, place: int = 0) -> str:
        """Return the change as a sentence; `place` is that of its mark in the question."""
        label = named(place)
        if self.kind == DETACH:
            return f"`.detach()` is added to the code marked {label}."
        if self.kind == UNWRAP:
            return f"The call marked {label} is removed, and its first argument takes its place."
        if not self.shown:
            return f"The code marked {label} is removed."
        return f"The code marked {label} is replaced with `{self.shown}`."

    def short(self, place: int = 0) -> str:
        """Return the change as an option; see `sentence`."""
        if self.kind == DETACH:
            return f"{named(place)}: `.detach()` is added"
        if self.kind == UNWRAP:
            return f"{named(place)}: the call is removed, keeping its first argument"
        return f"{named(place)}: " + (f"replaced with `{self.shown}`" if self.shown else "removed")


def find(tree: ast.Module, target: str) -> Function | None:
    """Return the function with a name such as "Layer.forward" or "scores"; the last one counts."""
    body: Sequence[ast.stmt] = tree.body
    *outer, last = target.split(".")
    for name in outer:
        classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]
        body = classes[-1].body if classes else ()
    functions = [node for node in body if isinstance(node, Function) and node.name == last]
    return functions[-1] if functions else None


class Source:
    """A module's text, and the function in it that questions are about."""

    def __init__(self, text: str, target: str) -> None:
        """Parse the module.

        Raises:
            ValueError: the module has no such function. SyntaxError: it is not valid Python.
        """
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.target = target
        self.tree = ast.parse(self.text)
        function = find(self.tree, target)
        if function is None:
            raise ValueError(f"there is no function {target}")
        self.function = function
        self.lines = self.text.split("\n")
        lengths = (len(line) + 1 for line in self.lines)
        self.starts = [0, *itertools.accumulate(lengths)]

    @cached_property
    def body(self) -> list[ast.stmt]:
        """The function's statements without its docstring."""
        body = self.function.body
        has_docstring = ast.get_docstring(self.function, clean=False) is not None
        return body[1:] if has_docstring else body

    def offset(self, line: int, column: int) -> int:
        """Return the offset in the text of a line and a column, which counts bytes of UTF-8."""
        before = self.lines[line - 1].encode()[:column].decode()
        return self.starts[line - 1] + len(before)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return where a node's text begins and ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.offset(node.lineno, node.col_offset)
        return start, self.offset(node.end_lineno, node.end_col_offset)

    def of(self, node: ast.expr | ast.stmt) -> str:
        """Return a node's text."""
        start, end = self.span(node)
        return self.text[start:end]

    def listing(self) -> tuple[tuple[int, str], ...]:
        """Return the function's lines with their numbers, without its docstring."""
        first = self.function.lineno
        header = range(first, max(first, self.function.body[0].lineno - 1) + 1)
        body = range(self.body[0].lineno if self.body else first, self.function.end_lineno or first)
        numbers = sorted({*header, *body, self.function.end_lineno or first})
        if self.body and self.body[0] is not self.function.body[0]:
            hidden = self.function.body[0]
            numbers = [n for n in numbers if not hidden.lineno <= n <= (hidden.end_lineno or 0)]
        return tuple((number, self.lines[number - 1].rstrip()) for number in numbers)

    def nodes(self) -> Iterator[tuple[ast.expr, list[ast.AST]]]:
        """Yield the expressions that may be changed, each with its ancestors, innermost first."""
        stack: list[tuple[ast.AST, list[ast.AST]]] = [(node, []) for node in reversed(self.body)]
        while stack:
            node, ancestors = stack.pop()
            if isinstance(node, UNCHANGED_STATEMENTS) or is_bare_call(node):
                continue
            if isinstance(node, ast.expr):
                yield node, ancestors
            children = [child for child in ast.iter_child_nodes(node) if _is_code(node, child)]
            stack += [(child, [node, *ancestors]) for child in reversed(children)]

    def mark(self, start: int, end: int) -> Mark:
        """Return a part of one line as a listing shows it."""
        line = bisect.bisect_right(self.starts, start)
        text, first = self.lines[line - 1], self.starts[line - 1]
        left, right = (len(text[: place - first].expandtabs(4)) for place in (start, end))
        return Mark(self.target, line, left, right)

    def change(self, node: ast.expr, ancestors: Sequence[ast.AST], edit: Edit) -> Change | None:
        """Return the change that makes an edit, or None if it cannot be shown."""
        start, end = self.span(node)
        new = f"({edit.new})" if needs_parentheses(node, ancestors, edit.new) else edit.new
        left, right = edit.start or start, edit.end or end
        shown = new if edit.shown is None else edit.shown
        one_line = node.lineno == node.end_lineno and "\n" not in new
        if named(0)[0] in shown:
            return None  # it would be taken for the label of a mark
        if not one_line or len(shown) > MAX_REPLACEMENT_LENGTH or self.text[start:end] == new:
            return None
        text = self.text[:start] + new + self.text[end:]
        return Change(edit.kind, self.mark(left, right), shown, text)

    def without(self, statement: ast.stmt) -> Change | None:
        """Return the change that removes a statement, or None unless it fills one line."""
        start, end = self.span(statement)
        line = self.lines[statement.lineno - 1]
        if statement.lineno != statement.end_lineno or ";" in line:
            return None
        text = f"{self.text[:start]}pass{self.text[end:]}"
        return Change("statement", self.mark(start, end), "pass", text)

    def before(self, statement: ast.stmt, new: str) -> str:
        """Return the module's text with a new statement before another."""
        start, _ = self.span(statement)
        indentation = self.lines[statement.lineno - 1][: start - self.starts[statement.lineno - 1]]
        separator = f"\n{indentation}" if indentation.isspace() else "; "
        return f"{self.text[:start]}{new}{separator}{self.text[start:]}"

    def certainly_runs(self, line: int) -> bool:
        """Return whether every call that returns must run a line: nothing before it returns."""
        for statement in self.body:
            if statement.lineno <= line <= (statement.end_lineno or line):
                return isinstance(statement, STRAIGHT_LINE_STATEMENTS)
            if any(isinstance(node, ast.Return) for node in ast.walk(statement)):
                return False
        return False

    def stopping_at(self, line: int) -> str:
        """Return the module's text, raising before a line's innermost statement."""
        enclosing = [
            node
            for top in self.body
            for node in ast.walk(top)
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or line)
        ]
        innermost = max(enclosing, key=lambda node: (node.lineno, node.col_offset))
        return self.before(innermost, "raise RuntimeError")

    def beginning_with(self, statement: str) -> str:
        """Return the module's text with a new statement at the beginning of the function."""
        return self.before(self.body[0], statement)


def is_bare_call(node: ast.AST) -> bool:
    """Return whether a node is a call such as `print(x)`, whose result is not used."""
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name)


def _is_code(node: ast.AST, child: ast.AST) -> bool:
    """Return whether a child of a node is code that runs, not an annotation."""
    if isinstance(node, ast.AnnAssign) and child is node.annotation:
        return False
    return not isinstance(child, ast.arguments | ast.expr_context | ast.operator)


def needs_parentheses(node: ast.expr, ancestors: Sequence[ast.AST], new: str) -> bool:
    """Return whether a new text would be parsed differently without parentheses."""
    try:
        expression = ast.parse(new, mode="eval").body
    except SyntaxError:
        return False
    if isinstance(expression, ATOMIC_EXPRESSIONS) or type(expression) is type(node):
        return False
    outer = ancestors[0]
    if isinstance(expression, ast.UnaryOp) and isinstance(outer, ast.Subscript | ast.Compare):
        return False
    return isinstance(outer, ast.BinOp | ast.UnaryOp | ast.Attribute | ast.Subscript | ast.Compare)
