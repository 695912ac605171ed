"""GitHub Classroom.

`gh classroom clone student-repos` makes a folder `lab-1-USER` for each student's repository, and
`classroom_roster.csv` has the columns identifier, github_username, github_id and name. Users may
have hyphens in their names, as assignments do, so a folder is read in every way that fits all of
them, and the roster decides.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tensormark.classroom.entry import Claim, Upload
from tensormark.classroom.platforms.base import Platform, common_beginning, own_name
from tensormark.files import is_folder


class GitHub(Platform):
    """See the module; without its roster or `platform = "github"`, folders keep their names."""

    name = "github"
    own = "github"
    known_by_list = True
    lists = ({"identifier", "github_username"},)
    columns: ClassVar[Mapping[str, str]] = {"identifier": "id"}

    def uploads(self, paths: Sequence[Path]) -> list[Upload]:
        """Read what follows each hyphen in what the names of all folders have in common."""
        folders = [path.name for path in paths if is_folder(path)]
        common = common_beginning(folders or [path.name for path in paths])
        ends = [place + 1 for place, letter in enumerate(common) if letter == "-"] or [0]
        uploads = []
        for path in paths:
            own = reversed(ends) if path.name.startswith(common) else ()
            users = [path.name[end:] for end in own if path.name[end:]] or [path.name]
            claims = tuple(Claim(user, {"github": user}, user) for user in users)
            stamp = own_name(path).attempt
            uploads.append(Upload(path, claims, file=path.name, attempt=stamp))
        return uploads
