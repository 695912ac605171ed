"""Something that was found among the hand-ins, as its name or a platform's list describes it."""

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
        student: see HandIn; keys, name, submitted: too.
        file: what the student called it, as far as that is known.
        attempt: what was handed in at once has the same.
        again: how often a file of this name was handed in before.
        late: whether the system says so.
        typed: whether it was written in a field of the system's, and is no file of the student's.
        kind: the platform that has written the name, OWN for a name of somebody's own.
        id: the student's number there, if it is not `student`; on Gradescope one that others gave.
        notes: see HandIn.
        others: further readings of the same name, of other students.
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
        """What is the same for everything of one person's or team's; Moodle may cut their name."""
        return self.kind, self.id if self.id and self.kind == MOODLE else self.student

    @property
    def readings(self) -> tuple["Upload", ...]:
        """Every way to read the name."""
        return (self, *self.others)


def again(file: str) -> int:
    """Return the number of a file that was handed in again, 0 for the first."""
    match = AGAIN.fullmatch(file[:255])
    return int(match[1]) if match else 0
