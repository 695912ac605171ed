"""GitHub Classroom.

`gh classroom clone student-repos` makes a folder `lab-1-USER` for each student's repository, and
`classroom_roster.csv` has the columns identifier, github_username, github_id and name. Users may
have hyphens in their names, as assignments do, so a folder is read in every way, and the title of
most decides. A single one fits in every way, so that nothing can decide, and it keeps its name.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tensormark.classroom.platforms.base import Platform, after_titles, own_name
from tensormark.classroom.upload import Upload
from tensormark.files import is_folder


class GitHub(Platform):
    """See the module; without its roster or `platform = "github"`, folders keep their names."""

    name = "github"
    known_by_list = True
    lists = ({"identifier", "github_username"},)
    columns = (("identifier", "id"),)
    wanted = "GitHub Classroom's roster, or a list with a column github"

    def uploads(self, paths: Sequence[Path]) -> list[Upload]:
        """Read what follows each hyphen in the names of all folders."""
        clones = {path for path in paths if is_folder(path)} or set(paths)
        uploads = []
        for path in paths:
            claims = after_titles(path.name, "-", "github")
            if path not in clones or (len(clones) == 1 and len(claims) > 2):
                claims = claims[-1:]
            uploads.append(replace(own_name(path), claims=claims))
        return uploads
