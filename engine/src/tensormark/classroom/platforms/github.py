"""GitHub Classroom.

`gh classroom clone student-repos` makes a folder `lab-1-USER` for each student's repository, and
`classroom_roster.csv` has the columns identifier, github_username, github_id and name. Users may
have hyphens in their names, as assignments do, so a folder is read in every way that fits all of
them, and the roster decides. A single one fits in every way, so that nothing can decide.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tensormark.classroom.entry import Claim, Upload
from tensormark.classroom.platforms.base import Platform, own_name, without_common
from tensormark.files import is_folder


class GitHub(Platform):
    """See the module; without its roster or `platform = "github"`, folders keep their names."""

    name = "github"
    known_by_list = True
    lists = ({"identifier", "github_username"},)
    columns = (("identifier", "id"),)
    wanted = "GitHub Classroom's roster, or a list with a column github"

    def uploads(self, paths: Sequence[Path]) -> list[Upload]:
        """Read what follows each hyphen in what the names of all folders have in common."""
        folders = [path.name for path in paths if is_folder(path)]
        users = without_common(folders or [path.name for path in paths], "-")
        uploads = []
        for path in paths:
            own = users.get(path.name, [path.name])
            claims = tuple(Claim(user, {"github": user}) for user in own)
            doubtful = len(users) == 1 and len(own) > 1
            uploads.append(replace(own_name(path), claims=claims, doubtful=doubtful))
        return uploads
