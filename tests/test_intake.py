"""Reading submissions: what people and learning platforms hand in, and what is refused."""

import os
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.assignment import MINBERT
from grader.intake.disk import Disk
from grader.intake.submission import Part, SubmissionError, read_parts
from grader.intake.texts import MAX_SOURCE
from grader.intake.tree import File, UnreadableError
from grader.settings import parse
from grader.worker.protocol import encode

from packing import SOURCE, refusal, side_by_side, taken, tarred, unpacked, zipped

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
        "P_ada_attempt_2026-11-18-12-00-00_bert.py",
        "Bert.py",
        "BERT.PY",
        "bert-1.py",
        "bert (1).py",
        "bert - Copy.py",
        "Copy of bert.py",
        "my_bert.py",
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

    assert taken(path).sources == {"bert": SOURCE.decode()}


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        (".", "give the folder starter/ or your one file, not what is around it"),
        ("bert.ipynb", "not a folder, a .py file, a zip or a tar; copy your code into bert.py"),
        ("bert", "not a folder, a .py file, a zip or a tar; the name of a Python file ends in .py"),
        ("bert.py.txt", "the name of a Python file ends in .py"),
        ("more/optimizer.py", "no bert.py in it, which optimizer.py needs; give a folder or a zip"),
        ("more", "no bert.py in it, which optimizer.py needs; give a folder or a zip of both"),
        ("report.pdf", "not a folder, a .py file, a zip or a tar; hand in bert.py itself"),
        ("work.7z", "not a folder, a .py file, a zip or a tar; pack a zip instead"),
        ("Ada_1_link.html", "a link or typed text cannot be graded, only bert.py"),
        ("nothing.zip", "it is an empty file"),
        ("config.py", "there is no bert.py in it"),
        ("starter/none.py", "there is no such file or folder"),
        ("report.docx", "there is no bert.py in it, only document.xml"),
        ("/dev/zero", "it is a pipe, a socket or a device"),
    ],
)
def test_a_refusal_says_what_to_give_instead(tmp_path: Path, name: str, advice: str) -> None:
    for folder in ("starter", "solution", "more"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / ("optimizer.py" if folder == "more" else "bert.py")).touch()
    names = "bert.ipynb bert bert.py.txt report.pdf work.7z Ada_1_link.html config.py".split()
    for file in names:
        (tmp_path / file).write_bytes(SOURCE)
    (tmp_path / "nothing.zip").touch()
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

    assert "points outside of the archive" in refusal(path)


@pytest.mark.parametrize(
    "files",
    [
        {"a/bert.py": SOURCE, "b/bert.py": SOURCE},
        {"bert-1.py": SOURCE, "Bert.py": SOURCE},
        {"bert (1).py": SOURCE, "lovelace_1_2_bert.py": SOURCE},
    ],
    ids=["two folders", "case", "platform"],
)
@pytest.mark.parametrize("pack", [zipped, tarred, unpacked])
def test_two_files_that_are_equally_good_are_named_and_refused(
    tmp_path: Path, files: dict[str, bytes], pack: Callable[..., Path]
) -> None:
    error = refusal(pack(tmp_path / "work", files))

    assert "more than one bert.py: " in error
    assert all(name in error for name in files)


BETTER: dict[str, dict[str, bytes]] = {
    "its exact name": {
        "bert.py": SOURCE,
        "Bert.py": b"x",
        "bert-1.py": b"x",
        "a_1_2_bert.py": b"x",
    },
    "nearer to the top": {"bert (1).py": SOURCE, "old/bert.py": b"x", "old/b.py": b"x"},
    "exact in one of two folders": {"a/bert.py": SOURCE, "b/bert-1.py": b"x"},
    "other Python": {"bert.py": SOURCE, "bert_final.py": b"x", "a.zip": b"x"},
    "the only other Python": {"my_bert.py": SOURCE, "config.py": b"x", "report.pdf": b"x"},
}


@pytest.mark.parametrize("name", BETTER)
@pytest.mark.parametrize("pack", [zipped, tarred, unpacked, side_by_side])
def test_the_better_of_several_is_taken(
    tmp_path: Path, name: str, pack: Callable[..., Path]
) -> None:
    found = taken(pack(tmp_path / "work", BETTER[name]))

    assert found.sources == {"bert": SOURCE.decode()}


@pytest.mark.parametrize("pack", [zipped, tarred, unpacked, side_by_side])
def test_the_same_files_are_read_the_same_however_they_come(
    tmp_path: Path, pack: Callable[..., Path]
) -> None:
    files = {
        **{"BERT.PY": SOURCE, "optimizer (1).py": b"o = 1\n", "pretraining.py": b"\xff"},
        **{"a/transformer.py": b"t = 1\n", "config.py": b"x", "rope.py": b"x"},
    }

    found = taken(pack(tmp_path / "work", files))

    assert found.sources == {"bert": SOURCE.decode(), "optimizer": "o = 1\n", "pretraining": ""}
    assert found.faults.keys() == {"pretraining"}
    assert found.notes == ("config.py differs from the given one, which is what grading uses",)
    assert {"rope", "config"} < found.others


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


@pytest.mark.parametrize("name", ["bert.py", "work.zip", "work/bert.py"])
@pytest.mark.parametrize("inside", [True, False])
def test_nothing_in_a_folder_is_reached_through_a_link(
    tmp_path: Path, name: str, inside: bool
) -> None:
    folder, other = tmp_path / "work", tmp_path / "work/.other" if inside else tmp_path / "other"
    for path in (folder, other):
        path.mkdir()
    zipped(other / "work.zip", {"bert.py": SOURCE})
    (other / "bert.py").write_bytes(SOURCE)
    top, _, below = name.partition("/")
    (folder / top).symlink_to(other if below else other / name)

    assert "is a link" in refusal(folder) or "no bert.py" in refusal(folder)


def test_a_given_file_that_never_ends_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "bert.py").write_bytes(SOURCE)
    (tmp_path / "config.py").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "utils.py")

    found = taken(tmp_path)

    assert found.sources == {"bert": SOURCE.decode()}
    assert [note.split()[0] for note in found.notes] == ["config.py", "utils.py"]


def test_a_link_that_somebody_has_typed_is_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bert.py").write_bytes(SOURCE)
    (tmp_path / "folder").symlink_to("mine")
    (tmp_path / "bert.py").symlink_to("mine/bert.py")

    assert taken(tmp_path / "folder").sources == {"bert": SOURCE.decode()}
    assert taken(tmp_path / "bert.py").sources == {"bert": SOURCE.decode()}


def test_what_another_has_put_under_a_folder_is_reached_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "bert.py").write_bytes(SOURCE)
    (tmp_path / "ada").symlink_to("real")
    (tmp_path / "bert.py").symlink_to("real/bert.py")

    for path in ("ada", "ada/bert.py", "bert.py", "real/../../bert.py"):
        with pytest.raises(SubmissionError, match=r"is a link|out of the folder"):
            read_parts([Part.under(tmp_path, tmp_path / path)], MINBERT.editable, {})


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "bert.py")

    assert "bert.py is a pipe, a socket or a device" in refusal(tmp_path)
    assert "it is a pipe, a socket or a device" in refusal(tmp_path / "bert.py")


def test_a_file_that_was_replaced_since_it_was_seen_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.py").write_bytes(b"secret = 1\n")
    folder = unpacked(tmp_path / "work", {"bert.py": SOURCE})
    disk = Disk(str(folder))
    (file,) = disk.listed((), "")
    before = os.stat

    def stat(*arguments: object, **options: object) -> os.stat_result:
        found = before(*arguments, **options)
        (folder / "bert.py").unlink()
        (folder / "bert.py").symlink_to("../secret.py")
        return found

    monkeypatch.setattr(os, "stat", stat)
    assert isinstance(file, File)
    with pytest.raises(UnreadableError):
        file.read(100)


@pytest.mark.parametrize("pack", [zipped, tarred, unpacked])
def test_an_archive_is_opened_wherever_it_is_the_only_one(
    tmp_path: Path, pack: Callable[..., Path]
) -> None:
    inner = zipped(tmp_path / "inner.zip", {"bert.py": SOURCE}).read_bytes()
    deep = [inner]
    for _ in range(5):
        deep.append(zipped(tmp_path / "deep.zip", {"Work.ZIP": deep[-1]}).read_bytes())

    assert taken(pack(tmp_path / "one", {"work/Work.ZIP": inner})).sources.keys() == {"bert"}
    assert "hand in the files themselves" in refusal(pack(tmp_path / "two", {"a.zip": deep[-1]}))
    both = pack(tmp_path / "three", {"a.zip": inner, "b.zip": inner})
    assert "but a.zip, b.zip; hand in the files themselves" in refusal(both)


def test_a_file_alone_is_read_with_the_finished_ones_beside_it(tmp_path: Path) -> None:
    for name in ("bert.py", "optimizer.py", "transformer-1.py", "other.py"):
        (tmp_path / name).write_bytes(SOURCE)

    assert taken(tmp_path / "bert.py").sources.keys() == {"bert", "optimizer"}
    assert taken(tmp_path / "other.py").sources.keys() == {"bert"}
    one = read_parts([Part.under(tmp_path, tmp_path / "bert.py")], MINBERT.editable, {})
    assert one.sources.keys() == {"bert"}


def test_an_extension_that_cannot_be_read_costs_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "bert.py").write_bytes(SOURCE)
    (tmp_path / "optimizer.py").symlink_to("bert.py")
    (tmp_path / "pretraining.py").write_bytes(b"#" * (MAX_SOURCE + 1))

    found = taken(tmp_path)

    assert found.sources == {"bert": SOURCE.decode(), "optimizer": "", "pretraining": ""}
    assert "optimizer.py is a link" in found.faults["optimizer"]
    assert "larger than 256 KiB" in found.faults["pretraining"]


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
