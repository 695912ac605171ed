"""References, checkpoint and data as bytes that travel to workers, named by their digest.

The client checks every file against the references' manifest before it packs it, a worker checks
the parcel against its digest before it unpacks it, and the grader checks the files as it reads
them.
"""

import dataclasses
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tensormark.classroom.work import canonical
from tensormark.files import digest
from tensormark.references import References, ReferencesError, read_checked, restored
from tensormark.settings import Settings
from tensormark.zipped import zipped


class ParcelError(Exception):
    """A parcel is not what it says it is."""


@dataclasses.dataclass(frozen=True)
class Parcel:
    """A zip of three folders, and its digest."""

    digest: str
    content: bytes


def packed(settings: Settings, data_files: Sequence[str]) -> Parcel:
    """Pack what submissions are graded with: no checkpoint where there is none.

    Raises:
        ReferencesError: a file is missing, or is not the one that the manifest names.
    """
    references = References(settings.references)
    files = {f"references/{name}": content for name, content in references.files()}
    checkpoint, known = settings.checkpoint, references.manifest["checkpoint"]
    if known and checkpoint is None:
        raise ReferencesError(f"there is no checkpoint; {restored()}")
    for name in known if checkpoint else ():
        files[f"checkpoint/{name}"] = read_checked(checkpoint / name, known[name], restored())
    known = references.manifest.get("data", {})
    for name in data_files:
        expected = known.get(name, "")
        files[f"data/{name}"] = read_checked(settings.data / name, expected, restored())
    content = zipped(files)
    return Parcel(digest(content), content)


def checkpoint_digest(references: References) -> str:
    """Return a digest of the checkpoint that references were recorded with."""
    return digest(canonical(references.manifest["checkpoint"]).encode())


def unpack(content: bytes, expected: str, folder: Path) -> None:
    """Unpack a parcel; submissions may read its checkpoint, and nobody else the rest.

    Raises:
        ParcelError: its digest is another.
    """
    if digest(content) != expected:
        raise ParcelError("the references that arrived are not those that were sent")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    for name in ("references", "data"):
        (folder / name).mkdir(exist_ok=True)
        (folder / name).chmod(0o700)
    for path in (folder, folder.parent):  # another user runs submissions in the tier `locked`
        path.chmod(0o711)
