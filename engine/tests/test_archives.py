"""Malicious archives: bombs, damage, strange names. All are refused with one sentence."""

import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from packing import SOURCE, refusal, taken, tarred, zipped
from tensormark.intake.archives import MAX_ARCHIVE
from tensormark.intake.submission import SubmissionError


def with_header(path: Path, kind: bytes, content: bytes, count: int = 1) -> Path:
    """Pack a tar of empty files, each behind a header of the given kind."""
    with path.open("wb") as file:
        for _ in range(count):
            header = tarfile.TarInfo("header")
            header.type = kind
            header.size = len(content)
            file.write(header.tobuf(tarfile.USTAR_FORMAT))
            file.write(content + bytes(-len(content) % 512))
            file.write(tarfile.TarInfo("notes.txt").tobuf(tarfile.USTAR_FORMAT))
        file.write(bytes(1024))
    return path


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE], ids=["one", "global"])
@pytest.mark.parametrize(("length", "count"), [(100_000, 1), (1000, 2000)], ids=["long", "many"])
def test_long_headers_of_a_tar_are_read_within_the_limits_or_refused(
    tmp_path: Path, kind: bytes, length: int, count: int
) -> None:
    record = f"{length} comment=".encode().ljust(length - 1, b"1") + b"\n"
    path = with_header(tmp_path / "mine.tar", kind, record, count)

    error = refusal(path)  # some Pythons take time that grows with a header's size squared
    assert "too large or too complex" in error or "no main.py" in error or "an empty file" in error


def test_a_sparse_file_in_a_tar_is_refused(tmp_path: Path) -> None:
    records = b"22 GNU.sparse.major=1\n" + b"22 GNU.sparse.minor=0\n"
    path = with_header(tmp_path / "mine.tar", tarfile.XHDTYPE, records)

    assert "the tar cannot be read" in refusal(path)


def test_an_old_sparse_file_in_a_tar_is_refused(tmp_path: Path) -> None:
    path = with_header(tmp_path / "mine.tar", tarfile.GNUTYPE_SPARSE, b"")

    assert "no main.py" in refusal(path)


def test_a_tar_of_many_files_with_pax_headers_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        for name in [*(f"{'é' * 100}{number}" for number in range(1000)), "main.py"]:
            member = tarfile.TarInfo(name)
            member.size = len(SOURCE)
            archive.addfile(member, io.BytesIO(SOURCE))

    assert taken(path).sources["main"] == SOURCE.decode()


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_too_many_files_are_refused(tmp_path: Path, pack: Callable[..., Path]) -> None:
    path = pack(tmp_path / "work", {f"{number}.txt": b"" for number in range(10_001)})

    assert "more than 10000 files" in refusal(path)


def test_a_large_archive_is_refused_unread(tmp_path: Path) -> None:
    path = zipped(tmp_path / "work.zip", {"main.py": SOURCE})
    with path.open("r+b") as file:
        file.truncate(MAX_ARCHIVE + 1)

    assert "it is larger than 32 MiB" in refusal(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_every_compression_method_that_python_supports_is_read(tmp_path: Path, method: int) -> None:
    path = zipped(tmp_path / "w.zip", {"main.py": SOURCE}, method)

    assert taken(path).sources["main"] == SOURCE.decode()


@pytest.mark.parametrize("pack", ["zip", "", "gz"])
@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.9])
def test_a_truncated_archive_is_refused(tmp_path: Path, pack: str, fraction: float) -> None:
    path = tmp_path / "work"
    noise = os.urandom(3000).hex().encode()
    files = {"main.py": b"# " + noise}
    zipped(path, files) if pack == "zip" else tarred(path, files, f"w:{pack}")
    if not pack:
        fraction = fraction * 0.5  # the rest of a plain tar is padding
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * fraction)])

    refusal(path)


@pytest.mark.parametrize(
    "name", ["x" * 10_000 + "_1_2_main.py", "\x1b[31m\r\n_1_2_main.py/x", "\udcff.py", "a\0main.py"]
)
def test_a_strange_name_does_no_harm(tmp_path: Path, name: str) -> None:
    path = tmp_path / "work.tar"
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        for member_name in (name.encode("utf-8", "surrogateescape").decode("latin-1"), "notes.txt"):
            archive.addfile(tarfile.TarInfo(member_name))

    try:
        assert taken(path).sources == {"main": ""}  # the only Python file in the archive
    except SubmissionError:
        assert "there is no main.py" in refusal(path)


def test_a_name_in_another_encoding_does_no_harm(tmp_path: Path) -> None:
    path = zipped(tmp_path / "work.zip", {"abcdé/main.py": SOURCE})
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xe9\xff"))

    refusal(path)
