"""The files of a zip or a tar, in memory; nothing is written to disk.

Covered: reading a link, a device, an encrypted file or a path that points outside raises an error
that says so. Not covered: the cost of an archive that was built to be expensive; the process that
reads it has limits (limited.py).
"""

import functools
import importlib
import io
import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence

from tensormark.intake.entries import Entry, File, Folder, UnreadableError, read_as, unreadable

MAX_ARCHIVE = 32 << 20  # bytes on disk; the checkpoint and the data together take 6 MB
MAX_UNPACKED = 64 << 20  # bytes of a tar
# the modules that unpack a tar, by its first bytes; a Python may be built without some of them
COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\0": "lzma"}
SPECIAL = "is a link or a special file; pack the file itself"
DRIVE = re.compile("[A-Za-z]:/")
ENCRYPTED = 0x1  # a zip member's flag
Members = Iterator[tuple[str, Callable[[int], bytes]]]  # path in the archive, and what reads it


def _read_zipped(archive: zipfile.ZipFile, member: zipfile.ZipInfo, max_bytes: int) -> bytes:
    """Read at most `max_bytes` of a member, whatever size its header claims."""
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
        raise UnreadableError(SPECIAL)
    if member.flag_bits & ENCRYPTED:
        raise UnreadableError("is encrypted; pack it without a password")
    with archive.open(member) as stream:
        return stream.read(max_bytes)


def _zip_members(content: bytes) -> Members:
    archive = zipfile.ZipFile(io.BytesIO(content))
    for member in archive.infolist():
        if not member.is_dir():
            yield member.filename, functools.partial(_read_zipped, archive, member)


def _read_tarred(archive: tarfile.TarFile, member: tarfile.TarInfo, max_bytes: int) -> bytes:
    stream = archive.extractfile(member) if member.isreg() else None
    if stream is None:
        raise UnreadableError(SPECIAL)
    return stream.read(max_bytes)


def _decompressed(content: bytes) -> bytes:
    """Return a tar, or the beginning of one that is too large."""
    for magic, module in COMPRESSED.items():
        if content.startswith(magic):
            with importlib.import_module(module).open(io.BytesIO(content)) as stream:
                return bytes(stream.read(MAX_UNPACKED + 1))
    return content


def _tar_members(content: bytes) -> Members:
    content = _decompressed(content)
    if len(content) > MAX_UNPACKED:
        raise UnreadableError(f"unpacks to more than {MAX_UNPACKED >> 20} MiB")
    archive = tarfile.open(fileobj=io.BytesIO(content), mode="r:")  # noqa: SIM115 - read later
    for member in archive:
        if not member.isdir():
            yield member.name, functools.partial(_read_tarred, archive, member)


def _placed(path: str, read: Callable[[int], bytes]) -> tuple[str, File]:
    """Return a member of an archive after its path, without what means nothing in a path."""
    place = path.replace("\\", "/")
    parts = [part for part in place.split("/") if part not in ("", ".")] or [""]
    if place.startswith("/") or ".." in parts[:-1] or DRIVE.match(place):
        why = "has a path that leads outside the archive"
        return parts[-1], unreadable(parts[-1], place, why)
    return "/".join(parts), File(parts[-1], place, read)


def _folder(name: str, place: str, members: Sequence[tuple[str, File]]) -> Folder:
    """Return members as a folder, from their paths in it."""

    def content() -> list[Entry]:
        files: list[Entry] = []
        folders: dict[str, list[tuple[str, File]]] = {}
        for path, file in members:
            top, _, rest = path.partition("/")
            if rest:
                folders.setdefault(top, []).append((rest, file))
            else:
                files.append(file)
        return files + [_folder(top, f"{place}/{top}", inside) for top, inside in folders.items()]

    return Folder(name, place, content)


def archive_type(content: bytes) -> str | None:
    """Return "zip" or "tar", or None if it is neither."""
    if content.startswith((b"PK\3\4", b"PK\5\6")):
        return "zip"
    tar = content.startswith(tuple(COMPRESSED)) or content[257:262] == b"ustar"
    return "tar" if tar else None


def unpacked(content: bytes, kind: str) -> Folder:
    """Return what is in an archive as a folder.

    Args:
        kind: see `archive_type`.

    Raises:
        UnreadableError: it cannot be read.
    """
    listed = _zip_members if kind == "zip" else _tar_members
    with read_as(f"the {kind}"):
        members = [_placed(path, read) for path, read in listed(content)]
    return _folder("", "", members)
