"""Read single files from untrusted zip and tar archives; nothing is written to disk.

Covered: every size, count and ratio is bounded before it costs anything: the archive, the list of
its members, the decompressed data, a single member. Links, devices, encryption and paths that point
outside are rejected for wanted files, and ignored for others.
Not covered: archives within archives (they are not opened), and formats other than zip, tar, tar.gz
and tar.xz.
"""

import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from grader.intake.syntax import shown

MAX_ARCHIVE = 32 << 20  # bytes on disk; the checkpoint and the data together have 6 MB
MAX_UNPACKED = 64 << 20  # bytes of a tar that are decompressed
MAX_MEMBERS = 10_000
MAX_LISTING = 2 << 20  # bytes of a zip's list of members
MAX_EXTENDED = 4096  # bytes of a pax header: some Pythons take time with the square of its size
MAX_EXTENDED_IN_ALL = 1 << 20
XZ_MEMORY = 128 << 20  # bytes that a decompressor may take; xz -9 makes it take 65 MiB
CHUNK = 1 << 16
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}  # others decompress before they can be bounded
ENCRYPTED = 0x1  # a zip member's flag
END = struct.Struct("<4s4H2LH")  # a zip's end record
SUFFIXES = (".zip", ".tar", ".gz", ".tgz", ".xz", ".txz", ".bz2", ".7z", ".rar")


class ArchiveError(Exception):
    """An archive that cannot be read; the message completes a sentence about it."""


class Refused(ArchiveError):
    """A wanted member that is rejected."""


Wanted = Callable[[str], str | None]  # takes a name, returns the name it is wanted as, or None
Member = tuple[str, str, bytes]  # its path in the archive, the name it is wanted as, its content


def hidden(path: PurePosixPath) -> bool:
    """Say whether a member is one that systems add by themselves."""
    return any((part[:1] == "." and part != "..") or part == "__MACOSX" for part in path.parts)


def check_path(name: str) -> None:
    """Check that a member's path stays within the archive."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
        raise Refused(f"the path of {shown(name)} points outside of it")


def bounded(stream: BinaryIO, name: str, limit: int) -> bytes:
    """Read a member, no more than its limit whatever its header says."""
    content = stream.read(limit + 1)
    if len(content) > limit:
        raise Refused(f"{shown(name)} is larger than {limit >> 10} KiB, too large for a solution")
    return content


# --- zip ------------------------------------------------------------------------------------


def check_listing(path: Path) -> None:
    """Bound a zip's list of members before it is read."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - END.size - 0x10014))
        tail = file.read()
    at = len(tail) - END.size
    if tail[at : at + 4] != b"PK\5\6" or tail[-2:] != b"\0\0":  # it has a comment behind it
        at = tail.rfind(b"PK\5\6")
    if at < 0 or at + END.size > len(tail):
        raise ArchiveError("the zip is truncated")
    length = END.unpack_from(tail, at)[5]
    if length > MAX_LISTING or tail[max(0, at - 20) :].startswith(b"PK\6\7"):
        raise ArchiveError(f"it has more than {MAX_MEMBERS} files")


def zip_members(path: Path, wanted: Wanted, limit: int) -> Iterator[Member]:
    """Yield the wanted members of a zip."""
    check_listing(path)
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > MAX_MEMBERS:
            raise ArchiveError(f"it has more than {MAX_MEMBERS} files")
        for member in members:
            place = PurePosixPath(member.filename.replace("\\", "/"))
            if member.is_dir() or hidden(place) or (name := wanted(place.name)) is None:
                continue
            check_path(member.filename)
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG):
                raise Refused(
                    f"{shown(member.filename)} is a link or a special file; pack the file itself"
                )
            if member.flag_bits & ENCRYPTED:
                raise Refused(f"{shown(member.filename)} is encrypted")
            if member.compress_type not in METHODS:
                raise Refused(f"{shown(member.filename)} uses an unsupported compression method")
            with archive.open(member) as stream:
                content = bounded(stream, member.filename, limit)  # type: ignore[arg-type]
            yield member.filename, name, content


# --- tar ------------------------------------------------------------------------------------


class Unpacked(io.RawIOBase):
    """A decompressed stream that raises an error when it gets too long."""

    def __init__(self, file: BinaryIO, magic: bytes) -> None:
        self.file, self.left = file, MAX_UNPACKED
        self.pending = b""
        self.xz = lzma.LZMADecompressor(memlimit=XZ_MEMORY) if magic[:2] == b"\xfd7" else None
        self.gz = zlib.decompressobj(31) if magic[:2] == b"\x1f\x8b" else None

    def readable(self) -> bool:
        """Return True."""
        return True

    def some(self) -> bytes:
        """Return the next bytes, b"" at the end."""
        if self.xz is None and self.gz is None:
            return self.file.read(CHUNK)
        while True:
            if self.xz is not None:
                if self.xz.eof:
                    return b""
                packed = self.file.read(CHUNK) if self.xz.needs_input else b""
                if self.xz.needs_input and not packed:
                    raise ArchiveError("the archive is truncated")
                unpacked = self.xz.decompress(packed, CHUNK)
            else:
                assert self.gz is not None
                if self.gz.eof:
                    return b""
                packed = self.gz.unconsumed_tail or self.file.read(CHUNK)
                if not packed:
                    raise ArchiveError("the archive is truncated")
                unpacked = self.gz.decompress(packed, CHUNK)
            if unpacked:
                return unpacked

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Fill a buffer with the next bytes."""
        self.pending = self.pending or self.some()
        part, self.pending = self.pending[: len(buffer)], self.pending[len(buffer) :]
        self.left -= len(part)
        if self.left < 0:
            raise ArchiveError(f"it unpacks to more than {MAX_UNPACKED >> 20} MiB")
        buffer[: len(part)] = part
        return len(part)


class Header(tarfile.TarInfo):
    """A member's header, without the kinds that cost far more than their size."""

    def _proc_pax(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        """Read a pax header, unless it or all of them together are too long."""
        before = getattr(archive, "extended", 0)
        archive.extended = before + self.size  # type: ignore[attr-defined]
        if self.size > MAX_EXTENDED or before + self.size > MAX_EXTENDED_IN_ALL:
            raise ArchiveError("it has a header that is too long")
        return super()._proc_pax(archive)  # type: ignore[misc,no-any-return]

    def _proc_gnusparse_10(self, *_: object) -> tarfile.TarInfo:
        """Reject a sparse file: its list of holes can have any length."""
        raise ArchiveError("it has a sparse file")

    _proc_sparse = _proc_gnusparse_10


def tar_members(path: Path, wanted: Wanted, limit: int) -> Iterator[Member]:
    """Yield the wanted members of a tar, compressed or not, in one pass."""
    with path.open("rb") as file:
        magic = file.read(6)
        file.seek(0)
        stream = io.BufferedReader(Unpacked(file, magic), CHUNK)  # type: ignore[type-var]
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=Header) as archive:
            for number, member in enumerate(archive):
                archive.members.clear()  # type: ignore[attr-defined]  # else it keeps each
                if number >= MAX_MEMBERS:
                    raise ArchiveError(f"it has more than {MAX_MEMBERS} files")
                place = PurePosixPath(member.name)
                if member.isdir() or hidden(place) or (name := wanted(place.name)) is None:
                    continue
                check_path(member.name)
                if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
                    raise Refused(
                        f"{shown(member.name)} is a link or a special file; pack the file itself"
                    )
                opened = archive.extractfile(member)
                assert opened is not None
                content = bounded(opened, member.name, limit)  # type: ignore[arg-type]
                if len(content) < member.size:
                    raise ArchiveError("the archive is truncated")
                yield member.name, name, content


# --- either ---------------------------------------------------------------------------------


def archive_type(path: Path) -> str | None:
    """Recognize an archive by its first bytes: "zip", "tar" or None."""
    with path.open("rb") as file:
        start = file.read(512)
    if start.startswith((b"PK\3\4", b"PK\5\6")):
        return "zip"
    compressed = start.startswith((b"\x1f\x8b", b"\xfd7zXZ\0"))
    return "tar" if compressed or start[257:262] == b"ustar" else None


def members(path: Path, wanted: Wanted, limit: int) -> Iterator[Member]:
    """Yield the wanted members of an archive.

    Args:
        wanted: takes a file's name, without folders.
        limit: bytes of one member at most.

    Raises:
        ArchiveError: it cannot be read, or a wanted member is rejected.
    """
    if path.stat().st_size > MAX_ARCHIVE:
        raise ArchiveError(f"it is larger than {MAX_ARCHIVE >> 20} MiB")
    kind = archive_type(path)
    try:
        yield from (zip_members if kind == "zip" else tar_members)(path, wanted, limit)
    except ArchiveError:
        raise
    # anything the libraries raise on damaged input, including RecursionError and struct.error
    except (Exception, MemoryError) as error:
        what = shown(str(error)) or type(error).__name__
        raise ArchiveError(f"the {kind or 'archive'} cannot be read ({what})") from error
