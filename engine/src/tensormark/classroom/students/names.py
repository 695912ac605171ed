"""Finds the student that staff mean: as in the gradebook, or by login or name."""

from collections import Counter
from collections.abc import Sequence

from tensormark.classroom.entry import HandIn, legible
from tensormark.classroom.failure import FileError
from tensormark.classroom.students.people import Index, Person
from tensormark.reports.platforms import cell
from tensormark.reports.text import visible


def person_of(hand_in: HandIn) -> Person:
    """Return a student's ids, logins, addresses and names."""
    return Person((hand_in.student, *hand_in.keys), (hand_in.name, *hand_in.keys))


class Names:
    """The students of a class, looked up by what staff call them."""

    def __init__(self, hand_ins: Sequence[HandIn]) -> None:
        self.hand_ins = hand_ins
        self.counts = Counter(hand_in.student for hand_in in hand_ins)
        self.index = Index(list(map(person_of, hand_ins)))
        cells = [(str(cell(each)).strip(), each) for each, n in self.counts.items() if n == 1]
        occurrences = Counter(text for text, _ in cells)
        # as written to files, where no cell may be a formula
        self.by_cell = {text: student for text, student in cells if occurrences[text] == 1}

    def candidates(self, name: str) -> list[str]:
        """Return every student whom a name may mean."""
        exact = {legible(name)} if self.counts[legible(name)] == 1 else set[str]()
        exact |= {self.by_cell[name]} if name in self.by_cell else set()
        if exact:
            return [*exact]
        return [self.hand_ins[place].student for place in self.index.candidates(name)]

    def find(self, name: str) -> str | None:
        """Return the student whom a name means; None if there is none, or several."""
        candidates = self.candidates(name)
        return candidates[0] if len(candidates) == 1 and self.counts[candidates[0]] == 1 else None

    def student(self, where: str, name: str) -> str:
        """Return the student whom a name means.

        Raises:
            FileError: there is none, or several match.
        """
        student = self.find(name)
        if student is None:
            several = "several students match"
            what = several if self.candidates(name) else "there is no student"
            raise FileError(
                f"{where}: {what} {visible(name, 60)!r}; "
                "take a name from the student column of gradebook.csv, or delete the row"
            )
        return student
