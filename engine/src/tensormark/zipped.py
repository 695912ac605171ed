"""Zips whose bytes depend on nothing but their files' names and contents."""

import io
import zipfile
from collections.abc import Iterable, Mapping

OLDEST = (1980, 1, 1, 0, 0, 0)  # the first date that a zip can hold
UNIX = 3
FILE, PROGRAM = 0o100644, 0o100755


def zipped(files: Mapping[str, bytes], programs: Iterable[str] = ()) -> bytes:
    """Return a zip of files, sorted, with fixed dates and modes.

    Args:
        files: path to content.
        programs: the paths of those that can be executed.
    """
    buffer, executable = io.BytesIO(), set(programs)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, OLDEST)
            entry.create_system = UNIX
            entry.external_attr = (PROGRAM if name in executable else FILE) << 16
            archive.writestr(entry, files[name], zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()
