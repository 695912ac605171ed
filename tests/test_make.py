"""What people write after `make` is data: no part of it is run, whatever a file is called.

Typing mistakes are errors, and the list of targets is complete.
"""

import json
import os
import re
import shutil
import sys

import pytest

from tensormark.files import PAGE
from testkit.graded import program, ran
from tests.helpers import ROOT
from tests.helpers.making import run_make

# stands in for the virtual environment's Python, and writes down how it was called
RECORDER = """#!{python}
import json, os, sys
with open({log!r}, "a", encoding="utf-8") as file:
    json.dump([sys.argv[1:], dict(os.environ)], file)
    file.write("\\n")
"""
NAMES = [
    "two words.py",
    "`touch MARK`.py",
    "$(touch MARK).py",
    "$$(touch MARK).py",
    "$(shell touch MARK).py",
    "$(eval X := $(shell touch MARK)).py",
    "${MAKE}.py",
    '"; touch MARK; ".py',
    "'; touch MARK; '.py",
    "& touch MARK &.py",
    "| touch MARK.py",
    "a\ntouch MARK\n.py",
    "a\\$(touch MARK).py",
    "$HOME.py",
    "*.py",
    "--check.py",
    "# not a comment.py",
    "a=b $(info x) c,d.py",
    "%s %d ! ~.py",
    "\u202egnp.trebł.py",
    "$(SUBMISSION).py",
    "$(error stop).py",
]
MAKEFILE = "".join((ROOT / n).read_text("utf-8") for n in ("Makefile", "instructor/staff.mk"))


@pytest.fixture
def calls(plain):
    """A file that the recorder writes each call to; it takes the place of Python in make's VENV."""
    log = plain / "calls"
    python = program(plain / "venv/bin/python")
    python.write_text(RECORDER.format(python=sys.executable, log=str(log)), "utf-8")
    for name in (".installed", ".installed-staff", ".installed-tests"):
        (plain / "venv" / name).touch()
    return log


def make(calls, *arguments, **environment):
    """Run make with the recorder for Python; return the arguments of its last call, and its
    environment.
    """
    completed = run_make(f"VENV={calls.parent / 'venv'}", *arguments, **environment)
    assert completed.returncode == 0, completed.stderr
    words, variables = json.loads(calls.read_text("utf-8").splitlines()[-1])
    return words, variables


@pytest.mark.parametrize("name", NAMES)
def test_a_name_reaches_the_grader_as_it_is_and_is_not_run(calls, name):
    mark = calls.parent / "a_name_was_run"
    hostile = name.replace("MARK", str(mark))

    options = [f"{option}={hostile}" for option in ("SUBMISSION", "JSON", "K")]
    call, _ = make(calls, "check", *options)

    assert call[:4] == ["-P", "-m", "tensormark", "check"]
    assert call[-2:] == ["--", hostile]
    assert {f"--json={hostile}", f"--only={hostile}"} <= set(call)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("grade", "REFERENCES CHECKPOINT THREADS TIER"),
        ("submit", "SUBMISSION OUT NAME"),
        ("gradescope", "REFERENCES TIER LIMIT VERDICTS OUT"),
        ("references", "SEED OUT CHECKPOINT CHECK"),
        ("exercise", "ID FILE"),
        ("import-checkpoint", "FROM OUT"),
        ("class", "SUBMISSIONS REFERENCES OUT SCHEDULER WORKERS CHECK"),
        ("bench", "ONLY BEFORE"),
        ("test-real", "ARGS -n"),  # -n: it would make a virtual environment of its own
    ],
)
def test_no_option_of_any_target_is_run(calls, target, options):
    mark = calls.parent / "an_option_was_run"
    hostile = f'$(shell touch {mark})`touch {mark}`"; touch {mark}; "'
    words = [name if name == "-n" else f"{name}={hostile}" for name in options.split()]

    completed = run_make(f"VENV={calls.parent / 'venv'}", target, *words)

    assert completed.returncode == 0, completed.stderr
    assert not mark.exists()


@pytest.mark.parametrize(("options", "tests"), [((), False), (("SCHEDULER=tcp://h:1",), True)])
def test_a_class_installs_what_grading_needs_and_dask_with_a_scheduler(calls, options, tests):
    for name in (".installed-staff", ".installed-tests"):
        (calls.parent / "venv" / name).unlink()

    make(calls, "class", "SUBMISSIONS=x", *options)

    lists = re.findall(r'"-r", "([\w/.]+)"', calls.read_text("utf-8"))
    assert lists == ["instructor/requirements.txt", *["tests/requirements.txt"] * tests]
    listed = (ROOT / "instructor" / "requirements.txt").read_text("utf-8")
    assert len(re.findall("^[a-z]", listed, re.MULTILINE)) < 6


@pytest.mark.parametrize("target", ["check", "class"])
def test_an_option_in_the_environment_is_not_obeyed(calls, target):
    names = "CHECK K TIER SEED OUT SUBMISSION PYTHON N JSON REFERENCES WORKERS SUBMISSIONS".split()

    call, _ = make(calls, target, **dict.fromkeys(names, "elsewhere"))

    assert call[3:] == [target, "--", "starter" if target == "check" else ""]


def test_a_virtual_environment_whose_python_is_gone_is_explained_in_one_line(tmp_path):
    for name in ("Makefile", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to("/usr/bin/a-python-that-was-removed")
    (tmp_path / ".venv/.installed").touch()

    completed = ran("make", "check", cwd=tmp_path)

    assert "the Python of .venv is gone: run `make clean`" in completed.stderr
    assert "127" not in completed.stderr


def test_variables_that_lead_python_and_pip_elsewhere_are_not_handed_on(calls):
    names = ["PIP_TARGET", "PIP_PREFIX", "PYTHONINSPECT", "PIP_CONSTRAINT", "PIP_REQUIRE_HASHES"]

    call, found = make(calls, "check", **dict.fromkeys(names, "/nowhere"), PIP_USER="1")

    assert call == ["-P", "-m", "tensormark", "check", "--", "starter"]
    assert not found.keys() & set(names)
    assert found["PIP_USER"] == "0"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("check k=attention", "use K=."),
        ("check SUBMISION=x.py", "unknown option SUBMISION="),
        ("check a'b=x", "unknown option a'b="),
        ("check starter/bert.py", "unknown target starter/bert.py"),
        ("class SUBMISSIONS=in TIER=locked", "takes no TIER=; set it in OUT/class.toml"),
    ],
)
def test_a_typing_mistake_is_an_error_and_nothing_is_run(calls, arguments, words):
    completed = run_make(f"VENV={calls.parent / 'venv'}", *arguments.split())

    assert completed.returncode == 2
    assert words in completed.stderr
    assert not calls.exists()


def test_clean_removes_what_programs_have_written_and_no_work(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    outputs = "runs/pretrained starter/runs starter/predictions .venv report.html".split()
    work = "starter/bert.py submission.zip runs/notes.txt viva.html mine/precious.txt".split()
    written = [".venv/.made-by-make", "runs/pretrained/x", "starter/runs/attention.png"]
    for name in (*written, "starter/predictions/dev-out.txt", "mine/pyvenv.cfg", *work):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "report.html").write_text("default-src 'none'; style-src 'sha256-x'", "utf-8")
    assert PAGE.search((tmp_path / "report.html").read_bytes())

    done = ran("make", "clean", cwd=tmp_path, env=os.environ | {"VENV": "mine"})

    assert done.returncode == 0, done.stderr

    assert [name for name in outputs if (tmp_path / name).exists()] == []
    assert all((tmp_path / name).is_file() for name in work)


@pytest.mark.parametrize("target", ["clean", "check"])
def test_a_folder_that_was_not_made_by_make_is_left_alone(tmp_path, target):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements.txt").touch()
    work = tmp_path / "my work" / "pyvenv.cfg"  # as in any virtual environment
    work.parent.mkdir()
    work.touch()

    completed = ran("make", target, "VENV=my work", cwd=tmp_path)

    assert completed.returncode == 2
    assert "VENV=my work: was not made by this Makefile" in completed.stderr
    assert list(work.parent.iterdir()) == [work]


def test_help_lists_every_target_and_every_option_the_students_first():
    lists = re.findall(r"^(?:FROM_PEOPLE|STAFF_OPTIONS) = ((?:.*\\\n)*.*)", MAKEFILE, re.MULTILINE)

    text = run_make().stdout

    targets = re.findall(r"^  make ([a-z-]+) +\S", text, re.MULTILINE)
    assert targets[:9] == "check watch grade report debug viva submit clean help".split()
    assert sorted(targets) == sorted(set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)))
    options = set(" ".join(lists).replace("\\", "").split())
    assert set(re.findall(r"\b([A-Z_]+)=", text)) == options


@pytest.mark.parametrize(("name", "folder"), [("FAST", "tests"), ("ENGINE_FAST", "engine/tests")])
def test_the_files_of_test_fast_are_there(name, folder):
    (listed,) = re.findall(rf"^{name} = ((?:.*\\\n)*.*)", MAKEFILE, re.MULTILINE)
    words = listed.replace("\\", "").split()

    assert [word for word in words if not (ROOT / folder / f"test_{word}.py").is_file()] == []
