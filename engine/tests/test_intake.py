"""Reading submissions: which files are graded, however they are packed and whatever their names.

The golden corpus has more names, which of several files is graded, and archives that are refused.
"""

import warnings
import zipfile

import pytest

from tensormark import settings
from tensormark.intake.sources import MAX_SOURCE
from tensormark.intake.submission import Part, SubmissionError, read_parts
from tensormark.worker.protocol import encode
from testkit.packing import EDITABLE, SOURCE, side_by_side, taken, tarred, unpacked, zipped


@pytest.mark.parametrize("pack", [zipped, tarred, unpacked, side_by_side])
def test_the_same_files_are_read_the_same_however_they_are_packed(tmp_path, pack):
    files = {
        "P_ada_attempt_2026-11-18-12-00-00_MAIN.PY": SOURCE,
        "optimizer (1).py": b"o = 1\n",
        "pretraining.py": b"\xff",
        "a/transformer.py": b"t = 1\n",
        "config.py": b"x",
        "rope.py": b"x",
        "__MACOSX/._main.py": b"\0",
        ".git/main.py": SOURCE,
    }

    submission = taken(pack(tmp_path / "work", files))

    texts = {"main": SOURCE.decode(), "optimizer": "o = 1\n", "pretraining": ""}
    assert submission.sources == texts
    assert submission.faults.keys() == {"pretraining"}
    noted = [note.split()[0] for note in submission.notes]
    assert noted == ["optimizer", "config.py", "a/transformer.py"]
    assert {"rope", "config"} < submission.others


def test_a_single_file_is_read_with_the_finished_files_beside_it(tmp_path):
    for name in ("main.py", "optimizer.py", "transformer-1.py", "other.py"):
        (tmp_path / name).write_bytes(SOURCE)

    assert taken(tmp_path / "main.py").sources.keys() == {"main", "optimizer"}
    assert taken(tmp_path / "other.py").sources.keys() == {"main"}
    folder = unpacked(tmp_path / "class", {"main.py": SOURCE})
    submission = read_parts([Part.under(folder, folder / "main.py")], EDITABLE, {})
    assert submission.sources.keys() == {"main"}


def test_an_extension_that_cannot_be_read_does_not_affect_other_files(tmp_path):
    (tmp_path / "main.py").write_bytes(SOURCE)
    (tmp_path / "optimizer.py").symlink_to("main.py")
    (tmp_path / "pretraining.py").write_bytes(b"#" * (MAX_SOURCE + 1))
    for number in (1, 2):
        (tmp_path / f"transformer ({number}).py").write_bytes(SOURCE)

    submission = taken(tmp_path)

    assert submission.sources == {"main": SOURCE.decode(), "optimizer": "", "pretraining": ""}
    assert submission.faults.keys() == {"optimizer", "pretraining"}
    (note,) = submission.notes
    assert "transformer (1).py, transformer (2).py" in note


def test_a_home_folder_is_found_in_every_shell(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    assert settings.submission("~/main.py") == "main.py"
    unpacked(tmp_path, {"~/main.py": SOURCE})
    assert settings.submission("~/main.py") == "~/main.py"
    with pytest.raises(SubmissionError):
        settings.submission("")  # not the current folder


@pytest.mark.parametrize("character", ["\x01", "é", "🐍"], ids=["control", "accent", "snake"])
def test_the_largest_source_fits_into_a_frame_however_it_is_written(character):
    source = character * (MAX_SOURCE // len(character.encode()))

    encode({"sources": {"main": source}})


def test_there_are_few_notes_however_much_there_is(tmp_path):
    files = {f"{number}/main{number}.py": b"x" for number in range(4000)}
    files |= {f"{number}/main.py": b"x" for number in range(4000)}
    files |= {f"main{number}.py": b"x" for number in range(1000)}

    notes = taken(zipped(tmp_path / "work", {"main.py": SOURCE, **files})).notes

    assert len(notes) < 25
    assert sum(map(len, notes)) < 10_000


def test_many_files_that_are_not_graded_make_few_and_short_notes(tmp_path):
    files = {"main.py": SOURCE, **{f"main_{n}_{'x' * 70}.py": b"x" for n in range(2000)}}
    hand_in = zipped(tmp_path / "work.zip", files)
    with zipfile.ZipFile(hand_in, "a") as archive, warnings.catch_warnings(action="ignore"):
        for _ in range(2000):
            archive.writestr("config.py", b"changed")

    alike, modified = taken(hand_in).notes

    assert alike.startswith("main.py is graded, not main_0_x")
    assert alike.endswith(".py and 1997 more")
    assert modified.startswith("config.py differs")
