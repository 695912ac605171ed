"""A folder of files and folders that are named after students: by id, login, e-mail or name.

`ada (2).zip` and `ada-1.zip` may be ada's, if there is an ada and nobody has the longer name.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tensormark.classroom.platforms.base import Platform, own_name
from tensormark.classroom.upload import ANY, Claim, Upload

REPEATED = re.compile(r"(.+?)(?: ?\([0-9]{1,3}\)|-[0-9]{1,3})", re.S)


class PlainFolder(Platform):
    """See the module."""

    name = "folder"

    def uploads(self, paths: Sequence[Path]) -> list[Upload]:
        """Read all names."""
        uploads = [own_name(path) for path in paths]
        names = {upload.claims[0].name for upload in uploads}
        results = []
        for upload in uploads:
            name = upload.claims[0].name
            repeated = REPEATED.fullmatch(name)
            if repeated and repeated[1] in names:
                claim = Claim(name, ANY, (name, repeated[1]))
                upload = replace(upload, claims=(claim,))
            results.append(upload)
        return results
