"""A new term: made in a copy, resumed after an interruption, and moved over whole."""

import shutil
from pathlib import Path

import pytest

from grader.files import ROOT
from instructor.term import Step, StepFailed, make_term, steps_for

SMALL = ("--steps", "8")  # a checkpoint that knows nothing


def repository(folder: Path) -> Path:
    """Copy what a term needs; the data are those of the default seed."""
    for name in ("data", "solution", "instructor", "grader", "checkpoint"):
        ignored = shutil.ignore_patterns("__pycache__", "snapshots")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for name in ("data", "checkpoint")
        for path in (folder / name).rglob("*")
        if path.is_file()
    }


def test_a_term_has_the_data_of_its_seed_and_a_checkpoint_made_from_them(tmp_path: Path) -> None:
    root = repository(tmp_path)
    before = content(root)
    data, checkpoint, *_ = steps_for(2031)
    small = Step("checkpoint", (*checkpoint.command, *SMALL), checkpoint.writes, 1)

    lines = make_term(root, [data, small], "term-2031")

    after = content(root)
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


def writing(name: str, text: str) -> Step:
    code = f"open('data/{name}', 'w').write({text!r})"
    return Step(name, ("timeit", "-n", "1", "-r", "1", code), ("data",), 1)


def test_a_term_that_fails_changes_nothing_and_goes_on_where_it_stopped(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path
    (root / "data").mkdir()
    (root / "data" / "a.txt").write_text("old", encoding="utf-8")
    first, broken = writing("a.txt", "new"), Step("b.txt", ("no_such_module",), ("data",), 1)

    with pytest.raises(StepFailed, match=r"b\.txt failed"):
        make_term(root, [first, broken], "term-1")
    assert (root / "data" / "a.txt").read_text(encoding="utf-8") == "old"
    capfd.readouterr()
    lines = make_term(root, [first, writing("b.txt", "also")], "term-1")

    assert "1 of 2" not in capfd.readouterr().out  # the first step is not repeated
    assert [path.read_text(encoding="utf-8") for path in sorted((root / "data").iterdir())] == [
        "new",
        "also",
    ]
    assert lines == ["  data/a.txt: 3 -> 3 bytes", "  data/b.txt: new -> 4 bytes"]
