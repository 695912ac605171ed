"""Reading submissions: what people and learning platforms hand in, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tensormark.intake.submission import SubmissionError
from tensormark.intake.texts import MAX_SOURCE
from tensormark.settings import parse
from tensormark.worker.protocol import encode

from packing import SOURCE, refusal, taken, tarred, unpacked, zipped

# --- what is taken ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "main.py",
        "homework/main.py",
        "a/b/c/d/main.py",
        "HW1: homework/main.py",  # not a drive
        "lovelaceada_12345_678910_main.py",
        "lovelaceada_LATE_12345_678910_main-2.py",
        "Ada Lovelace_4711_assignsubmission_file_main.py",
        "Ada Lovelace_4711_assignsubmission_file_/main.py",
        "submission_123456/main.py",
        "Łovełace 🎉_1_2_main.py",
        "P_ada_attempt_2026-11-18-12-00-00_main.py",
        "Main.py",
        "MAIN.PY",
        "main-1.py",
        "main (1).py",
        "main - Copy.py",
        "Copy of main.py",
        "my_main.py",
    ],
)
@pytest.mark.parametrize("pack", ["folder", "zip", "tar", "tar.gz", "tar.xz"])
def test_a_file_is_found_under_its_own_name_and_that_of_a_platform(
    tmp_path: Path, name: str, pack: str
) -> None:
    files = {name: SOURCE, "notes.txt": b"hello", "__MACOSX/._main.py": b"\0", ".git/main.py": b""}
    path = tmp_path / f"work.{pack}"
    if pack == "folder":
        unpacked(path, files)
    elif pack == "zip":
        zipped(path, files)
    else:
        tarred(path, files, "w:" + pack[4:])

    assert taken(path).sources == {"main": SOURCE.decode()}


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        (".", "give the folder starter/ or your one file, not a folder around it"),
        ("main.ipynb", "not a folder, a .py file, a zip or a tar; copy your code into main.py"),
        ("main", "not a folder, a .py file, a zip or a tar; the name of a Python file ends in .py"),
        ("main.py.txt", "the name of a Python file ends in .py"),
        ("more/optimizer.py", "no main.py in it, only optimizer.py; give a folder or a zip"),
        ("more", "no main.py in it, only optimizer.py; give a folder or a zip of both"),
        ("report.pdf", "not a folder, a .py file, a zip or a tar; hand in main.py itself"),
        ("work.7z", "not a folder, a .py file, a zip or a tar; pack a zip instead"),
        ("Ada_1_link.html", "links and typed text cannot be graded, only main.py"),
        ("nothing.zip", "it is an empty file"),
        ("config.py", "there is no main.py in it"),
        ("starter/none.py", "there is no such file or folder"),
        ("report.docx", "there is no main.py in it, only document.xml"),
        ("/dev/zero", "it is a pipe, a socket or a device"),
    ],
)
def test_a_refusal_says_what_to_give_instead(tmp_path: Path, name: str, advice: str) -> None:
    for folder in ("starter", "solution", "more"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / ("optimizer.py" if folder == "more" else "main.py")).touch()
    names = "main.ipynb main main.py.txt report.pdf work.7z Ada_1_link.html config.py".split()
    for file in names:
        (tmp_path / file).write_bytes(SOURCE)
    (tmp_path / "nothing.zip").touch()
    zipped(tmp_path / "report.docx", {"word/document.xml": b"<w/>"})

    assert advice in refusal(tmp_path / name)


def submission_path(path: str) -> str:
    submission: str = parse(Path("an assignment"), "check", [path]).submission
    return submission


def test_a_home_folder_is_found_in_every_shell(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    assert submission_path("~/main.py") == str(tmp_path / "main.py")
    (tmp_path / "~").mkdir()
    (tmp_path / "~" / "main.py").write_bytes(SOURCE)
    assert submission_path("~/main.py") == "~/main.py"


def test_an_empty_path_is_not_the_current_folder() -> None:
    with pytest.raises(SubmissionError, match="SUBMISSION is empty"):
        submission_path("")


def test_only_the_editable_files_are_taken(tmp_path: Path) -> None:
    names = "torch json conftest sitecustomize base_model config classifier grader/__init__ utils"
    files = {f"{name}.py": b"raise SystemExit\n" for name in names.split()}
    files |= dict.fromkeys(("evil.pth", "pytest.ini", "setup.cfg", "pyvenv.cfg"), b"import os\n")

    path = zipped(tmp_path / "work.zip", files | {"main.py": SOURCE})

    assert taken(path).sources == {"main": SOURCE.decode()}


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["/etc/main.py", "../../main.py", "C:\\x\\main.py", "..\\main.py"])
@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_path_that_points_outside_is_refused(
    tmp_path: Path, name: str, pack: Callable[..., Path]
) -> None:
    path = pack(tmp_path / "work", {name: SOURCE})

    assert "points outside of the archive" in refusal(path)


def test_a_source_that_is_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_bytes(b"#" * (MAX_SOURCE + 1))

    assert "larger than 256 KiB" in refusal(tmp_path)
    assert "larger than 256 KiB" in refusal(tmp_path / "main.py")


@pytest.mark.parametrize("character", ["\x01", "é", "🐍"], ids=["control", "accent", "snake"])
def test_the_largest_source_fits_into_a_frame_however_it_is_written(character: str) -> None:
    source = character * (MAX_SOURCE // len(character.encode()))

    encode({"sources": {"main": source}})


def test_deep_folders_end_the_search(tmp_path: Path) -> None:
    deep = tmp_path / "work"
    for _ in range(60):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "main.py").write_bytes(SOURCE)

    assert "there is no main.py" in refusal(tmp_path / "work")
