"""Brightspace (D2L).

Its download has a folder `12345-67890 - Ada Lovelace - Oct 1, 2026 1234 PM` for each time that
somebody, or a group, submitted, or files whose names begin so and go on with ` - main.py`, beside
`index.html`. The numbers tell namesakes apart, but are in no list, so that the name decides.

Its list is "Export Grades" with points, and is imported again: people are found by OrgDefinedId or
Username, which it writes as `#123`, an item by a title such as `Lab 1 Points Grade <Numeric
MaxPoints:100>`, and a row ends with `#` under `End-of-Line Indicator` (its help on importing
grades).
"""

import re
from pathlib import Path

from tensormark.classroom.platforms.base import Platform, moment
from tensormark.classroom.upload import Claim, Upload

NAMED = re.compile(
    r"(?P<id>[0-9]+-[0-9]+) - (?P<name>.+?) ?- "
    r"(?P<hour>[A-Z][a-z]{2} [0-9]{1,2}, [0-9]{4} [0-9]{1,2})(?P<minute>[0-9]{2} [AP]M)"
    r"(?: - (?P<file>.+))?",
    re.S,
)
SHOWN = "%b %d, %Y %I %M %p"
END = "end-of-line indicator"


class Brightspace(Platform):
    """See the module."""

    name = "brightspace"
    gives_ids = True
    lists = ({"orgdefinedid", END}, {"username", END})
    grades = re.compile(r"(?P<name>.+) points grade(?: <.*maxpoints:(?P<most>[0-9.,]+).*>)?", re.S)
    index = "index.html"
    wanted = "a list with the names as Brightspace shows them"

    def upload(self, path: Path) -> Upload | None:
        """Return a claim for what is between the numbers and the first time."""
        match = NAMED.fullmatch(path.name)
        if match is None:
            return None
        name = match["name"]
        identity = f"{name}_{match['id']}"
        claim = Claim(name, self.name, (identity,), identity)
        submitted = moment(f"{match['hour']} {match['minute']}", SHOWN)
        return Upload(path, (claim,), match["file"] or "", submitted=submitted)
