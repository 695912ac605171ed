"""What students get: complete, usable, and without anything that is not for them."""

import itertools
import json
import os
import re
import shutil
import subprocess
import zipfile

import nbclient
import nbformat
import pytest

from grader.assignment import ASSIGNMENT
from instructor.cards import CardError, for_students
from tensormark.authoring.strip import derive
from tensormark.cli import run
from tensormark.release import students_zip
from tensormark.release.leaks import leaks
from tensormark.usage import UserError
from tensormark.wheel import wheel
from testkit.graded import program, ran
from tests.helpers import ROOT
from tests.helpers.known import COURSE, VARIANTS

SOLUTION = (ROOT / "solution" / "bert.py").read_text("utf-8")
LABELLED = (ROOT / "data" / "test.txt").read_text("utf-8").splitlines()
REGIONS = dict(re.findall(r"BEGIN SOLUTION (\w+)\n(.*?)\n *### END", SOLUTION, re.S))
BARE = [line.split("|||")[1].strip() for line in LABELLED]


@pytest.fixture(scope="module")
def files():
    return students_zip.contents(COURSE)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("release") / "minbert.zip"
    assert run(ROOT, "release", ["--out", str(out)]) == 0
    return out


def with_environment(folder):
    """Make a student's virtual environment, with this one's packages."""
    program(folder / "bin" / "python")
    for name in (f".{wheel().name}", ".installed"):
        (folder / name).touch()


@pytest.fixture(scope="module")
def unpacked(built):
    """The folder of a student, who has a virtual environment already."""
    with zipfile.ZipFile(built) as archive:
        archive.extractall(built.parent)
    with_environment(built.parent / "venv")
    os.utime(built.parent / "minbert" / "requirements.txt", (0, 0))
    return built.parent / "minbert"


def make(folder, *arguments):
    """Run make as a student does, without what this repository's tests set."""
    # relative, as make takes a path with spaces for several
    command = ["make", "--no-print-directory", "VENV=../venv", *arguments]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return ran(*command, cwd=folder, env=clean)


def test_a_release_has_what_students_need_with_the_same_bytes_each_time(built, files):
    needed = """
        README.md handout.md handout.html Makefile requirements.txt LICENSE .gitignore colab.ipynb
        .gitattributes .github/workflows/grade.yml
        reference_outputs/manifest.json data/train.txt starter/bert.py
        grader/assignment.py grader/viva.py checkpoint/model.safetensors
    """
    with zipfile.ZipFile(built) as archive:
        entries = archive.infolist()
        given = {entry.filename: archive.read(entry) for entry in entries}

    assert given == {f"minbert/{name}": content for name, content in files.items()}
    about = {(entry.date_time, entry.external_attr >> 16) for entry in entries}
    assert about == {((1980, 1, 1, 0, 0, 0), 0o100644)}
    assert {*needed.split(), f"engine/{wheel().name}"} <= files.keys()
    assert files["data/test.txt"].decode().splitlines() == BARE
    graded = (ROOT / "data/grades/test.txt").read_text("utf-8").splitlines()
    bare = [line.split("|||")[1].strip() for line in graded]
    assert files["data/grades/test.txt"].decode().splitlines() == bare
    assert b"NotImplementedError" in files["starter/bert.py"]


def test_what_students_read_names_only_files_and_targets_that_they_have(files):
    phony = re.search(rb"^TARGETS = (.+)$", files["Makefile"], re.M)
    for name in [name for name in files if name.endswith(".md")]:
        text = files[name].decode()
        targets = set(re.findall(r"(?:`|^    )make ([a-z-]+)", text, re.M))
        assert targets <= set(phony[1].decode().split()), name
        assert not re.findall(r"\b(?:instructor|solution|tests|benchmarks)/", text), name


def test_students_grade_their_copy_and_right_code_with_the_targets_that_they_have(
    unpacked, tmp_path
):
    completed = make(unpacked, "grade")
    (tmp_path / "bert.py").write_text(SOLUTION, "utf-8")
    right = make(unpacked, "check", f"SUBMISSION={tmp_path}")

    assert (completed.returncode, right.returncode) == (0, 0), completed.stderr + right.stderr
    assert "score   80 / 80" in right.stdout
    assert re.search(r"score +0 / 100", completed.stdout)
    assert "note:" not in completed.stdout
    targets = re.findall(r"^  make ([a-z-]+)", make(unpacked).stdout, re.M)
    assert targets == "check watch grade report debug viva submit clean help".split()
    assert "unknown target references" in make(unpacked, "references").stderr


@pytest.mark.skipif(shutil.which("jq") is None, reason="there is no jq")
@pytest.mark.parametrize(("outcome", "status"), [("passed", 0), ("failed", 1)])
def test_the_workflow_on_github_ends_with_a_check_of_the_result(files, outcome, status):
    text = files[".github/workflows/grade.yml"].decode()
    (needed,) = re.findall("NEEDED: '([^']*)'", text)
    exercises = [{"bonus": True, "outcome": "failed"}, {"bonus": False, "outcome": outcome}]
    result = json.dumps({"exercises": exercises})

    checked = subprocess.run(["jq", "--exit-status", needed], input=result.encode(), check=False)

    assert text.rstrip().endswith('jq --exit-status "$NEEDED" result.json')
    assert checked.returncode == status


def test_no_line_of_an_answer_to_a_written_question_is_in_a_release(files):
    answers = (ROOT / "instructor" / "questions.md").read_text("utf-8").splitlines()
    long_lines = [line for line in answers if len(line) > 40]
    release_lines = set(b"\n".join(files.values()).decode("latin-1").splitlines())
    assert len(long_lines) > 40

    assert [line for line in long_lines if line in release_lines] == []


def planted():
    """Return files with what students must not get, by paths that say what it is."""
    files = {f"region/{name}.py": f"def f():\n{text}\n" for name, text in REGIONS.items()}
    files["region/notebook.ipynb"] = json.dumps([REGIONS["attention"]])
    files["region/tabs.txt"] = REGIONS["attention"].replace("    ", "\t")
    variants = [max((new for _, new in v.edits), key=len) for v in VARIANTS if v.module == "bert"]
    long = [text for text in variants if len(text.partition("\n")[0]) > 60]
    files |= {f"variant/{at}.md": text for at, text in enumerate(long)}
    files["labels/list.json"] = json.dumps([int(line[0]) for line in LABELLED])
    files["labels/column.txt"] = "\n".join(line[0] for line in LABELLED)
    files["labels/one.txt"] = LABELLED[500]
    return {name: text.encode() for name, text in files.items()}


def test_what_is_planted_in_a_release_is_found():
    found = {leak.partition(": ")[0] for leak in leaks(COURSE, planted())}

    assert found == planted().keys()


@pytest.mark.parametrize("name", ["data/test.txt", "data/grades/test.txt"])
def test_a_release_with_a_leak_is_not_written(tmp_path, monkeypatch, capsys, name):
    labels = {name: (ROOT / name).read_bytes()}
    monkeypatch.setattr(students_zip, "contents", lambda course: labels)
    out = tmp_path / "minbert.zip"

    assert run(ROOT, "release", ["--out", str(out)]) == 2

    assert name in capsys.readouterr().err
    assert not out.exists()


def test_a_starter_that_is_not_derived_and_another_card_are_errors(monkeypatch):
    changed = derive(ASSIGNMENT) | {"bert.py": "# changed\n"}
    monkeypatch.setattr(students_zip, "derive", lambda assignment: changed)

    with pytest.raises(UserError, match="run `make starter` and `make references`"):
        students_zip.contents(COURSE)
    with pytest.raises(CardError, match=r"data/README\.md"):
        for_students("data/README.md", "# Another card\n")


# --- the notebook -------------------------------------------------------------------------------

NOTEBOOK = ROOT / "instructor" / "students" / "colab.ipynb"
CELLS = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]


def executed(folder):
    """Run the notebook in a Jupyter kernel; return what it prints, and the kinds of the rest."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=resources).execute()
    cells = [cell.get("outputs", []) for cell in notebook.cells]
    outputs = list(itertools.chain(*cells))
    printed = "".join(output.text for output in outputs if output.output_type == "stream")
    printed = re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", printed)  # colors
    return printed, list(itertools.chain(*(output.get("data", {}) for output in outputs)))


def test_the_notebook_is_given_out_without_outputs():
    assert len(CODE) > 3
    assert [cell for cell in CELLS if cell.get("outputs") or cell.get("execution_count")] == []


@pytest.mark.skipif(shutil.which("unzip") is None, reason="there is no unzip")
def test_every_cell_runs_in_jupyter(built, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    shutil.copy(built, tmp_path)
    with_environment(tmp_path / "minbert" / ".venv")
    own = tmp_path / "minbert" / "starter" / "bert.py"  # which unzipping does not replace
    own.parent.mkdir()
    own.write_text(SOLUTION, "utf-8")

    printed, others = executed(tmp_path)

    for line in ("score   80 / 80", "score   100 / 100"):
        assert line in printed
    assert "image/png" in others
    assert "Traceback" not in printed
    assert (tmp_path / "minbert" / "submission.zip").is_file()
