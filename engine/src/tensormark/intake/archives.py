"""The files of a zip or a tar, in memory; nothing is written to disk.

Covered: reading a link, a device, an encrypted file or a path that points outside raises an error
that says so. Not covered: the cost of an archive that was built to be expensive; the process that
reads it has limits (limited.py).
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

from tensormark.intake.file_names import ARCHIVES
from tensormark.intake.syntax import shown
from tensormark.intake.tree import Entry, File, Folder, UnreadableError, unreadable

MAX_ARCHIVE = 32 << 20  # bytes on disk; the checkpoint and the data together take 6 MB
MAX_UNPACKED = 64 << 20  # bytes of a tar
MAX_DEPTH = 100  # of nested folders
SPECIAL = "is a link or a special file; pack the file itself"
DRIVE = re.compile("[A-Za-z]:/")
ENCRYPTED = 0x1  # a zip member's flag


COMPRESSED: dict[bytes, Callable[[io.BytesIO], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"\xfd7zXZ\0": lzma.LZMAFile,
    b"BZh": bz2.BZ2File,
}


READABLE = tuple(ending for ending in ARCHIVES if ending not in (".7z", ".rar"))
OTHERS = {
    b"Rar!": "a RAR archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"%PDF": "a PDF",
    b"<!doctype html": "a web page",
    b"<html": "a web page",
    b"\xd0\xcf\x11\xe0": "an Office document",
}


def _what(content: bytes) -> str:
    """Say what a file that is no archive is, if its first bytes show that, whatever its name."""
    start = content[:64].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return next((what for magic, what in OTHERS.items() if start.startswith(magic.lower())), "")


def _archive_type(content: bytes) -> str | None:
    if content.startswith((b"PK\3\4", b"PK\5\6")):
        return "zip"
    return "tar" if content.startswith(tuple(COMPRESSED)) or content[257:262] == b"ustar" else None


@dataclasses.dataclass
class _Members:
    """The tree of files and folders that an archive's list of members describes."""

    files: list[File] = dataclasses.field(default_factory=list)
    folders: dict[str, "_Members"] = dataclasses.field(default_factory=dict)

    def add(self, path: str, place: str, read: Callable[[int], bytes]) -> None:
        *folders, name = [part for part in path.split("/") if part not in ("", ".")] or [""]
        if path.startswith("/") or ".." in folders or DRIVE.match(path):
            reason = "has a path that points outside of the archive"
            self.files.append(unreadable(name, place, reason))
            return
        parent = self
        for folder in folders[: MAX_DEPTH + 1]:
            parent = parent.folders.setdefault(folder, _Members())
        if len(folders) <= MAX_DEPTH:
            parent.files.append(File(name, place, read))

    def folder(self, name: str, place: str) -> Folder:
        """Return them as a folder."""

        def entries() -> list[Entry]:
            inner = (
                members.folder(name, f"{place}/{name}") for name, members in self.folders.items()
            )
            return [*self.files, *inner]

        return Folder(name, place, entries)


# --- zip ------------------------------------------------------------------------------------


def _read_zipped(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, place: str, max_bytes: int
) -> bytes:
    """Read at most `max_bytes` of a member, whatever size its header claims."""
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
        raise UnreadableError(f"{shown(place)} {SPECIAL}")
    if member.flag_bits & ENCRYPTED:
        raise UnreadableError(f"{shown(place)} is encrypted; pack it without a password")
    with archive.open(member) as stream:
        return stream.read(max_bytes)


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


def _read_tarred(
    archive: tarfile.TarFile, member: tarfile.TarInfo, place: str, max_bytes: int
) -> bytes:
    if not member.isreg() or (stream := archive.extractfile(member)) is None:
        raise UnreadableError(f"{shown(place)} {SPECIAL}")
    content = stream.read(max_bytes)
    if len(content) < min(member.size, max_bytes):
        raise UnreadableError("the archive is truncated")
    return content


def _tar_members(content: bytes) -> Iterator[tuple[str, Callable[[str, int], bytes]]]:
    archive = tarfile.open(fileobj=io.BytesIO(_decompressed(content)), mode="r:")  # noqa: SIM115 - read later
    for member in archive:
        if not member.isdir():
            yield member.name, functools.partial(_read_tarred, archive, member)


# --- either ---------------------------------------------------------------------------------


def _read_member(read: Callable[[str, int], bytes], place: str, max_bytes: int) -> bytes:
    try:
        return read(place, max_bytes)
    except (UnreadableError, MemoryError):
        raise
    except Exception as error:  # anything the libraries raise on damage, struct.error included
        raise UnreadableError(f"{shown(place)} cannot be read ({_reason(error)})") from error


def _reason(error: Exception) -> str:
    return shown(str(error)) or type(error).__name__


def unpacked(file: File, otherwise: str) -> Folder:
    """Return the contents of an archive as a folder.

    Args:
        otherwise: the error message if the file is not an archive.

    Raises:
        UnreadableError: it is not an archive, or cannot be read.
    """
    content = file.read(MAX_ARCHIVE)
    kind = _archive_type(content)
    if kind is None:
        readable = file.name.lower().endswith(READABLE)
        if readable and (what := _what(content)):
            raise UnreadableError(
                f"{shown(file.name)} is {what}; pack a zip with the files instead"
            )
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
