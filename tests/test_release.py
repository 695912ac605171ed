"""What students get: complete, usable, and without anything that is not for them."""

import json
import os
import re
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from grader.assignment import ASSIGNMENT
from tensormark.authoring.strip import derive
from tensormark.cli import run
from tensormark.files import sha256
from tensormark.release import contents, leaks
from tensormark.release.secrets import Secrets
from tensormark.usage import UserError
from tensormark.wheel import wheel
from tensormark.zipped import zipped

from conftest import ROOT
from graded import program, ran
from known import COURSE, VARIANTS

SECRETS = Secrets(COURSE)
SOLUTION = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
LABELLED = (ROOT / "data" / "test.txt").read_text(encoding="utf-8").splitlines()
BARE = [line.split("|||")[1].strip() for line in LABELLED]


def region(exercise: str) -> str:
    match = re.search(rf"BEGIN SOLUTION {exercise}\n(.*?)\n *### END", SOLUTION, re.S)
    assert match is not None
    return match[1]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return contents.contents(COURSE)


def build_release(out: Path) -> int:
    return run(ROOT, "release", ["--out", str(out)])


def find_leaks(planted: dict[str, bytes]) -> list[leaks.Leak]:
    return leaks.leaks(SECRETS, planted)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("release") / "minbert.zip"
    assert build_release(out) == 0
    return out


@pytest.fixture(scope="module")
def unpacked(built: Path) -> Path:
    """The folder of a student, who has a virtual environment already."""
    with zipfile.ZipFile(built) as archive:
        archive.extractall(built.parent)
    program(built.parent / "venv" / "bin" / "python")
    for name in (f".{wheel().name}", ".installed"):
        (built.parent / "venv" / name).touch()
    os.utime(built.parent / "minbert" / "requirements.txt", (0, 0))
    return built.parent / "minbert"


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run make as a student does, without what this repository's tests set."""
    # relative, as make takes a path with spaces for several
    command = ["make", "--no-print-directory", "VENV=../venv", *arguments]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return ran(*command, cwd=folder, env=clean)


def test_two_releases_have_the_same_bytes(built: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.zip"

    assert build_release(again) == 0

    assert sha256(again) == sha256(built)


def test_everything_is_in_one_folder_sorted_with_fixed_dates(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        entries = archive.infolist()

    names = [entry.filename for entry in entries]
    assert names == sorted(names)
    assert {name.split("/")[0] for name in names} == {"minbert"}
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.external_attr >> 16 for entry in entries} == {0o100644}


def test_a_release_has_what_students_need(files: dict[str, bytes]) -> None:
    needed = "README.md handout.md handout.html Makefile requirements.txt LICENSE .gitignore"
    needed += " .github/workflows/grade.yml reference_outputs/manifest.json data/train.txt"
    needed += " starter/bert.py grader/assignment.py grader/viva.py colab.ipynb"
    needed += " checkpoint/model.safetensors"

    assert {*needed.split(), f"engine/{wheel().name}"} <= files.keys()
    assert files["data/test.txt"].decode().splitlines() == BARE
    assert b"NotImplementedError" in files["starter/bert.py"]


def test_what_students_read_names_only_files_and_targets_that_they_have(
    files: dict[str, bytes],
) -> None:
    phony = re.search(rb"^TARGETS = (.+)$", files["Makefile"], re.M)
    assert phony is not None
    for name in [name for name in files if name.endswith(".md")]:
        text = files[name].decode()
        targets = set(re.findall(r"(?:`|^    )make ([a-z-]+)", text, re.M))
        assert targets <= {*phony[1].decode().split()}, name
        assert not re.findall(r"\b(?:instructor|solution|tests|benchmarks)/", text), name


@pytest.mark.parametrize("target", ["check", "grade"])
def test_a_fresh_copy_can_be_graded(unpacked: Path, target: str) -> None:
    completed = make(unpacked, target)

    assert completed.returncode == 0, completed.stderr
    assert "not written yet  attention    0/25" in completed.stdout
    assert re.search(r"score +0 / ", completed.stdout)
    assert "note:" not in completed.stdout


def test_help_lists_what_students_need_and_no_more(unpacked: Path) -> None:
    text = make(unpacked).stdout

    targets = re.findall(r"^  make ([a-z-]+)", text, re.M)
    assert targets == ["check", "watch", "grade", "report", "viva", "submit", "clean", "help"]
    assert "For instructors" not in text
    assert "unknown option FORCE=" in make(unpacked, "check", "FORCE=1").stderr
    assert "unknown target references" in make(unpacked, "references").stderr


def test_right_code_scores_in_a_students_copy(unpacked: Path, tmp_path: Path) -> None:
    (tmp_path / "bert.py").write_text(SOLUTION, encoding="utf-8")

    completed = make(
        unpacked, "check", f"SUBMISSION={tmp_path}", f"JSON={tmp_path / 'result.json'}"
    )

    assert completed.returncode == 0, completed.stderr
    assert json.loads((tmp_path / "result.json").read_text("utf-8"))["score"] == 80


def test_a_changed_given_file_is_not_used(unpacked: Path, tmp_path: Path) -> None:
    path = unpacked / "starter" / "config.py"
    before = path.read_text(encoding="utf-8")
    path.write_text("raise SystemExit\n", encoding="utf-8")
    (tmp_path / "bert.py").write_text(SOLUTION, encoding="utf-8")

    completed = make(unpacked, "check", "K=embed", f"SUBMISSION={tmp_path}")
    path.write_text(before, encoding="utf-8")

    assert re.search(r"score +20 / 20", completed.stdout), completed.stderr
    assert (
        "starter/config.py differs from the given file, which grading uses instead"
        in completed.stdout
    )


def test_nothing_secret_is_in_a_release(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ROOT, "leaks", [str(built)]) == 0

    assert capsys.readouterr().out == "nothing was found\n"


def test_no_line_of_an_answer_to_a_written_question_is_in_a_release(
    files: dict[str, bytes],
) -> None:
    answers = (ROOT / "instructor" / "questions.md").read_text(encoding="utf-8").splitlines()
    long_lines = [line for line in answers if len(line) > 40]
    release_lines = {
        line for content in files.values() for line in content.decode("latin-1").splitlines()
    }
    assert len(long_lines) > 60

    assert [line for line in long_lines if line in release_lines] == []


@pytest.mark.parametrize("mark", ["- 3 points: ", "The number of heads cancels", "| softmax over"])
def test_a_planted_answer_or_rubric_is_found(mark: str) -> None:
    answers = (ROOT / "instructor" / "questions.md").read_text(encoding="utf-8")
    (line, *_) = [line for line in answers.splitlines() if line.startswith(mark)]

    planted = {"data/README.md": f"# Data\n\n{line}\n".encode()}

    assert any("an instructor's line" in leak.what for leak in find_leaks(planted))


def in_tensors(text: str) -> bytes:
    """Return a safetensors file with a text in its metadata."""
    return save({"x": np.zeros(3)}, metadata={"note": text})


@pytest.mark.parametrize("exercise", re.findall(r"BEGIN SOLUTION (\w+)", SOLUTION))
def test_a_planted_region_is_found(exercise: str) -> None:
    planted = {"starter/extra.py": f"def f():\n{region(exercise)}\n".encode()}

    assert any("solution" in str(leak) or "variant" in str(leak) for leak in find_leaks(planted))


@pytest.mark.parametrize(
    "hide",
    [
        lambda text: ("checkpoint/model.safetensors", in_tensors(text)),
        lambda text: ("pictures/x.png", b"\x89PNG\r\n" + text.replace("    ", "\t").encode()),
        lambda text: ("reference_outputs/starter.zip", zipped({"bert.py": text.encode()})),
    ],
    ids=["metadata", "picture", "zip"],
)
def test_a_region_is_found_wherever_it_is_hidden(hide) -> None:
    name, content = hide(region("attention"))

    assert any(leak.what.startswith("holds ") for leak in find_leaks({name: content}))


def test_code_of_a_variant_is_found() -> None:
    long = {variant.id: max((new for _, new in variant.edits), key=len) for variant in VARIANTS}
    long = {name: new for name, new in long.items() if len(new.partition("\n")[0]) > 40}
    assert len(long) > 100

    missed = [name for name, new in long.items() if not find_leaks({"grader/x.md": new.encode()})]

    # some variants only move given code, or have a comment for their first line
    assert len(missed) < len(long) / 20, missed


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("data/test.txt", "\n".join(LABELLED), "is not the bare test sentences"),
        ("data/more.txt", LABELLED[500], "holds the test sentences"),
        ("data/labels.json", json.dumps([int(line[0]) for line in LABELLED]), "holds labels of"),
        ("data/labels.txt", "\n".join(line[0] for line in LABELLED), "holds labels of"),
        ("instructor/x.py", "", "is for staff only: instructor/"),
        (
            "grader/notes.md",
            (ROOT / "instructor" / "language" / "grammar.py").read_text("utf-8"),
            "holds an instructor's line",
        ),
    ],
)
def test_planted_secrets_are_found(name: str, content: str, what: str) -> None:
    findings = find_leaks({name: content.encode()})

    assert [leak for leak in findings if leak.what.startswith(what)]


def engine_with(**others: str) -> dict[str, bytes]:
    files = wheel().files | {
        f"tensormark/{name}.py": text.encode() for name, text in others.items()
    }
    return {f"engine/{wheel().name}": zipped(files)}


def test_the_engines_own_files_are_no_leak() -> None:
    assert find_leaks(engine_with()) == []


@pytest.mark.parametrize("name", ["files", "more"])
def test_a_region_is_found_in_the_engines_wheel(name: str) -> None:
    findings = find_leaks(engine_with(**{name: f"def f():\n{region('attention')}\n"}))

    path = f"engine/{wheel().name}/tensormark/{name}.py"
    assert {leak.path for leak in findings} == {path}
    assert any("holds a region of solution/bert.py" in leak.what for leak in findings)


def test_a_release_with_a_leak_is_not_written(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setitem(COURSE.staff.release.edited, "data/test.txt", lambda name, text: text)
    out = tmp_path / "minbert.zip"

    assert build_release(out) == 2

    assert "data/test.txt: is not the bare test sentences" in capsys.readouterr().err
    assert not out.exists()


def test_a_starter_that_was_not_recorded_is_not_released(monkeypatch) -> None:
    changed = derive(ASSIGNMENT) | {"bert.py": "# changed\n"}
    monkeypatch.setattr(contents, "derive", lambda assignment: changed)

    with pytest.raises(UserError, match="run `make starter` and `make references`"):
        contents.contents(COURSE)


def test_a_release_without_the_packages_for_the_page_says_what_to_install(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(contents, "NEEDED", ("nobody_has_this",))

    assert build_release(tmp_path / "minbert.zip") == 0

    assert "without handout.html, which needs `pip install" in capsys.readouterr().out
