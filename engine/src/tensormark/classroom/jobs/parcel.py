"""References, checkpoint and data, packed to be sent to workers and identified by a digest.

The client checks every file against the references' manifest before packing it, a worker checks the
parcel against its digest before unpacking it, and the grader checks the files as it reads them.
"""

import dataclasses
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tensormark.classroom.jobs.work import canonical
from tensormark.files import digest
from tensormark.references import References, ReferencesError, read_checked, restored
from tensormark.settings import Settings
from tensormark.zipped import FASTEST, zipped


class ParcelError(Exception):
    """A parcel does not have the expected digest."""


@dataclasses.dataclass(frozen=True)
class Parcel:
    """A zip of three folders, and its digest."""

    digest: str
    content: bytes


def packed(settings: Settings, data_files: Sequence[str]) -> Parcel:
    """Pack what grading needs, with the checkpoint only if the settings have one.

    Raises:
        ReferencesError: a file is missing, or differs from the one in the manifest.
    """
    references = References(settings.references)
    files = {f"references/{name}": content for name, content in references.files()}
    checkpoint, digests = settings.checkpoint, references.manifest["checkpoint"]
    if digests and checkpoint is None:
        raise ReferencesError(f"there is no checkpoint; {restored()}")
    for name in digests if checkpoint else ():
        files[f"checkpoint/{name}"] = read_checked(checkpoint / name, digests[name], restored())
    digests = references.manifest.get("data", {})
    for name in data_files:
        expected = digests.get(name, "")
        files[f"data/{name}"] = read_checked(settings.data / name, expected, restored())
    content = zipped(files, level=FASTEST)  # sending it takes less time than compressing
    return Parcel(digest(content), content)


def checkpoint_digest(references: References) -> str:
    """Return a digest of the checkpoint that references were recorded with."""
    return digest(canonical(references.manifest["checkpoint"]).encode())


def unpack(content: bytes, expected: str, folder: Path) -> None:
    """Unpack a parcel; other users, who may run submissions, can read only its checkpoint.

    Raises:
        ParcelError: its digest is not the expected one.
    """
    if digest(content) != expected:
        raise ParcelError("the references that arrived differ from those that were sent")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    for name in ("references", "data"):
        (folder / name).mkdir(exist_ok=True)
        (folder / name).chmod(0o700)
    for path in (folder, folder.parent):  # another user runs submissions in the tier `locked`
        path.chmod(0o711)
