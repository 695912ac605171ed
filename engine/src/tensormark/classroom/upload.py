"""Something that was handed in, as a platform describes it, and how to read whose it is."""

import datetime
from dataclasses import dataclass
from pathlib import Path

ANY = "any"  # the kind of a text that may be an id of any kind


@dataclass(frozen=True)
class Claim:
    """One way to read to whom something belongs.

    Attributes:
        name: a person's or team's, to display.
        kind: of the ids, such as "canvas" or "email"; ANY where they may be of any kind.
        ids: the first that is somebody's counts.
        student: the id to use where no list has the person, if it is not the name.
        title: what comes before the name, if that may be the assignment's title.
    """

    name: str
    kind: str
    ids: tuple[str, ...] = ()
    student: str = ""
    title: str = ""

    @property
    def identity(self) -> tuple[str, ...]:
        """What everything by the same owner has in common: a platform may cut off names."""
        return self.ids or (self.name,)


@dataclass(frozen=True)
class Upload:
    """A file or folder that somebody handed in, as its name or a platform's list describes it.

    Attributes:
        claims: several if its name can be read in several ways, the likeliest first; see owners.py.
        file: what the student called it.
        attempt: the same for everything that was handed in together; later ones sort last.
        again: how often a file of this name was handed in before.
        late: whether the platform says so; None if it says nothing.
        typed: whether it was typed into a field of the platform, and is not the student's file.
        stray: the title of another assignment, of which it is; "" for none.
    """

    path: Path
    claims: tuple[Claim, ...]
    file: str = ""
    attempt: str = ""
    again: int = 0
    submitted: datetime.datetime | None = None
    late: bool | None = None
    typed: bool = False
    stray: str = ""

    @property
    def together(self) -> tuple[datetime.datetime | None, str]:
        """The same for everything that was handed in at once."""
        return self.submitted, self.attempt

    @property
    def order(self) -> tuple[float, str, int, str]:
        """A sort key, the newest last."""
        when = self.submitted.timestamp() if self.submitted else float("-inf")
        return when, self.attempt, self.again, self.path.name
