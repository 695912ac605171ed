"""Gradescope.

"Export submissions" has a folder `submission_123` for each submission, and beside them
`submission_metadata.yml`, which says who submitted each and when. People type their own student ID
there, which is therefore nobody's beside the address of their account. Everybody of a group is a
submitter. The roster is exported with a column Role.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tensormark.classroom.entry import legible
from tensormark.classroom.people import FileError, read_given
from tensormark.classroom.platforms.base import Platform, moment
from tensormark.classroom.upload import Claim, Upload
from tensormark.files import is_folder

METADATA = "submission_metadata.yml"
FOLDER = re.compile(r"submission_[0-9]+")
LARGEST = 256 << 20  # bytes; it has what earlier graders said of each submission


def _named(mapping: Any) -> dict[str, Any]:
    """Return a mapping without the colons with which Ruby begins the names of its keys."""
    items = mapping.items() if isinstance(mapping, dict) else ()
    return {str(name).removeprefix(":"): value for name, value in items}


def _text(mapping: Mapping[str, Any], name: str) -> str:
    """Return a text without spaces around it; "" if there is none, which YAML may write so."""
    text = str(mapping.get(name, "")).strip()
    return "" if text.casefold() in ("~", "null") else text


def _metadata(path: Path) -> Mapping[str, Any]:
    """Read who submitted what.

    Raises:
        FileError: it cannot be read.
    """
    try:
        # every scalar is a text, and tags are ignored: Ruby has its own, such as that of a symbol
        content = yaml.load(read_given(path, LARGEST), Loader=yaml.CBaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise FileError(f"{path}: is not Gradescope's; export the submissions again") from error
    return _named(content)


class Gradescope(Platform):
    """See the module."""

    name = "gradescope"
    lists = ({"sid", "role"},)
    gives_ids = True
    wanted = "Gradescope's roster, or a list with the addresses of the accounts in a column email"

    def wrote(self, paths: Sequence[Path]) -> bool:
        """Return whether there are the list of submitters and a folder of what one handed in."""
        names = [path.name for path in paths]
        return METADATA in names and any(map(FOLDER.fullmatch, names))

    def uploads(self, paths: Sequence[Path]) -> list[Upload]:
        """Return an upload for each submitter of a folder.

        Raises:
            FileError: there is no list of submitters, or more than its folders, so that somebody
                else may have written it.
        """
        listed = next((path for path in paths if path.name == METADATA), None)
        if listed is None:
            where = paths[0].parent if paths else "the folder"
            raise FileError(
                f"{where}: has no {METADATA}, so it is not Gradescope's; change platform in "
                "class.toml"
            )
        metadata = _metadata(listed)
        uploads = []
        for path in paths:
            if path == listed:
                continue
            if not (FOLDER.fullmatch(path.name) and is_folder(path)):
                fix = "move it to a folder of its own, or change platform in class.toml"
                raise FileError(f"{legible(str(path))}: is not part of Gradescope's export; {fix}")
            entry = _named(metadata.get(path.name))
            submitted = moment(_text(entry, "created_at"))
            people = entry.get("submitters")
            for who in map(_named, people if isinstance(people, list) and people else [{}]):
                name = _text(who, "name") or path.name
                claim = Claim(name, self.name, (), f"{name}_{path.name}")
                for kind, key in (("id", "sid"), ("email", "email")):  # the stronger one last
                    text = _text(who, key)
                    if text:
                        claim = Claim(name, kind, (text,), text)
                uploads.append(Upload(path, (claim,), attempt=path.name, submitted=submitted))
        return uploads
