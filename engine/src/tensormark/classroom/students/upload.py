"""A file or folder among the hand-ins, as its name or a platform's list describes it."""

import datetime
import re
from dataclasses import dataclass
from pathlib import Path

CANVAS, MOODLE, BLACKBOARD, GRADESCOPE, OWN = "Canvas", "Moodle", "Blackboard", "Gradescope", ""
AGAIN = re.compile(r".*-([0-9]{1,6})(?:\.[^.]*){1,2}", re.S)


@dataclass(frozen=True)
class Upload:
    """A file or folder that somebody handed in, or one way to read its name.

    Attributes:
        student, name, keys, submitted, notes: see HandIn.
        file: what the student called it, if that is known.
        attempt: the same for everything that was handed in together.
        again: how often a file of this name was handed in before.
        late: whether the platform says so.
        typed: whether it was typed into a field of the platform, and is not the student's file.
        kind: the platform that wrote the name; OWN if a person chose it.
        id: the number there, if it is not `student`; on Gradescope, one that others gave, too.
        others: further readings of the same name, as other students'.
    """

    student: str
    name: str
    path: Path = Path()
    keys: tuple[str, ...] = ()
    file: str = ""
    attempt: str = ""
    again: int = 0
    late: bool = False
    submitted: datetime.datetime | None = None
    typed: bool = False
    kind: str = OWN
    id: str = ""
    notes: tuple[str, ...] = ()
    others: tuple["Upload", ...] = ()

    @property
    def identity(self) -> tuple[str, str]:
        """What everything by one person or team has in common; Moodle may cut off names."""
        return self.kind, self.id if self.id and self.kind == MOODLE else self.student

    @property
    def readings(self) -> tuple["Upload", ...]:
        """Every way to read the name."""
        return (self, *self.others)


def again(file: str) -> int:
    """Return the number of a file that was handed in again, 0 for the first."""
    match = AGAIN.fullmatch(file[:255])
    return int(match[1]) if match else 0
