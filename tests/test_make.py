"""What people write after `make` is data: no part of it is run, whatever a file is called."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

MARK = "a_name_was_run"
# stands for the Python of the virtual environment, and writes down how it was called
RECORDER = """#!{python}
import json, sys
with open({log!r}, "a", encoding="utf-8") as file:
    json.dump(sys.argv[1:], file)
    file.write("\\n")
"""
NAMES = [
    "bert.py",
    "two words.py",
    "`touch MARK`.py",
    "$(touch MARK).py",
    "$$(touch MARK).py",
    "$(shell touch MARK).py",
    "$(eval X := $(shell touch MARK)).py",
    "${MAKE}.py",
    '"; touch MARK; ".py',
    "'; touch MARK; '.py",
    "; touch MARK;.py",
    "& touch MARK &.py",
    "| touch MARK.py",
    "a\ntouch MARK\n.py",
    "a\\$(touch MARK).py",
    "$HOME.py",
    "*.py",
    "--check.py",
    "-n",
    "# not a comment.py",
    "a=b $(info x) c,d.py",
    "%s %d ! ~.py",
    "\u202egnp.trebł.py",
    "$(SUBMISSION).py",
    "$(error stop).py",
]


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    """A file that the recorder writes each call to; it takes the place of Python in make's VENV."""
    log = tmp_path / "calls"
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    python = tmp_path / "venv" / "bin" / "python"
    python.write_text(RECORDER.format(python=sys.executable, log=str(log)), encoding="utf-8")
    python.chmod(0o755)
    for name in (".installed", ".installed-staff"):
        (tmp_path / "venv" / name).touch()
    return log


def make(calls: Path, *arguments: str, **environment: str) -> list[list[str]]:
    """Run make in the repository, with the recorder for Python; return what it was called with."""
    command = ["make", "-C", str(ROOT), f"VENV={calls.parent / 'venv'}", *arguments]
    done = subprocess.run(
        command,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_reaches_the_grader_as_it_is_and_is_not_run(calls: Path, name: str) -> None:
    mark = calls.parent / MARK
    hostile = name.replace("MARK", str(mark))

    (called,) = make(calls, "check", f"SUBMISSION={hostile}", f"JSON={hostile}", f"K={hostile}")

    assert called[-2:] == ["--", hostile]
    assert f"--json={hostile}" in called
    assert f"--only={hostile}" in called
    assert not mark.exists()


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("grade", "REFERENCES CHECKPOINT THREADS TIER"),
        ("references", "SEED OUT CHECKPOINT CHECK"),
        ("exercise", "ID FILE BEFORE"),
        ("import-checkpoint", "FROM OUT"),
        ("export-checkpoint", "FROM OUT"),
        ("data", "SEED"),
        ("probes", "CHECKPOINT SEED"),
        ("test-real", "SST"),
    ],
)
def test_no_other_option_is_run_either(calls: Path, target: str, options: str) -> None:
    mark = calls.parent / MARK
    hostile = f'$(shell touch {mark})`touch {mark}`"; touch {mark}; "'
    given = [f"{name}={hostile}" for name in options.split()]
    if target == "test-real":  # a virtual environment of its own, which takes minutes
        given.append("-n")
        calls.touch()

    make(calls, target, *given)

    assert not mark.exists()


def test_an_option_in_the_environment_is_data_too(calls: Path) -> None:
    mark = calls.parent / MARK
    hostile = f"$(shell touch {mark})`touch {mark}`"

    (called,) = make(calls, "check", SUBMISSION=hostile)

    assert called[-2:] == ["--", hostile]
    assert not mark.exists()


def test_options_that_are_not_given_are_not_passed(calls: Path) -> None:
    assert make(calls, "check") == [["-m", "grader", "--check", "--", "starter"]]


def test_a_file_with_a_hostile_name_is_graded(calls: Path, solution_source: str) -> None:
    mark, python = calls.parent / MARK, calls.parent / "venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    path = calls.parent / '`touch a`$(shell touch b)$$(touch c)";touch d;".py'
    path.write_text(solution_source, encoding="utf-8")
    answer = calls.parent / "$(shell touch e).json"
    command = ["make", "-C", str(ROOT), f"VENV={calls.parent / 'venv'}", "check", "K=embed"]

    done = subprocess.run(
        [*command, f"SUBMISSION={path}", f"JSON={answer}"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(answer.read_text(encoding="utf-8"))["score"] == 20
    assert not mark.exists()
    assert not [name for name in "abcde" if (ROOT / name).exists()]
