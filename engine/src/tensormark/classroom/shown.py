"""A class as its page shows it: what is counted, and what its students can be chosen by."""

from collections.abc import Sequence
from urllib.parse import quote

from tensormark.classroom.entry import Entry
from tensormark.classroom.feedback import PAGE
from tensormark.classroom.similar import Similar
from tensormark.classroom.summary import (
    KINDS,
    Exercise,
    Mistake,
    Says,
    changes_of,
    exercises_of,
    flags_of,
    kind_of,
    mistakes_of,
    unimportable,
)
from tensormark.reports.markup import Element, element

LONGEST = 300  # characters of a line
LATE, FLAGGED, CHANGED, ALIKE, UNIMPORTABLE = "late", "flagged", "changed", "alike", "import"


class Class:
    """A class as its page shows it.

    Attributes:
        folders: of the entries' feedback, relative to the page; "" for those that have none.
        tags: what an entry can be chosen by, by its place.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        folders: Sequence[str],
        similar: Similar,
        says: Says | None = None,
    ) -> None:
        self.entries, self.folders, self.similar = entries, folders, similar
        self.exercises: list[Exercise] = exercises_of(entries)
        self.mistakes: list[Mistake] = mistakes_of(entries, says)
        self.kinds = [kind_of(entry) for entry in entries]
        self.flags = [flags_of(entry) for entry in entries]
        self.changes = [changes_of(entry) for entry in entries]
        self.unimportable = [unimportable(entry) for entry in entries]
        self.graded = [entry.result for entry in entries if entry.result is not None]
        self.tags: list[list[str]] = [[f"k{KINDS.index(kind)}"] for kind in self.kinds]
        for place, entry in enumerate(entries):
            self.tags[place] += [LATE] if entry.hand_in.minutes_late else []
            self.tags[place] += [FLAGGED] if self.flags[place] else []
            self.tags[place] += [CHANGED] if self.changes[place] else []
            self.tags[place] += [UNIMPORTABLE] if self.unimportable[place] else []
        for number, mistake in enumerate(self.mistakes):
            for place in mistake.places:
                self.tags[place].append(f"m{number}")
        for number, group in enumerate(similar.groups):
            for place in group.members:
                self.tags[place] += [f"g{number}", ALIKE]

    def name(self, place: int) -> Element:
        """Return a student's name, with a link to the feedback if there is any."""
        student = self.entries[place].hand_in.student
        if not self.folders[place]:
            return element("span", student, class_="name")
        return element("a", student, href=f"{quote(self.folders[place])}/{PAGE}", class_="name")

    def count(self, tag: str) -> int:
        """Return how many have a tag."""
        return sum(tag in tags for tags in self.tags)
