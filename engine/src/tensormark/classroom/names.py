"""What a person calls a student in a file: as the gradebook does, or with a login or name."""

from collections import Counter
from collections.abc import Sequence

from tensormark.classroom.entry import HandIn, legible
from tensormark.classroom.failure import LedgerError
from tensormark.classroom.people import Index
from tensormark.classroom.standing import index_of
from tensormark.reports.platforms import cell
from tensormark.reports.text import visible


class Names:
    """The students of a class, to be found by what they are called."""

    def __init__(self, hand_ins: Sequence[HandIn]) -> None:
        self.hand_ins = hand_ins
        self.counts = Counter(hand_in.student for hand_in in hand_ins)
        self.index: Index = index_of(hand_ins)
        cells = [(str(cell(each)).strip(), each) for each, n in self.counts.items() if n == 1]
        often = Counter(text for text, _ in cells)
        # as files have them in which no cell is a formula
        self.by_cell = {text: student for text, student in cells if often[text] == 1}

    def find(self, name: str) -> str | None:
        """Return the student that a name stands for, as ONLY= takes it; None if it is not clear."""
        exact = {legible(name)} if self.counts[legible(name)] == 1 else set[str]()
        exact |= {self.by_cell[name]} if name in self.by_cell else set()
        if exact:
            return exact.pop() if len(exact) == 1 else None
        place = self.index.find(name)
        student = None if place is None else self.hand_ins[place].student
        return student if student and self.counts[student] == 1 else None

    def student(self, where: str, name: str) -> str:
        """Return the student that a name stands for.

        Raises:
            LedgerError: there is none, or it is not clear who is meant.
        """
        student = self.find(name)
        if student is None:
            raise LedgerError(
                f"{where}: there is no student {visible(name, 60)!r}, or more than one; "
                "take a name from the column student of gradebook.csv, or take the row out"
            )
        return student
