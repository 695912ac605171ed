"""What commands write: only over what we wrote, and who can read it."""

import contextlib
import errno
import os
from pathlib import Path

import pytest

from tensormark.cli import run
from tensormark.files import for_staff, whole_folder, write_whole
from tensormark.zipped import zipped
from testkit.classes import graded_class, handed_in

WORK = b"# an evening's work\n"
FOR_STAFF = ({0o700}, {0o600})  # what `modes_in` returns of them


def test_a_file_that_cannot_be_written_whole_is_named(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match=r"\[Errno 28\] No space left on device: .*result\.json"):
        write_whole(tmp_path / "result.json", "{}")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [WORK, zipped({"main.py": WORK}), b'{"version": 1}\n', b""])
@pytest.mark.parametrize(
    "line",
    [
        "submit solution --out PATH.zip",
        "check solution --json PATH.json",
        "report solution --out PATH.html",
        "viva solution --out PATH.html",
        "release --out PATH.zip",
        "gradescope --references reference_outputs --out PATH.zip",
    ],
)
def test_a_file_that_we_did_not_write_is_not_replaced(folder, tmp_path, line, content, capsys):
    command, *options = line.replace("PATH", str(tmp_path / "work")).split()
    path = Path(options[-1])
    path.write_bytes(content)

    assert run(folder, command, options) == 2

    assert path.read_bytes() == content
    assert "already exists, and this command did not write it" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line", ["report solution --json PATH.json --out PATH.html", "release --out PATH.zip"]
)
def test_what_a_command_wrote_it_may_replace(folder, tmp_path, monkeypatch, line):
    monkeypatch.chdir(folder)
    command, *options = line.replace("PATH", str(tmp_path / "work")).split()

    first = run(folder, command, options)
    second = run(folder, command, options)

    assert (first, second) == (0, 0)


# --- who can read it --------------------------------------------------------------------------


@contextlib.contextmanager
def under(umask):
    """Have a umask for a while, which nothing in it may change for good."""
    before = os.umask(umask)
    try:
        yield
    finally:
        assert os.umask(before) == umask


def modes_in(folder):
    """Return the modes of the folders in a folder, and those of the files."""
    folders = set()
    files = set()
    for path in folder.rglob("*"):
        modes = files if path.is_file() else folders
        modes.add(path.stat().st_mode & 0o777)
    return folders, files


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002], ids=oct)
def test_the_umask_decides_who_can_read_a_file_unless_it_is_for_staff(tmp_path, umask):
    def write(name):
        with whole_folder(tmp_path / name / "below") as unfinished:
            write_whole(unfinished / "new" / "file", "")

    with under(umask):
        write("students")
        with for_staff():
            write("staff")

    assert modes_in(tmp_path / "students") == ({0o777 & ~umask}, {0o666 & ~umask})
    assert modes_in(tmp_path / "staff") == FOR_STAFF


def test_a_class_private_references_and_the_autograder_are_for_staff(copy, tmp_path):
    references = f"{tmp_path}/staff/references"
    autograder = ["--references", references, "--out", f"{tmp_path}/staff/dist/autograder.zip"]
    hand_ins = handed_in(tmp_path / "in", "ada.py")

    with under(0o002):
        assert run(copy, "references", ["--seed", "77", "--out", references]) == 0
        assert run(copy, "gradescope", autograder) == 0
        assert graded_class(copy, hand_ins, tmp_path / "staff" / "class")[0] == 0
        assert run(copy, "release", ["--out", f"{tmp_path}/students/release.zip"]) == 0

    assert modes_in(tmp_path / "staff") == FOR_STAFF
    assert modes_in(tmp_path / "students") == (set(), {0o664})
