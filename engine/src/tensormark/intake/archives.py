"""The files of a zip or a tar, in memory; nothing is written to disk.

Covered: links, devices, encryption and paths that point outside are said to be so once they should
be read. Not covered: what an archive costs that was written to cost much; the process that reads it
has limits (limited.py).
"""

import bz2
import dataclasses
import functools
import gzip
import io
import lzma
import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator

from tensormark.intake.syntax import shown
from tensormark.intake.tree import Entry, File, Folder, UnreadableError, no_file

MAX_ARCHIVE = 32 << 20  # bytes on disk; the checkpoint and the data together have 6 MB
MAX_UNPACKED = 64 << 20  # bytes of a tar
DEEPEST = 100  # folders in folders
SPECIAL = "is a link or a special file; pack the file itself"
DRIVE = re.compile("[A-Za-z]:/")
ENCRYPTED = 0x1  # a zip member's flag


COMPRESSED: dict[bytes, Callable[[io.BytesIO], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"\xfd7zXZ\0": lzma.LZMAFile,
    b"BZh": bz2.BZ2File,
}


def _archive_type(content: bytes) -> str | None:
    if content.startswith((b"PK\3\4", b"PK\5\6")):
        return "zip"
    return "tar" if content.startswith(tuple(COMPRESSED)) or content[257:262] == b"ustar" else None


@dataclasses.dataclass
class _Members:
    """The files and folders that an archive's list of members amounts to."""

    files: list[File] = dataclasses.field(default_factory=list)
    folders: dict[str, "_Members"] = dataclasses.field(default_factory=dict)

    def add(self, path: str, place: str, read: Callable[[int], bytes]) -> None:
        *folders, name = [part for part in path.split("/") if part not in ("", ".")] or [""]
        if path.startswith("/") or ".." in folders or DRIVE.match(path):
            self.files.append(no_file(name, place, "has a path that points outside of the archive"))
            return
        here = self
        for folder in folders[: DEEPEST + 1]:
            here = here.folders.setdefault(folder, _Members())
        if len(folders) <= DEEPEST:
            here.files.append(File(name, place, read))

    def folder(self, name: str, place: str) -> Folder:
        """Return them as a folder."""

        def entries() -> list[Entry]:
            inner = (
                members.folder(name, f"{place}/{name}") for name, members in self.folders.items()
            )
            return [*self.files, *inner]

        return Folder(name, place, entries)


def _special(place: str, most: int) -> bytes:
    raise UnreadableError(f"{shown(place)} {SPECIAL}")


# --- zip ------------------------------------------------------------------------------------


def _read_zipped(archive: zipfile.ZipFile, member: zipfile.ZipInfo, place: str, most: int) -> bytes:
    """Read a member, no more than its limit whatever its header says."""
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
        _special(place, most)
    if member.flag_bits & ENCRYPTED:
        raise UnreadableError(f"{shown(place)} is encrypted; pack it without a password")
    with archive.open(member) as stream:
        return stream.read(most)


def _zip_members(content: bytes) -> Iterator[tuple[str, Callable[[str, int], bytes]]]:
    archive = zipfile.ZipFile(io.BytesIO(content))
    for member in archive.infolist():
        if not member.is_dir():
            yield member.filename, functools.partial(_read_zipped, archive, member)


# --- tar ------------------------------------------------------------------------------------


def _decompressed(content: bytes) -> bytes:
    for magic, opened in COMPRESSED.items():
        if content.startswith(magic):
            with opened(io.BytesIO(content)) as stream:
                content = stream.read(MAX_UNPACKED + 1)
            if len(content) > MAX_UNPACKED:
                raise UnreadableError(f"it unpacks to more than {MAX_UNPACKED >> 20} MiB")
            break
    return content


def _read_tarred(archive: tarfile.TarFile, member: tarfile.TarInfo, place: str, most: int) -> bytes:
    if not member.isreg() or (stream := archive.extractfile(member)) is None:
        return _special(place, most)
    content = stream.read(most)
    if len(content) < min(member.size, most):
        raise UnreadableError("the archive is truncated")
    return content


def _tar_members(content: bytes) -> Iterator[tuple[str, Callable[[str, int], bytes]]]:
    archive = tarfile.open(fileobj=io.BytesIO(_decompressed(content)), mode="r:")  # noqa: SIM115 - it is read later
    for member in archive:
        if not member.isdir():
            yield member.name, functools.partial(_read_tarred, archive, member)


# --- either ---------------------------------------------------------------------------------


def _read_member(read: Callable[[str, int], bytes], place: str, most: int) -> bytes:
    try:
        return read(place, most)
    except (UnreadableError, MemoryError):
        raise
    except Exception as error:  # anything the libraries raise on damage, struct.error included
        raise UnreadableError(f"{shown(place)} cannot be read ({_reason(error)})") from error


def _reason(error: Exception) -> str:
    return shown(str(error)) or type(error).__name__


def unpacked(file: File, otherwise: str) -> Folder:
    """Return the files of an archive as those of a folder.

    Args:
        otherwise: what to say if it is none.

    Raises:
        UnreadableError: it is none that can be read.
    """
    content = file.read(MAX_ARCHIVE)
    kind = _archive_type(content)
    if kind is None:
        raise UnreadableError(otherwise if content else f"{shown(file.place)} is an empty file")
    top = _Members()
    try:
        for path, read in (_zip_members if kind == "zip" else _tar_members)(content):
            plain = path.replace("\\", "/")
            top.add(plain, plain, functools.partial(_read_member, read, plain))
    except (UnreadableError, MemoryError):
        raise
    except Exception as error:  # as above
        raise UnreadableError(f"the {kind} cannot be read ({_reason(error)})") from error
    return top.folder("", "")
