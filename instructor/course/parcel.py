"""References, checkpoint and data as bytes that travel to workers, named by their digest.

The client checks every file against the references' manifest before it packs it, a worker checks
the parcel against its digest before it unpacks it, and the grader checks the files as it reads
them.
"""

import dataclasses
import io
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.assignment.sentiment import DATA
from grader.files import digest
from grader.references import References, read_checked
from grader.settings import Settings
from grader.zipped import zipped
from instructor.course.work import canonical


class ParcelError(Exception):
    """A parcel is not what it says it is."""


@dataclasses.dataclass(frozen=True)
class Parcel:
    """A zip of three folders, and its digest."""

    digest: str
    content: bytes


def packed(settings: Settings, check: bool) -> Parcel:
    """Pack what submissions are graded with.

    Args:
        check: leave out what only trainings need.

    Raises:
        ReferencesError: a file is missing, or is not the one that the manifest names.
    """
    references = References(settings.references)
    manifest = references.manifest
    files = {f"references/{name}": content for name, content in references.files()}
    parts: tuple[tuple[str, Path, Iterable[str], Mapping[str, str]], ...] = (
        ("checkpoint", settings.checkpoint, manifest["checkpoint"], manifest["checkpoint"]),
        ("data", settings.data, [] if check else DATA, manifest["data"]),
    )
    for folder, place, names, digests in parts:
        for name in names:
            files[f"{folder}/{name}"] = read_checked(place / name, digests[name], f"make {folder}")
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
    for place in (folder, folder.parent):  # another user runs submissions in the tier `locked`
        place.chmod(0o711)
