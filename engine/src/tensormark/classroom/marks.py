"""The written questions, and what a student has for them as far as it is settled."""

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
        """All its points."""
        return sum(self.items, Decimal(0))

    @property
    def column(self) -> str:
        """The title of the column for its points; marks by another rubric are under another."""
        return f"{self.id} ({' + '.join(map(shown, self.items))})"

    @property
    def comment(self) -> str:
        """The title of the column for a comment."""
        return f"{self.id} comment"


@dataclass(frozen=True)
class Answer:
    """What one sheet says of a student's answer to a question; what people wrote is printable.

    Attributes:
        points: None if it is not marked.
        who: has marked it.
        where: it stands.
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
    """What all sheets say of a student's answer to a question."""

    question: Question
    answers: Sequence[Answer] = ()

    @property
    def values(self) -> list[Decimal]:
        """The different points that were given, in the order of the sheets."""
        given = [answer.points for answer in self.answers if answer.points is not None]
        return list(dict.fromkeys(given))

    @property
    def points(self) -> Decimal | None:
        """None if it is not marked, or not settled."""
        return self.values[0] if len(self.values) == 1 else None

    @property
    def disputed(self) -> bool:
        """Whether sheets have different points."""
        return len(self.values) > 1

    @property
    def comments(self) -> list[str]:
        """The different comments."""
        return list(dict.fromkeys(answer.comment for answer in self.answers if answer.comment))

    @property
    def who(self) -> str:
        """Everybody who has marked it."""
        return ", ".join(dict.fromkeys(answer.who for answer in self.answers if answer.who))


@dataclass(frozen=True)
class Marks:
    """What a student has for all questions."""

    marks: Sequence[Mark]

    @property
    def points(self) -> Decimal | None:
        """All points; None while an answer is not settled."""
        given = [mark.points for mark in self.marks if mark.points is not None]
        return sum(given, Decimal(0)) if len(given) == len(self.marks) else None

    @property
    def most(self) -> Decimal:
        """The points of all questions."""
        return sum((mark.question.most for mark in self.marks), Decimal(0))

    @property
    def begun(self) -> bool:
        """Whether any answer is marked."""
        return any(mark.values for mark in self.marks)

    @property
    def lacking(self) -> str:
        """What is not settled, for staff; "" if everything is."""
        disputed = [
            f"{mark.question.id} ({' or '.join(map(shown, mark.values))})"
            for mark in self.marks
            if mark.disputed
        ]
        unmarked = [mark.question.id for mark in self.marks if not mark.values]
        parts = [f"sheets disagree on {', '.join(disputed)}"] if disputed else []
        parts += [f"not marked: {', '.join(unmarked)}"] if unmarked and self.begun else []
        return "; ".join(parts) or ("" if self.begun else "not marked")
