"""What people write after `make` is data: no part of it is run, whatever a file is called.

Typing mistakes are errors, and the list of targets is complete.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from graded import program, ran
from tests.helpers import ROOT

MARK = "a_name_was_run"
TENSORMARK = ["-P", "-m", "tensormark"]
# stands in for the virtual environment's Python, and writes down how it was called
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
FILES = ("Makefile", "instructor/staff.mk")
MAKEFILE = "".join((ROOT / name).read_text(encoding="utf-8") for name in FILES)


@pytest.fixture
def plain() -> Iterator[Path]:
    """A folder whose path has no spaces, which make would take for several, whatever TMPDIR is."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def calls(plain: Path) -> Path:
    """A file that the recorder writes each call to; it takes the place of Python in make's VENV."""
    log = plain / "calls"
    python = program(plain / "venv" / "bin" / "python")
    python.write_text(RECORDER.format(python=sys.executable, log=str(log)), encoding="utf-8")
    for name in (".installed", ".installed-staff"):
        (plain / "venv" / name).touch()
    return log


def make(calls: Path, *arguments: str, **environment: str) -> list[list[str]]:
    """Run make in the repository, with the recorder for Python; return what it was called with."""
    venv = f"VENV={calls.parent / 'venv'}"
    completed = ran("make", "-C", ROOT, venv, *arguments, env=os.environ | environment)
    assert completed.returncode == 0, completed.stderr
    return [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_reaches_the_grader_as_it_is_and_is_not_run(calls: Path, name: str) -> None:
    mark = calls.parent / MARK
    hostile = name.replace("MARK", str(mark))

    (call,) = make(calls, "check", f"SUBMISSION={hostile}", f"JSON={hostile}", f"K={hostile}")

    assert call[-2:] == ["--", hostile]
    assert f"--json={hostile}" in call
    assert f"--only={hostile}" in call
    assert not mark.exists()


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("grade", "REFERENCES CHECKPOINT THREADS TIER"),
        ("submit", "SUBMISSION OUT"),
        ("watch", "SUBMISSION K"),
        ("release", "OUT"),
        ("gradescope", "REFERENCES TIER LIMIT OUT"),
        ("references", "SEED OUT CHECKPOINT CHECK"),
        ("exercise", "ID FILE"),
        ("starter", "CHECK"),
        ("report", "SUBMISSION OUT K TIER"),
        ("import-checkpoint", "FROM OUT"),
        ("export-checkpoint", "FROM OUT"),
        ("class", "SUBMISSIONS REFERENCES OUT ONLY SCHEDULER WORKERS CHECK"),
        ("bench", "ONLY ARGS"),
        ("data", "SEED"),
        ("test-real", "SST"),
    ],
)
def test_no_option_of_any_target_is_run(calls: Path, target: str, options: str) -> None:
    mark = calls.parent / MARK
    hostile = f'$(shell touch {mark})`touch {mark}`"; touch {mark}; "'
    assignments = [f"{name}={hostile}" for name in options.split()]
    if target == "test-real":  # a virtual environment of its own, which takes minutes
        assignments.append("-n")
        calls.touch()

    make(calls, target, *assignments)

    assert not mark.exists()


def test_an_option_in_the_environment_is_data_too(calls: Path) -> None:
    mark = calls.parent / MARK
    hostile = f"$(shell touch {mark})`touch {mark}`"

    (call,) = make(calls, "check", SUBMISSION=hostile)

    assert call[-2:] == ["--", hostile]
    assert not mark.exists()


def test_variables_that_lead_python_and_pip_elsewhere_are_not_handed_on(calls: Path) -> None:
    program(calls.parent / "venv" / "bin" / "python", f"env > {calls}\n")
    names = ["PIP_TARGET", "PIP_PREFIX", "PYTHONPATH", "PYTHONHOME", "PYTHONINSPECT"]
    elsewhere = dict.fromkeys(names, "/nowhere")

    completed = ran(
        "make",
        "-C",
        ROOT,
        f"VENV={calls.parent / 'venv'}",
        "check",
        env={**os.environ, **elsewhere, "PIP_USER": "1"},
    )

    assert completed.returncode == 0, completed.stderr
    found = dict(line.partition("=")[::2] for line in calls.read_text("utf-8").splitlines())
    assert not found.keys() & elsewhere.keys()
    assert found["PIP_USER"] == "0"


def test_options_that_are_not_given_are_not_passed(calls: Path) -> None:
    assert make(calls, "check") == [[*TENSORMARK, "check", "--", "starter"]]


def test_watch_takes_a_submission_and_exercises(calls: Path) -> None:
    (call,) = make(calls, "watch", "SUBMISSION=my bert.py", "K=embed,layer")

    assert call == [*TENSORMARK, "watch", "--only=embed,layer", "--", "my bert.py"]


def test_a_file_with_a_hostile_name_is_graded(calls: Path, solution_source: str) -> None:
    mark = calls.parent / MARK
    python = program(calls.parent / "venv" / "bin" / "python")
    path = calls.parent / '`touch a`$(shell touch b)$$(touch c)";touch d;".py'
    path.write_text(solution_source, encoding="utf-8")
    answer = calls.parent / "$(shell touch e).json"

    completed = run_make(
        f"VENV={python.parents[1]}", "check", "K=embed", f"SUBMISSION={path}", f"JSON={answer}"
    )

    assert completed.returncode == 0, completed.stderr
    assert json.loads(answer.read_text(encoding="utf-8"))["score"] == 20
    assert not mark.exists()
    assert not [name for name in "abcde" if (ROOT / name).exists()]


def run_make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return ran("make", "-C", ROOT, "--no-print-directory", *arguments)


@pytest.mark.parametrize(
    ("argument", "advice"),
    [
        ("k=attention", "unknown option k=; use K=."),
        ("submission=x.py", "unknown option submission=; use SUBMISSION=."),
        ("SUBMISION=x.py", "unknown option SUBMISION=; `make help` lists the options"),
        ("a'b=x", "unknown option a'b=; `make help`"),
        ("attention", "unknown target attention; options are written NAME=value"),
        ("starter/bert.py", "unknown target starter/bert.py; options are written NAME=value"),
        ("Check", "unknown target Check"),
    ],
)
def test_a_typing_mistake_is_an_error_and_nothing_is_run(
    calls: Path, argument: str, advice: str
) -> None:
    completed = run_make(f"VENV={calls.parent / 'venv'}", "check", argument)

    assert completed.returncode == 2
    assert advice in completed.stderr
    assert not calls.exists()


def test_clean_removes_what_programs_have_written_and_no_work(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    outputs = "runs predictions starter/runs starter/predictions .venv .grade".split()
    for name in outputs:
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x").touch()
    (tmp_path / ".venv/pyvenv.cfg").touch()
    work = [tmp_path / "starter" / "bert.py", tmp_path / "submission.zip"]
    for path in work:
        path.touch()

    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)

    assert [name for name in outputs if (tmp_path / name).exists()] == []
    assert all(path.is_file() for path in work)


@pytest.mark.parametrize("name", ["TIER", "BUDGET", "TRAINING_TIMES", "CHECKPOINT"])
def test_what_class_toml_sets_is_no_option_of_class(name: str) -> None:
    completed = run_make("class", "SUBMISSIONS=in", f"{name}=1")

    assert completed.returncode == 2
    (line,) = completed.stderr.splitlines()
    assert f"takes no {name}=; set it in OUT/class.toml" in line


@pytest.mark.parametrize("target", ["clean", "check"])
def test_a_folder_that_is_no_virtual_environment_is_left_alone(tmp_path: Path, target: str) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements.txt").touch()
    work = tmp_path / "my work" / "notes.txt"
    work.parent.mkdir()
    work.touch()

    command = ["make", target, "VENV=my work"]
    completed = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)

    assert completed.returncode == 2
    assert "VENV=my work: is no virtual environment" in completed.stderr
    assert [*work.parent.iterdir()] == [work]


def test_shells_can_complete_targets() -> None:
    completed = run_make("-npq", "__BASH_MAKE_COMPLETION__=1", ".DEFAULT")

    assert "\nimport-checkpoint:" in completed.stdout


def make_help() -> tuple[str, list[str], list[str]]:
    """Return what `make` prints, and the targets and options in it."""
    text = run_make().stdout
    targets = re.findall(r"^  make ([a-z-]+) +\S", text, re.MULTILINE)
    return text, targets, re.findall(r"\b([A-Z_]+)=", text)


def test_help_lists_every_target_and_every_option() -> None:
    lists = re.findall(r"^(?:FROM_PEOPLE|STAFF_OPTIONS) = ((?:.*\\\n)*.*)", MAKEFILE, re.MULTILINE)
    assert len(lists) == 2

    _, targets, options = make_help()

    assert sorted(targets) == sorted(set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)))
    assert set(options) == set(" ".join(lists).replace("\\", "").split())


def test_help_shows_students_first_and_staff_apart() -> None:
    text, targets, _ = make_help()
    students, instructors, maintainers = text.split("\n\n")

    assert targets[:8] == "check watch grade report viva submit clean help".split()
    assert students.startswith("For students")
    assert re.findall(r"  make ([a-z]+)", students) == targets[:8]
    assert "SUBMISSION=path" in students
    assert instructors.startswith("For instructors")
    assert "make starter" in instructors
    assert maintainers.startswith("For maintainers")


def test_help_is_in_aligned_columns_of_a_narrow_page() -> None:
    lines = make_help()[0].splitlines()
    rows = [line for line in lines if re.match(r"  make |    [A-Z_]+=", line)]

    assert {re.match(r" +\S.*?  +", row).end() for row in rows} == {28}
    assert max(map(len, lines)) <= 100
