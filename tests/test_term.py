"""A new term: checked first, made in a copy, resumed after an interruption, moved over whole."""

import shutil
import sys
from pathlib import Path

import pytest

from graded import files_in, ran
from instructor import term
from instructor.term import Step, TermError, check_before, main, make_term, parse_seed, steps_for
from tests.helpers import ROOT

SMALL = ("--steps", "8")  # a checkpoint that knows nothing


def repository(folder: Path) -> Path:
    """Return a copy of what a term needs, with the data of the default seed."""
    for name in ("data", "solution", "instructor", "grader", "checkpoint"):
        ignored = shutil.ignore_patterns("__pycache__", "snapshots")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    return folder


@pytest.mark.nightly  # it pre-trains
def test_a_term_has_the_data_of_its_seed_and_a_checkpoint_made_from_them(tmp_path: Path) -> None:
    root = repository(tmp_path)
    before = files_in(root)
    data, checkpoint, *_ = steps_for(2031)
    small_checkpoint = Step("checkpoint", (*checkpoint.command, *SMALL), checkpoint.writes, 1)

    lines = make_term(root, [data, small_checkpoint], "term-2031")

    after = files_in(root)
    assert "--seed 2031" in after["data/README.md"].decode()
    assert {name for name in after if after[name] != before.get(name)} >= {
        "data/train.txt",
        "data/dev.txt",
        "data/pretraining.txt",
        "checkpoint/model.safetensors",
        "checkpoint/SHA256SUMS",
    }
    assert any(line.startswith("  data/dev.txt: ") for line in lines)
    assert not (root / "runs" / "term-2031").exists()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository of two files, of which a term writes the first."""
    (tmp_path / "data").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "data" / name).write_text("old", encoding="utf-8")
    return tmp_path


def texts(root: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted((root / "data").iterdir())]


def writing(path: str | Path, text: str) -> Step:
    """Return a step that writes a file of the copy or, as if somebody edited it, any other."""
    code = f"open({str(path)!r}, 'w').write({text!r})"
    name = f"{text} {Path(path).name}"
    return Step(name, ("timeit", "-n", "1", "-r", "1", code), ("data",), 1)


BROKEN = Step("broken", ("no_such_module",), ("data",), 1)


def test_a_term_that_fails_changes_nothing_and_goes_on_where_it_stopped(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    first = writing("data/a.txt", "new")

    with pytest.raises(TermError, match="broken failed"):
        make_term(root, [first, BROKEN], "term-1")
    assert texts(root) == ["old", "old"]
    capfd.readouterr()
    lines = make_term(root, [first, writing("data/c.txt", "also")], "term-1")

    assert "1 of 2" not in capfd.readouterr().out  # the first step is not repeated
    assert texts(root) == ["new", "old", "also"]
    assert lines == ["  data/a.txt: 3 -> 3 bytes", "  data/c.txt: new -> 4 bytes"]


@pytest.mark.parametrize(
    ("name", "remaining"), [("a", ["mine", "old"]), ("c", ["old", "old", "mine"])]
)
def test_if_a_file_was_edited_or_created_meanwhile_nothing_is_replaced(
    root: Path, name: str, remaining: list[str]
) -> None:
    steps = [writing("data/a.txt", "new"), writing("data/c.txt", "new")]
    copy = root / "runs" / "term-1" / "minbert"

    with pytest.raises(TermError, match=rf"nothing was replaced: data/{name}\.txt; .*{copy}"):
        make_term(root, [*steps, writing(root / "data" / f"{name}.txt", "mine")], "term-1")

    assert texts(root) == remaining
    assert texts(copy) == ["new", "old", "new"]


def test_with_the_old_file_restored_the_same_command_only_moves_the_new_ones(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    steps = [writing("data/a.txt", "new"), writing(root / "data" / "a.txt", "mine")]
    with pytest.raises(TermError):
        make_term(root, steps, "term-1")
    (root / "data" / "a.txt").write_text("old", encoding="utf-8")
    capfd.readouterr()

    make_term(root, steps, "term-1")

    assert "of 2" not in capfd.readouterr().out
    assert texts(root) == ["new", "old"]


def test_a_file_that_no_step_changed_may_be_edited_meanwhile(root: Path) -> None:
    steps = [writing("data/a.txt", "new"), writing("data/b.txt", "old")]

    make_term(root, [*steps, writing(root / "data" / "b.txt", "mine")], "term-1")

    assert texts(root) == ["new", "mine"]


def test_private_references_and_a_class_are_not_copied(root: Path) -> None:
    for name in ("reference_outputs/private", "class"):
        (root / name).mkdir(parents=True)

    with pytest.raises(TermError):
        make_term(root, [BROKEN], "term-1")

    copy = root / "runs" / "term-1" / "minbert"
    assert sorted(path.name for path in copy.rglob("*") if path.is_dir()) == [
        "data",
        "reference_outputs",
    ]


def test_a_step_that_fails_is_one_line_with_its_reason_and_a_log(
    root: Path, capfd: pytest.CaptureFixture[str], monkeypatch
) -> None:
    steps = [Step("gate", ("timeit", "-n", "1", "raise OSError('no space left')"), ("data",), 1)]
    monkeypatch.setattr(term, "ROOT", root)
    monkeypatch.setattr(term, "check_before", lambda root: None)
    monkeypatch.setattr(term, "steps_for", lambda seed: steps)
    monkeypatch.setattr(term, "interrupt_on_signals", lambda: None)

    assert main(["--seed", "1"]) == 1

    log = root / "runs" / "term-1" / "gate.log"
    error = capfd.readouterr().err
    assert error.startswith(f"term: gate failed: OSError: no space left (log: {log}); ")
    assert error.count("\n") == 1
    assert "Traceback" in log.read_text(encoding="utf-8")


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from instructor import term

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
code = f"import os, time; os.kill({os.getpid()}, {int(sys.argv[2])}); time.sleep(600)"
term.ROOT, term.check_before = Path(sys.argv[1]), lambda root: None
step = term.Step("slow", ("timeit", "-n", "1", "-r", "1", code), ("data",), 1)
term.steps_for = lambda seed: [step]
sys.exit(term.main(["--seed", "1"]))
"""


@pytest.mark.parametrize("number", [2, 15])
def test_an_interrupted_term_is_one_line_and_leaves_nothing_running(
    number: int, root: Path
) -> None:
    command = [sys.executable, "-c", INTERRUPTED, root, number]

    completed = ran(*command, cwd=ROOT)

    assert completed.returncode == 130  # the pipes, which the step had too, are closed
    assert completed.stderr == (
        "\nterm: interrupted; nothing has changed; run the same command to continue\n"
    )
    assert texts(root) == ["old", "old"]


@pytest.mark.parametrize("text", ["", "-5", "2027.0", "x", "\u0662\u0660", "1" * 19])
def test_an_invalid_seed_is_refused_in_one_line(
    text: str, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    monkeypatch.setattr(term, "interrupt_on_signals", lambda: None)

    assert main([f"--seed={text}"]) == 1

    error = capsys.readouterr().err
    assert error == f"term: SEED={text}: must be a whole number, such as SEED=2027\n"


def test_a_seed_is_read() -> None:
    assert parse_seed("2027") == 2027


@pytest.fixture
def checkable(tmp_path: Path) -> Path:
    """The folders that are checked before a term."""
    for name in ("solution", "starter"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


def test_unchanged_folders_pass_the_check(checkable: Path) -> None:
    check_before(checkable)


def test_an_edited_starter_is_refused_before_the_work(checkable: Path) -> None:
    with (checkable / "starter" / "bert.py").open("a", encoding="utf-8") as file:
        file.write("# my work\n")

    with pytest.raises(TermError, match=r"starter/bert\.py: not derived .*make starter"):
        check_before(checkable)


def test_a_solution_without_a_derivable_starter_is_refused_before_the_work(checkable: Path) -> None:
    with (checkable / "solution" / "bert.py").open("a", encoding="utf-8") as file:
        file.write("### BEGIN SOLUTION attention\n")

    with pytest.raises(TermError, match=r"solution/bert\.py"):
        check_before(checkable)


@pytest.mark.parametrize(
    ("name", "value"), [("PROGRAMS", ("no-such",)), ("PACKAGES", ("no_such",))]
)
def test_a_missing_tool_is_named_before_the_work(
    name: str, value: tuple[str], checkable: Path, monkeypatch
) -> None:
    monkeypatch.setattr(term, name, value)

    with pytest.raises(TermError, match=f"{value[0]} cannot be found"):
        check_before(checkable)


def test_a_full_disk_is_named_before_the_work(checkable: Path, monkeypatch) -> None:
    monkeypatch.setattr(term, "SPACE", 1 << 80)

    with pytest.raises(TermError, match="MB free, but"):
        check_before(checkable)
