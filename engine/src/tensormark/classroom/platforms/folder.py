"""A folder of files and folders that are named after students: by id, login, address or name.

`ada (2).zip` and `ada-1.zip` are ada's, if there is an ada and nobody has the longer name.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tensormark.classroom.entry import ANY, Claim, Upload
from tensormark.classroom.platforms.base import Platform, own_name

REPEAT = re.compile(r"(?P<own>.+?)(?: ?\((?P<browser>[0-9]{1,3})\)|-(?P<system>[0-9]{1,3}))", re.S)


class Folder(Platform):
    """See the module."""

    name = "folder"

    def uploads(self, paths: Sequence[Path]) -> list[Upload]:
        """Read all names."""
        uploads = [own_name(path) for path in paths]
        names = {upload.claims[0].name for upload in uploads}
        results = []
        for upload in uploads:
            repeat = REPEAT.fullmatch(upload.claims[0].name)
            if repeat and repeat["own"] in names:
                claim = Claim(repeat["own"], {ANY: repeat["own"]})
                count = int(repeat["browser"] or repeat["system"])
                upload = replace(upload, claims=(claim,), again=count)
            results.append(upload)
        return results
