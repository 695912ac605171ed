"""Reading submissions: what people and learning platforms hand in, and what is refused."""

import os
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.intake.submission import MAX_SOURCE, SubmissionError
from grader.settings import parse
from grader.worker.protocol import encode

from packing import SOURCE, refusal, taken, tarred, zipped

# --- what is taken ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "bert.py",
        "homework/bert.py",
        "a/b/c/d/bert.py",
        "lovelaceada_12345_678910_bert.py",
        "lovelaceada_LATE_12345_678910_bert-2.py",
        "Ada Lovelace_4711_assignsubmission_file_bert.py",
        "Ada Lovelace_4711_assignsubmission_file_/bert.py",
        "submission_123456/bert.py",
        "Łovełace 🎉_1_2_bert.py",
    ],
)
@pytest.mark.parametrize("pack", ["folder", "zip", "tar", "tar.gz", "tar.xz"])
def test_a_file_is_found_under_its_own_name_and_that_of_a_platform(
    tmp_path: Path, name: str, pack: str
) -> None:
    files = {name: SOURCE, "notes.txt": b"hello", "__MACOSX/._bert.py": b"\0", ".git/bert.py": b""}
    path = tmp_path / f"work.{pack}"
    if pack == "folder":
        for place, content in files.items():
            (path / place).parent.mkdir(parents=True, exist_ok=True)
            (path / place).write_bytes(content)
    elif pack == "zip":
        zipped(path, files)
    else:
        tarred(path, files, "w:" + pack[4:])

    if pack == "folder" and name.count("/") > 2:
        assert "no bert.py" in refusal(path)
    else:
        assert taken(path).sources == {"bert": SOURCE.decode()}


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        (".", "give the folder starter/ or your one file, not what is around it"),
        ("bert.ipynb", "not a folder, a .py file, a zip or a tar; copy your code into bert.py"),
        ("bert", "not a folder, a .py file, a zip or a tar; the name of a Python file ends in .py"),
        ("bert.py.txt", "the name of a Python file ends in .py"),
        ("more/optimizer.py", "is graded together with bert.py; give a folder or a zip of both"),
        ("starter/none.py", "there is no such file or folder"),
        ("report.docx", "there is no bert.py in it"),
    ],
)
def test_a_refusal_says_what_to_give_instead(tmp_path: Path, name: str, advice: str) -> None:
    for folder in ("starter", "solution", "more"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / ("optimizer.py" if folder == "more" else "bert.py")).touch()
    for file in ("bert.ipynb", "bert", "bert.py.txt"):
        (tmp_path / file).write_bytes(SOURCE)
    zipped(tmp_path / "report.docx", {"word/document.xml": b"<w/>"})

    assert advice in refusal(tmp_path / name)


def test_a_home_folder_is_found_in_every_shell(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    assert parse(["~/bert.py"]).submission == str(tmp_path / "bert.py")
    (tmp_path / "~").mkdir()
    (tmp_path / "~" / "bert.py").write_bytes(SOURCE)
    assert parse(["~/bert.py"]).submission == "~/bert.py"


def test_an_empty_path_is_not_the_current_folder() -> None:
    with pytest.raises(SubmissionError, match="SUBMISSION= is empty"):
        parse([""])


def test_a_single_file_may_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / "my version (3).py"
    path.write_bytes(SOURCE)

    assert taken(path).sources == {"bert": SOURCE.decode()}


def test_the_only_archive_of_a_folder_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "Ada Lovelace_4711_assignsubmission_file_"
    folder.mkdir()
    zipped(folder / "work.zip", {"work/bert.py": SOURCE})

    assert taken(folder).sources == {"bert": SOURCE.decode()}


def test_a_file_at_the_top_comes_before_those_below(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "bert.py").write_bytes(b"old = 1\n")
    (tmp_path / "bert.py").write_bytes(SOURCE)

    assert taken(tmp_path).sources == {"bert": SOURCE.decode()}


def test_only_the_editable_files_are_taken(tmp_path: Path) -> None:
    names = "torch json conftest sitecustomize base_bert config classifier grader/__init__ utils"
    files = {f"{name}.py": b"raise SystemExit\n" for name in names.split()}
    files |= dict.fromkeys(("evil.pth", "pytest.ini", "setup.cfg", "pyvenv.cfg"), b"import os\n")

    path = zipped(tmp_path / "work.zip", files | {"bert.py": SOURCE})

    assert taken(path).sources == {"bert": SOURCE.decode()}


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["/etc/bert.py", "../../bert.py", "C:\\x\\bert.py", "..\\bert.py"])
@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_path_that_points_outside_is_refused(
    tmp_path: Path, name: str, pack: Callable[..., Path]
) -> None:
    path = pack(tmp_path / "work", {name: SOURCE})

    # a tar keeps backslashes: there, they are part of the name, and the file is not bert.py
    assert "points outside of it" in (error := refusal(path)) or (
        "\\" in name and "no bert.py" in error
    )


@pytest.mark.parametrize(
    "files",
    [
        {"a/bert.py": SOURCE, "b/bert.py": SOURCE},
        {"bert.py": SOURCE, "Bert.py": SOURCE},
        {"bert.py": SOURCE, "lovelace_1_2_bert.py": SOURCE},
    ],
    ids=["two folders", "case", "platform"],
)
@pytest.mark.parametrize("pack", [zipped, tarred])
def test_two_files_of_one_name_are_refused(
    tmp_path: Path, files: dict[str, bytes], pack: Callable[..., Path]
) -> None:
    assert "more than one bert.py" in refusal(pack(tmp_path / "work", files))


def test_a_name_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "work.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bert.py", SOURCE)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("bert.py", b"other = 1\n")

    assert "more than one bert.py" in refusal(path)


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_a_link_or_device_in_a_tar_is_refused(tmp_path: Path, kind: bytes) -> None:
    path = tmp_path / "work.tar"
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo("bert.py")
        member.type, member.linkname = kind, "/etc/passwd"
        archive.addfile(member)

    assert "pack the file itself" in refusal(path)


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "work.zip"
    with zipfile.ZipFile(path, "w") as archive:
        member = zipfile.ZipInfo("bert.py")
        member.external_attr = 0o120777 << 16
        archive.writestr(member, "/etc/passwd")

    assert "pack the file itself" in refusal(path)


def test_a_link_out_of_a_folder_is_refused(tmp_path: Path) -> None:
    secret, folder = tmp_path / "other_student.py", tmp_path / "work"
    secret.write_bytes(SOURCE)
    folder.mkdir()
    (folder / "bert.py").symlink_to(secret)

    assert "a link to a file outside" in refusal(folder)


def test_a_pipe_in_a_folder_is_ignored(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "bert.py")

    assert "there is no bert.py" in refusal(tmp_path)


def test_a_zip_within_a_zip_is_not_opened(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", {"bert.py": SOURCE}).read_bytes()

    path = zipped(tmp_path / "outer.zip", {"work/inner.zip": inner})

    assert "another archive, inner.zip; hand in the file itself" in refusal(path)


def test_a_source_that_is_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bert.py").write_bytes(b"#" * (MAX_SOURCE + 1))

    assert "larger than 256 KiB" in refusal(tmp_path)
    assert "larger than 256 KiB" in refusal(tmp_path / "bert.py")


@pytest.mark.parametrize("character", ["\x01", "é", "🐍"], ids=["control", "accent", "snake"])
def test_the_largest_source_fits_a_frame_however_it_is_written(character: str) -> None:
    source = character * (MAX_SOURCE // len(character.encode()))

    encode({"sources": {"bert": source}})


def test_deep_folders_end_the_search(tmp_path: Path) -> None:
    deep = tmp_path / "work"
    for _ in range(60):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "bert.py").write_bytes(SOURCE)

    assert "there is no bert.py" in refusal(tmp_path / "work")


def test_nothing_is_written_while_an_archive_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tarred(tmp_path / "work.tar.xz", {"bert.py": SOURCE, "x/y.txt": b"z"}, "w:xz")
    written: list[str] = []

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
            written.append(str(arguments[0]))

    sys.addaudithook(hook)
    taken(path)

    assert written == []
