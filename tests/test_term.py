"""A new term: checked first, made in a copy, resumed after an interruption, moved over whole."""

import shutil
import sys
from pathlib import Path

import pytest

from instructor.term import Step, TermError, check_before, make_term, steps_for
from testkit.graded import files_in, ran
from tests.helpers import ROOT


@pytest.mark.nightly  # it pre-trains
def test_a_term_has_the_data_of_its_seed_and_a_checkpoint_made_from_them(tmp_path):
    for name in ("data", "solution", "instructor", "grader", "checkpoint"):
        ignored = shutil.ignore_patterns("__pycache__", "snapshots")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    before = files_in(tmp_path)
    data, checkpoint, *_ = steps_for(2031)
    few_steps = (*checkpoint.command, "--steps", "8")  # a checkpoint that knows nothing

    steps = [data, Step("checkpoint", few_steps, 1)]
    files = make_term(tmp_path, steps, "term-2031")

    after = files_in(tmp_path)
    assert "--seed 2031" in after["data/README.md"].decode()
    assert {name for name in after if after[name] != before.get(name)} >= {
        "data/train.txt",
        "data/dev.txt",
        "data/grades/test.txt",
        "data/pretraining.txt",
        "checkpoint/model.safetensors",
        "checkpoint/SHA256SUMS",
    }
    assert "data/dev.txt" in files
    assert not (tmp_path / "runs" / "term-2031").exists()


# --- what a term replaces -----------------------------------------------------------------------


@pytest.fixture
def root(tmp_path):
    """A repository of two files, of which a term writes the first."""
    (tmp_path / "data").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "data" / name).write_text("old", "utf-8")
    return tmp_path


def texts(root):
    return [path.read_text("utf-8") for path in sorted((root / "data").iterdir())]


def running(code, name):
    """Return a step that runs a statement: `python -m timeit` runs it once."""
    return Step(name, ("timeit", "-n", "1", "-r", "1", code), 1)


def writing(path, text):
    """Return a step that writes a file of the copy or, as if somebody edited it, any other."""
    return running(f"open({str(path)!r}, 'w').write({text!r})", f"{text} {Path(path).name}")


BROKEN = running("raise OSError('no space left')", "broken")


def test_a_term_that_fails_changes_nothing_and_goes_on_where_it_stopped(root, capfd):
    for name in ("reference_outputs/private", "class"):  # which are not copied
        (root / name).mkdir(parents=True)
    first = writing("data/a.txt", "new")

    with pytest.raises(TermError, match="broken failed"):
        make_term(root, [first, BROKEN], "term-1")
    assert texts(root) == ["old", "old"]
    folders = (root / "runs" / "term-1" / "minbert").rglob("*/")
    assert {path.name for path in folders} == {"data", "reference_outputs"}
    capfd.readouterr()
    files = make_term(root, [first, writing("data/c.txt", "also")], "term-1")

    assert "1 of 2" not in capfd.readouterr().out  # the first step is not repeated
    assert texts(root) == ["new", "old", "also"]
    assert files == ["data/a.txt", "data/c.txt"]


@pytest.mark.parametrize(
    ("name", "remaining"), [("a", ["mine", "old"]), ("c", ["old", "old", "mine"])]
)
def test_if_a_file_was_edited_or_created_meanwhile_nothing_is_replaced(root, name, remaining):
    steps = [writing("data/a.txt", "new"), writing("data/c.txt", "new")]
    steps.append(writing(root / "data" / f"{name}.txt", "mine"))
    copy = root / "runs" / "term-1" / "minbert"

    with pytest.raises(TermError, match=rf"data/{name}\.txt; .*{copy}"):
        make_term(root, steps, "term-1")

    assert texts(root) == remaining
    assert texts(copy) == ["new", "old", "new"]
    if name == "a":
        (root / "data" / "a.txt").write_text("old", "utf-8")
        make_term(root, steps, "term-1")  # moves the new files, and runs no step again
        assert texts(root) == ["new", "old", "new"]


# --- what ends it -------------------------------------------------------------------------------

ENDING = """
import signal, sys
from pathlib import Path
from instructor import term

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
term.ROOT, term.check_before = Path(sys.argv[1]), lambda root: None
step = term.Step("slow", ("timeit", "-n", "1", "-r", "1", sys.argv[2]), 1)
term.steps_for = lambda seed: [step]
sys.exit(term.main(["--seed", "1"]))
"""
# a second after the step begins, so that whatever started it waits for it
SIGNAL = "import os, time; time.sleep(1); os.kill(os.getppid(), {}); time.sleep(600)"


@pytest.mark.parametrize(
    ("code", "status", "words"),
    [
        ("raise OSError('no space left')", 1, "slow failed: OSError: no space left (log: "),
        (SIGNAL.format(2), 130, "run the same command to continue"),
        (SIGNAL.format(15), 130, "run the same command to continue"),
    ],
)
def test_whatever_ends_a_term_is_one_line_and_leaves_nothing_running(code, status, words, root):
    completed = ran(sys.executable, "-c", ENDING, root, code, cwd=ROOT)

    assert completed.returncode == status  # once the step has closed its pipes, too
    assert words in completed.stderr
    assert completed.stderr.strip().count("\n") == 0
    assert texts(root) == ["old", "old"]


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("starter/bert.py", r"starter/bert\.py: not derived .*make starter"),
        ("solution/bert.py", r"solution/bert\.py"),
    ],
)
def test_a_starter_that_a_term_would_replace_is_named_before_the_work(file, words, tmp_path):
    for name in ("solution", "starter"):
        shutil.copytree(ROOT / name, tmp_path / name)
    check_before(tmp_path)
    with (tmp_path / file).open("a", encoding="utf-8") as opened:
        opened.write("### BEGIN SOLUTION attention\n")

    with pytest.raises(TermError, match=words):
        check_before(tmp_path)
