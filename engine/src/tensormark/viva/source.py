"""A function that questions are about, as it stands in a submission, and single changes to it."""

import dataclasses
import re
from typing import NamedTuple

from tensormark.intake.process import READER

MARK = re.compile("[«»]")
PARSING = 2.0  # seconds of processor time; a function takes a tenth of one


class UnfitError(Exception):
    """No questions can be asked about a function; the message says why."""


class Statement(NamedTuple):
    """Where a statement is; of one with a body, what comes before the body.

    Attributes:
        first, last: lines; column: of its beginning, in characters.
    """

    first: int
    last: int
    column: int


@dataclasses.dataclass(frozen=True, eq=False)
class Change:
    """One change to a line of a function, inside a statement; `marked` is the line after it."""

    statement: Statement
    line: int
    kind: str
    marked: str

    @property
    def new_line(self) -> str:
        """The line as it runs."""
        return MARK.sub("", self.marked)

    @property
    def shown(self) -> str:
        """The line for a question."""
        return self.marked.expandtabs(4).strip()


class Source:
    """A module's text, and the function in it that questions are about; see intake/outline.py.

    Attributes:
        lines: of the module; first, last: of the function.
        parameters: the names of the positional ones.
        statements: in the order of the text, but for those within others.
        changes: single changes to a line.
    """

    def __init__(self, text: str, target: str) -> None:
        """Have the module parsed.

        Raises:
            UnfitError: there is no such function, or it is too complex. InspectionError: nothing
                can be parsed on this machine.
        """
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.lines = self.text.split("\n")
        found = READER.ask("outline", PARSING, text=self.text, target=target)
        if not found:
            raise UnfitError("it was not found, or is too complex")
        self.first, self.last = found["lines"]
        self.docstring = [range(first, last + 1) for first, last in found["docstring"]]
        self.parameters: list[str] = found["parameters"]
        self.statements = [Statement(*each) for each in found["statements"]]
        self.changes = [Change(self.statements[at], *rest) for at, *rest in found["changes"]]

    def listing(self) -> list[tuple[int, str]]:
        """Return the function's lines with their numbers, without its docstring."""
        numbers = range(self.first, self.last + 1)
        shown = (n for n in numbers if not any(n in each for each in self.docstring))
        return [(n, self.lines[n - 1].rstrip()) for n in shown]

    def statement_at(self, line: int) -> Statement | None:
        """Return the statement on a line; None if there is none, or more than one."""
        found = [each for each in self.statements if each.first <= line <= each.last]
        return found[0] if len(found) == 1 else None

    def before(self, statement: Statement, new: str) -> str:
        """Return the module's text with a new statement before another."""
        line = self.lines[statement.first - 1]
        indentation = line[: statement.column]
        separator = "; " if indentation.strip() else f"\n{indentation}"
        return self.with_line(
            statement.first, f"{indentation}{new}{separator}{line[statement.column :]}"
        )

    def with_line(self, line: int, new: str) -> str:
        """Return the module's text with another line in the place of one."""
        return "\n".join([*self.lines[: line - 1], new, *self.lines[line:]])

    def changed(self, change: Change) -> str:
        """Return the module's text after a change; it may not be valid Python."""
        return self.with_line(change.line, change.new_line)
