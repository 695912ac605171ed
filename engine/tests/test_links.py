"""No file of a submission is reached through a link, and nothing but files is opened."""

import os

import pytest

from tensormark.intake.entries import Disk, UnreadableError
from tensormark.intake.submission import Part, SubmissionError, read_parts
from testkit.packing import EDITABLE, SOURCE, refusal, taken, unpacked, zipped


@pytest.mark.parametrize("name", ["main.py", "work.zip", "work/main.py"])
@pytest.mark.parametrize("inside", [True, False])
def test_nothing_in_a_folder_is_reached_through_a_link(tmp_path, name, inside):
    folder = tmp_path / "work"
    other = folder / ".other" if inside else tmp_path / "other"
    for path in (folder, other):
        path.mkdir()
    zipped(other / "work.zip", {"main.py": SOURCE})
    (other / "main.py").write_bytes(SOURCE)
    top, _, below = name.partition("/")  # the link is at the top, to a file or a folder
    (folder / top).symlink_to(other if below else other / name)

    assert "is a link" in refusal(folder) or "no main.py" in refusal(folder)


def test_a_link_that_is_named_as_the_hand_in_is_followed(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "main.py").write_bytes(SOURCE)
    (tmp_path / "folder").symlink_to("mine")
    (tmp_path / "main.py").symlink_to("mine/main.py")

    assert taken(tmp_path / "folder").sources == {"main": SOURCE.decode()}
    assert taken(tmp_path / "main.py").sources == {"main": SOURCE.decode()}


def test_no_part_under_a_folder_is_reached_through_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "main.py").write_bytes(SOURCE)
    (tmp_path / "ada").symlink_to("real")
    (tmp_path / "main.py").symlink_to("real/main.py")

    for path in ("ada", "ada/main.py", "main.py", "real/../../main.py"):
        with pytest.raises(SubmissionError, match=r"is a link|outside the folder"):
            read_parts([Part.under(tmp_path, tmp_path / path)], EDITABLE, {})


def test_no_pipe_is_waited_for_and_no_endless_file_read(tmp_path):
    os.mkfifo(tmp_path / "main.py")
    os.mkfifo(tmp_path / "utils.py")
    (tmp_path / "config.py").symlink_to("/dev/zero")

    assert "main.py is a pipe, a socket or a device" in refusal(tmp_path)
    assert "it is a pipe, a socket or a device" in refusal(tmp_path / "main.py")
    (tmp_path / "main.py").unlink()
    (tmp_path / "main.py").write_bytes(SOURCE)
    assert [note.split()[0] for note in taken(tmp_path).notes] == ["config.py", "utils.py"]


def test_a_file_that_was_replaced_by_a_link_after_it_was_listed_is_not_read(tmp_path, monkeypatch):
    (tmp_path / "secret.py").write_bytes(b"secret = 1\n")
    folder = unpacked(tmp_path / "work", {"main.py": SOURCE})
    disk = Disk(str(folder), {})
    (file,) = disk.listed((), "")
    original_stat = os.stat

    def stat(*arguments, **options):
        status = original_stat(*arguments, **options)
        (folder / "main.py").unlink()
        (folder / "main.py").symlink_to("../secret.py")
        return status

    monkeypatch.setattr(os, "stat", stat)
    with pytest.raises(UnreadableError):
        file.read(100)
