"""Archives and folders that cost too much, or have odd names: refused with one sentence.

The golden corpus has damaged archives of every kind, and paths that point outside.
"""

import tarfile

import pytest

from tensormark.intake.archives import MAX_ARCHIVE
from tensormark.intake.submission import SubmissionError
from testkit.packing import SOURCE, refusal, taken, tarred, zipped


def with_header(path, kind, content, count=1):
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


@pytest.mark.parametrize(
    ("kind", "length", "count"), [(tarfile.XHDTYPE, 100_000, 1), (tarfile.XGLTYPE, 1000, 2000)]
)
def test_long_headers_of_a_tar_are_read_within_the_limits_or_refused(tmp_path, kind, length, count):
    record = f"{length} comment=".encode().ljust(length - 1, b"1") + b"\n"
    path = with_header(tmp_path / "mine.tar", kind, record, count)

    error = refusal(path)  # some Pythons take time that grows with a header's size squared
    assert "too large or too complex" in error or "no main.py" in error or "an empty file" in error


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_too_many_files_are_refused(tmp_path, pack):
    path = pack(tmp_path / "work", {f"{number}.txt": b"" for number in range(10_001)})

    assert "more than 10000 files" in refusal(path)


def test_a_large_archive_is_refused_unread(tmp_path):
    path = zipped(tmp_path / "work.zip", {"main.py": SOURCE})
    with path.open("r+b") as file:
        file.truncate(MAX_ARCHIVE + 1)

    assert "it is larger than 32 MiB" in refusal(path)


@pytest.mark.parametrize(
    "name", ["x" * 10_000 + "_1_2_main.py", "\x1b[31m\r\n_1_2_main.py/x", "\udcff.py", "a\0main.py"]
)
def test_a_strange_name_does_no_harm(tmp_path, name):
    path = tmp_path / "work.tar"
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        for member_name in (name.encode("utf-8", "surrogateescape").decode("latin-1"), "notes.txt"):
            archive.addfile(tarfile.TarInfo(member_name))

    try:
        assert taken(path).sources == {"main": ""}  # the only Python file in the archive
    except SubmissionError:
        assert "there is no main.py" in refusal(path)
