"""Which files of a hand-in are graded, however it is packed and whatever they are called."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tensormark.intake.submission import Part, read_parts
from tensormark.intake.texts import MAX_SOURCE

from packing import EDITABLE, SOURCE, refusal, side_by_side, taken, tarred, unpacked, zipped


@pytest.mark.parametrize(
    "files",
    [
        {"a/main.py": SOURCE, "b/main.py": SOURCE},
        {"main-1.py": SOURCE, "Main.py": SOURCE},
        {"main (1).py": SOURCE, "lovelace_1_2_main.py": SOURCE},
    ],
    ids=["two folders", "case", "platform"],
)
@pytest.mark.parametrize("pack", [zipped, tarred, unpacked])
def test_two_files_that_are_equally_good_are_named_and_refused(
    tmp_path: Path, files: dict[str, bytes], pack: Callable[..., Path]
) -> None:
    error = refusal(pack(tmp_path / "work", files))

    assert "more than one main.py: " in error
    assert all(name in error for name in files)


BETTER: dict[str, dict[str, bytes]] = {
    "its exact name": {
        "main.py": SOURCE,
        "Main.py": b"x",
        "main-1.py": b"x",
        "a_1_2_main.py": b"x",
    },
    "nearer to the top": {"main (1).py": SOURCE, "old/main.py": b"x", "old/b.py": b"x"},
    "exact in one of two folders": {"a/main.py": SOURCE, "b/main-1.py": b"x"},
    "other Python": {"main.py": SOURCE, "main_final.py": b"x", "a.zip": b"x"},
    "the only other Python": {"my_main.py": SOURCE, "config.py": b"x", "report.pdf": b"x"},
}


@pytest.mark.parametrize("name", BETTER)
@pytest.mark.parametrize("pack", [zipped, tarred, unpacked, side_by_side])
def test_the_best_match_among_several_files_is_taken(
    tmp_path: Path, name: str, pack: Callable[..., Path]
) -> None:
    submission = taken(pack(tmp_path / "work", BETTER[name]))

    assert submission.sources == {"main": SOURCE.decode()}


@pytest.mark.parametrize("pack", [zipped, tarred, unpacked, side_by_side])
def test_the_same_files_are_read_the_same_however_they_are_packed(
    tmp_path: Path, pack: Callable[..., Path]
) -> None:
    files = {
        **{"MAIN.PY": SOURCE, "optimizer (1).py": b"o = 1\n", "pretraining.py": b"\xff"},
        **{"a/transformer.py": b"t = 1\n", "config.py": b"x", "rope.py": b"x"},
    }

    submission = taken(pack(tmp_path / "work", files))

    assert submission.sources == {
        "main": SOURCE.decode(),
        "optimizer": "o = 1\n",
        "pretraining": "",
    }
    assert submission.faults.keys() == {"pretraining"}
    assert submission.notes == (
        "config.py differs from the given file, which grading uses instead",
    )
    assert {"rope", "config"} < submission.others


def test_a_name_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "work.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("main.py", SOURCE)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("main.py", b"other = 1\n")

    assert "it has two files with the name main.py; pack it again" in refusal(path)


@pytest.mark.parametrize("pack", [zipped, tarred, unpacked])
def test_an_archive_is_opened_wherever_it_is_the_only_one(
    tmp_path: Path, pack: Callable[..., Path]
) -> None:
    inner = zipped(tmp_path / "inner.zip", {"main.py": SOURCE}).read_bytes()
    nested = [inner]
    for _ in range(5):
        nested.append(zipped(tmp_path / "deep.zip", {"Work.ZIP": nested[-1]}).read_bytes())

    assert taken(pack(tmp_path / "one", {"work/Work.ZIP": inner})).sources.keys() == {"main"}
    assert "hand in the files themselves" in refusal(pack(tmp_path / "two", {"a.zip": nested[-1]}))
    two_archives = pack(tmp_path / "three", {"a.zip": inner, "b.zip": inner})
    assert "but a.zip, b.zip; hand in the files themselves" in refusal(two_archives)


def test_a_single_file_is_read_with_the_finished_files_beside_it(tmp_path: Path) -> None:
    for name in ("main.py", "optimizer.py", "transformer-1.py", "other.py"):
        (tmp_path / name).write_bytes(SOURCE)

    assert taken(tmp_path / "main.py").sources.keys() == {"main", "optimizer"}
    assert taken(tmp_path / "other.py").sources.keys() == {"main"}
    submission = read_parts([Part.under(tmp_path, tmp_path / "main.py")], EDITABLE, {})
    assert submission.sources.keys() == {"main"}


def test_an_extension_that_cannot_be_read_does_not_affect_other_files(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_bytes(SOURCE)
    (tmp_path / "optimizer.py").symlink_to("main.py")
    (tmp_path / "pretraining.py").write_bytes(b"#" * (MAX_SOURCE + 1))

    submission = taken(tmp_path)

    assert submission.sources == {"main": SOURCE.decode(), "optimizer": "", "pretraining": ""}
    assert "optimizer.py is a link" in submission.faults["optimizer"]
    assert "larger than 256 KiB" in submission.faults["pretraining"]
