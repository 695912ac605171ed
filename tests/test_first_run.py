"""The first run makes a virtual environment; one that was interrupted or is broken continues."""

import re

import pytest

from testkit.graded import program
from tests.helpers.making import run_make

# stands in for a Python that makes virtual environments: logs its arguments, and fails in the step
# that a file beside the log names
INSTALLER = """echo "$@" >> {log}
case "$*" in
*"sys.version_info"*) test ! -e {log}.old ;;
"-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && test ! -e {log}.venv ;;
"-m pip install "*)
    echo "Downloading torch (190 MB)"
    echo "numpy is already satisfied"
    test ! -e {log}.install ;;
*"import sys, numpy"*) test ! -e {log}.import ;;
esac
"""
INSTALLED = ["pip install"] * 3  # one requirement alone, the others, and the engine


@pytest.fixture
def installer(plain):
    """The log of a Python that installs nothing; see INSTALLER."""
    log = plain / "log"
    program(plain / "python", INSTALLER.format(log=log))
    return log


def first_run(log):
    """Run `make check` with a new virtual environment; return what it asked Python for."""
    log.write_text("", "utf-8")
    new = log.parent / "new"
    python = log.parent / "python"
    completed = run_make("check", f"VENV={new}", f"PYTHON={python}")
    calls = log.read_text("utf-8").splitlines()
    kinds = (re.match(r"(?:-P )?-m (pip install|venv|tensormark)\b", call) for call in calls)
    return completed, [kind[1] for kind in kinds if kind]


def test_the_first_run_installs_what_grading_needs_and_says_what_it_downloads(installer):
    completed, steps = first_run(installer)

    assert steps == ["venv", *INSTALLED, "tensormark"]
    assert "210 MB" in completed.stderr
    assert "Downloading torch (190 MB)" in completed.stderr
    assert "already satisfied" not in completed.stderr
    assert completed.stdout == ""
    alone, others, _ = re.findall(r"-m pip install .*check (.*)", installer.read_text("utf-8"))
    assert alone.startswith("--progress-bar=off --no-deps tokenizers==")
    assert {name.partition("==")[0] for name in others.split()[1:]} == {
        "torch", "numpy", "safetensors", "tqdm", "pyseccomp", "flit_core"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("step", "remaining"),
    [
        ("venv", ["venv", *INSTALLED, "tensormark"]),
        ("install", [*INSTALLED, "tensormark"]),
        ("import", [*INSTALLED, "tensormark"]),
    ],
)
def test_an_interrupted_first_run_continues(installer, step, remaining):
    stop = installer.with_name(f"log.{step}")
    stop.touch()
    completed, _ = first_run(installer)
    assert completed.returncode == 2

    stop.unlink()
    completed, steps = first_run(installer)

    assert (completed.returncode, steps) == (0, remaining)


def test_an_old_python_is_refused_before_anything_is_made(installer):
    installer.with_name("log.old").touch()

    completed, steps = first_run(installer)

    assert (completed.returncode, steps) == (2, [])
    assert "name another, such as PYTHON=python3.12" in completed.stderr
    assert not (installer.parent / "new").exists()
