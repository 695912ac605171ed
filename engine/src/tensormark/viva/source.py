"""Single changes of a function, made in its text at the places of its syntax tree.

What is shown is what runs: everything outside of the changed place stays as the student has written
it.
"""

import ast
import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property

LONGEST = 60  # characters of a place that a question shows
Function = ast.FunctionDef | ast.AsyncFunctionDef
NOT_CHANGED = (ast.Raise, ast.Assert, ast.While, ast.JoinedStr, ast.Import, ast.ImportFrom)
SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)


@dataclasses.dataclass(frozen=True)
class Change:
    """One change of a function's text.

    Attributes:
        kind: such as "constant".
        line: of its place in the file; statement: the line in which the statement begins.
        before, after: the smallest part of the line that shows it, and what that becomes; after
            is empty where a statement is left out.
        changed_line: its statement after it, or the first line of that.
        text: the whole module after it, which may not be Python.
    """

    kind: str
    line: int
    statement: int
    before: str
    after: str
    changed_line: str
    text: str

    @property
    def says(self) -> str:
        """What is changed, as part of a sentence."""
        if not self.after:
            return f"line {self.line}, `{self.before}`, is left out"
        return f"in line {self.line}, `{self.before}` becomes `{self.after}`"

    @property
    def short(self) -> str:
        """The same, as an option."""
        if not self.after:
            return f"line {self.line}: left out"
        return f"line {self.line}: `{self.before}` becomes `{self.after}`"


def find(tree: ast.Module, target: str) -> Function | None:
    """Return the function that a name such as "Layer.forward" or "embed" stands for, or None."""
    body: Sequence[ast.stmt] = tree.body
    *outer, last = target.split(".")
    for name in outer:
        classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]
        body = classes[-1].body if classes else ()
    found = [node for node in body if isinstance(node, Function) and node.name == last]
    return found[-1] if found else None


class Source:
    """A module's text, and the function in it that is asked about."""

    def __init__(self, text: str, target: str) -> None:
        """Parse it.

        Raises:
            ValueError: it has no such function. SyntaxError: it is not Python.
        """
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.target = target
        function = find(ast.parse(self.text), target)
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
        """Return the place in the text; columns count bytes of UTF-8."""
        own = self.lines[line - 1].encode()[:column].decode()
        return self.starts[line - 1] + len(own)

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
        """Yield the expressions that may be changed, each with the nodes around it, inner first."""
        waiting: list[tuple[ast.AST, list[ast.AST]]] = [(node, []) for node in reversed(self.body)]
        while waiting:
            node, around = waiting.pop()
            if isinstance(node, NOT_CHANGED):
                continue
            if isinstance(node, ast.expr):
                yield node, around
            children = [child for child in ast.iter_child_nodes(node) if _runs(node, child)]
            waiting += [(child, [node, *around]) for child in reversed(children)]

    def statement_of(self, around: Sequence[ast.AST]) -> ast.stmt:
        """Return the innermost statement among the nodes around an expression."""
        return next(node for node in around if isinstance(node, ast.stmt))

    def change(
        self, kind: str, node: ast.expr, around: Sequence[ast.AST], new: str
    ) -> Change | None:
        """Return the change of an expression's text, or None if it cannot be shown."""
        statement = self.statement_of(around)
        start, end = self.span(node)
        if node.lineno != node.end_lineno or self.text[start:end] == new:
            return None
        if needs_parentheses(node, around, new):
            new = f"({new})"
        line, first = self.lines[node.lineno - 1], self.starts[node.lineno - 1]
        if "\n" in new:
            return None
        whole, last = self.span(statement)
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.Return | ast.Expr):
            changed = self.text[whole:start] + new + self.text[end:last]
        else:
            changed = line[: start - first] + new + line[end - first :]
        for shown in (node, *around):
            if isinstance(shown, ast.keyword | ast.expr) and shown.lineno == shown.end_lineno:
                left, right = self.span(shown)  # type: ignore[arg-type]
                before = self.text[left:right]
                after = before[: start - left] + new + before[end - left :]
                plain = len(before) > 1 or isinstance(shown, ast.Name)
                if max(len(before), len(after)) <= LONGEST and line.count(before) == 1 and plain:
                    own = (kind, node.lineno, statement.lineno, before, after)
                    whole_text = self.text[:start] + new + self.text[end:]
                    return Change(*own, changed.strip(), whole_text)
        return None

    def without(self, statement: ast.stmt) -> Change | None:
        """Return the change that leaves out a statement of one line."""
        line = self.lines[statement.lineno - 1]
        start, end = self.span(statement)
        alone = statement.lineno == statement.end_lineno and ";" not in line
        if not alone or end - start > LONGEST:
            return None
        number, text = statement.lineno, f"{self.text[:start]}pass{self.text[end:]}"
        return Change("statement", number, number, self.text[start:end], "", "", text)

    def beginning_with(self, statement: str) -> str:
        """Return the module's text with another statement at the beginning of the function."""
        start, _ = self.span(self.body[0])
        indent = " " * self.body[0].col_offset
        return f"{self.text[:start]}{statement}\n{indent}{self.text[start:]}"

    def returning(self, statement: ast.stmt, expression: str) -> str:
        """Return the module's text where a return of an expression precedes a statement."""
        start, _ = self.span(statement)
        indent = " " * statement.col_offset
        return f"{self.text[:start]}return {expression}\n{indent}{self.text[start:]}"


def _runs(node: ast.AST, child: ast.AST) -> bool:
    """Say whether a child of a node is code that runs, and not an annotation."""
    if isinstance(node, ast.AnnAssign) and child is node.annotation:
        return False
    return not isinstance(child, ast.arguments | ast.expr_context | ast.operator)


def needs_parentheses(node: ast.expr, around: Sequence[ast.AST], new: str) -> bool:
    """Say whether a new text would be read differently without parentheses."""
    try:
        made = ast.parse(new, mode="eval").body
    except SyntaxError:
        return False
    if isinstance(made, SIMPLE) or type(made) is type(node):
        return False
    outer = around[0]
    return isinstance(outer, ast.BinOp | ast.UnaryOp | ast.Attribute | ast.Subscript | ast.Compare)
