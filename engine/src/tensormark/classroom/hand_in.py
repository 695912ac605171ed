"""What was handed in: uploads as their names describe them, and each student's hand-in."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tensormark.files import encoded
from tensormark.intake.submission import Part

SHOWN = 20  # names in one line at most
ANY = "any"  # the kind of a text that may be an id of any kind


def legible(name: str) -> str:
    r"""Return a name as text that can be encoded, and never the same for two names.

    A byte that is not UTF-8 becomes `\\udce9`, and a backslash in such a name is doubled.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return encoded(name.replace("\\", "\\\\")).decode()
    return name.replace("\\", "\\\\") if "\\u" in name else name


def number_of(count: int, noun: str) -> str:
    """Return a count with its noun, such as `1 student` or `2 students`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def first_of(names: list[str]) -> str:
    """Return the first SHOWN names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def called(student: str, name: str) -> str:
    """Return a student's id, followed by the name unless the id contains it."""
    return student if name in student else f"{student} ({name})"


@dataclass(frozen=True)
class Claim:
    """One way to read to whom something belongs.

    Attributes:
        name: a person's or team's, to display.
        ids: by kind, such as "canvas" or "email", the strongest first.
        student: the id to use where no list has the person.
    """

    name: str
    ids: Mapping[str, str] = field(default_factory=dict)
    student: str = ""

    @property
    def identity(self) -> tuple[str, ...]:
        """What everything by the same owner has in common: a platform may cut off names."""
        return tuple(self.ids.values()) or (self.name,)


@dataclass(frozen=True)
class Upload:
    """A file or folder that somebody handed in, as its name or a platform's list describes it.

    Attributes:
        claims: several if its name can be read in several ways.
        file: what the student called it.
        attempt: the same for everything that was handed in together; later ones sort last.
        again: how often a file of this name was handed in before.
        late: whether the platform says so.
        typed: whether it was typed into a field of the platform, and is not the student's file.
    """

    path: Path
    claims: tuple[Claim, ...]
    file: str = ""
    attempt: str = ""
    again: int = 0
    submitted: datetime.datetime | None = None
    late: bool = False
    typed: bool = False

    @property
    def together(self) -> tuple[datetime.datetime | None, str]:
        """The same for everything that was handed in at once."""
        return self.submitted, self.attempt

    @property
    def order(self) -> tuple[float, str, int, str]:
        """A sort key, the newest last."""
        when = self.submitted.timestamp() if self.submitted else float("-inf")
        return when, self.attempt, self.again, self.path.name


@dataclass
class HandIn:
    """What one student handed in, judging by names and dates.

    Attributes:
        student: the student's identifier: an id or login where there is one, else a name.
        name: to display, as it was written; never trusted.
        path: the file or folder to grade; None if nothing was handed in, or if there is a fault.
        uploads: everything that the student handed in.
        parts: the files to read.
        late: whether the platform says so.
        others: what else the student handed in, older or a document, which is not graded.
        notes: what staff should know about how it was found, one sentence each.
        fault: why nothing that was handed in can be graded; "" if something can, or nothing was.
        place: the student's index in the list of the class; None for anybody else.
    """

    student: str
    name: str
    path: Path | None = None
    uploads: list[Upload] = field(default_factory=list)
    parts: Sequence[Part] = ()
    submitted: datetime.datetime | None = None
    late: bool = False
    others: Sequence[Path] = ()
    notes: list[str] = field(default_factory=list)
    fault: str = ""
    place: int | None = None

    @property
    def called(self) -> str:
        """See `called`."""
        return called(self.student, self.name)
