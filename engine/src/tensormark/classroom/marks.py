"""The written questions, and a student's marks for them as far as they are settled."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from tensormark.reports.text import shown


@dataclass(frozen=True)
class Question:
    """A written question.

    Attributes:
        items: the points of each line of its rubric.
    """

    id: str
    title: str
    items: tuple[Decimal, ...]

    @property
    def most(self) -> Decimal:
        """The maximum points."""
        return sum(self.items, Decimal(0))

    @property
    def column(self) -> str:
        """The title of its column of points, which differs for every rubric."""
        return f"{self.id} ({' + '.join(map(shown, self.items))})"

    @property
    def comment(self) -> str:
        """The title of its column of comments."""
        return f"{self.id} comment"


@dataclass(frozen=True)
class Answer:
    """One sheet's mark for a student's answer to a question, with its free text made printable.

    Attributes:
        points: None if it is not marked.
        who: the marker.
        where: the place in the sheet.
    """

    student: str
    question: str
    points: Decimal | None
    comment: str
    who: str
    where: str

    def __str__(self) -> str:
        points = "-" if self.points is None else shown(self.points)
        return f"{points} ({', '.join(filter(None, (self.who, self.where)))})"


@dataclass(frozen=True)
class Mark:
    """The marks of all sheets for a student's answer to a question."""

    question: Question
    answers: Sequence[Answer] = ()

    @property
    def values(self) -> list[Decimal]:
        """The distinct points given, in the order of the sheets."""
        given = [answer.points for answer in self.answers if answer.points is not None]
        return list(dict.fromkeys(given))

    @property
    def points(self) -> Decimal | None:
        """The points, or None if the answer is unmarked or disputed."""
        return self.values[0] if len(self.values) == 1 else None

    @property
    def disputed(self) -> bool:
        """Whether sheets differ in the points."""
        return len(self.values) > 1

    @property
    def comments(self) -> list[str]:
        """The distinct comments."""
        return list(dict.fromkeys(answer.comment for answer in self.answers if answer.comment))

    @property
    def who(self) -> str:
        """The names of all markers."""
        return ", ".join(dict.fromkeys(answer.who for answer in self.answers if answer.who))


@dataclass(frozen=True)
class Marks:
    """A student's marks for all questions."""

    marks: Sequence[Mark]

    @property
    def points(self) -> Decimal | None:
        """The sum of the points; None while an answer is unmarked or disputed."""
        given = [mark.points for mark in self.marks if mark.points is not None]
        return sum(given, Decimal(0)) if len(given) == len(self.marks) else None

    @property
    def most(self) -> Decimal:
        """The maximum points of all questions."""
        return sum((mark.question.most for mark in self.marks), Decimal(0))

    @property
    def begun(self) -> bool:
        """Whether any answer is marked."""
        return any(mark.values for mark in self.marks)

    @property
    def lacking(self) -> str:
        """What is unsettled, for staff; "" if nothing is."""
        disputed = [
            f"{mark.question.id} ({' or '.join(map(shown, mark.values))})"
            for mark in self.marks
            if mark.disputed
        ]
        unmarked = [mark.question.id for mark in self.marks if not mark.values]
        parts = [f"sheets disagree on {', '.join(disputed)}"] if disputed else []
        parts += [f"not marked: {', '.join(unmarked)}"] if unmarked and self.begun else []
        return "; ".join(parts) or ("" if self.begun else "not marked")
