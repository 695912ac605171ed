"""The tier `contained`: what a hostile submission tries there, and what comes of it."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from grader.store import sha256

from conftest import ROOT, Grade

pytestmark = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is not installed: apt-get install bubblewrap"
)

ADD_NORM = "return ln_layer(input + dropout(dense_layer(output)))"
CONTAINED = ("--tier", "contained")

# what add_norm does before it gives the right answer, if it gets there
HOSTILE = {
    "ends its process": "import os; os._exit(0)",
    "kills its parent": "import os; os.kill(os.getppid(), 9)",
    "kills its group": "import os; os.kill(0, 9)",
    "forks": "import os; os.fork()",
    "starts a program": "import subprocess; subprocess.run(['true'], check=True)",
    "opens a socket": "import socket; socket.create_connection(('127.0.0.1', 9), 1)",
    "writes a file": "open('/tmp/minbert-was-here', 'w').write('x')",
    "reads the references": f"open({str(ROOT / 'reference_outputs/manifest.json')!r}).read()",
    "reads the solution": f"open({str(ROOT / 'solution/bert.py')!r}).read()",
    "reads the labels": f"open({str(ROOT / 'data/dev.txt')!r}).read()",
    "looks at the first process": "import os; os.stat('/proc/1/root/etc')",
    "takes all memory": "x = [bytearray(1 << 28) for _ in range(64)]",
    "crashes the interpreter": "import ctypes; ctypes.string_at(0)",
    "answers with NaN": "return ln_layer(input) * float('nan')",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_exercise_scores_nothing_and_harms_no_other(submit: Grade, name: str) -> None:
    hostile = HOSTILE[name]
    edit = hostile if hostile.startswith("return") else f"{hostile}; {ADD_NORM}"

    graded = submit((ADD_NORM, edit), options=CONTAINED)

    assert graded.exercise("add_norm")["score"] == 0, graded.output
    assert graded.result["score"] == 70, graded.output
    assert not Path("/tmp/minbert-was-here").exists()


def test_the_solution_passes_in_the_container(grade: Grade) -> None:
    graded = grade("solution", *CONTAINED)

    assert graded.result["score"] == 80, graded.output
    assert graded.result["tier"] == "contained"


def test_a_flood_of_output_is_bounded(submit: Grade) -> None:
    graded = submit((ADD_NORM, "print('x' * 10**7); " + ADD_NORM), options=CONTAINED)

    assert graded.result["score"] == 80
    assert len(graded.output) < 20_000


def zygotes() -> set[str]:
    """Return the zygotes that run, by process id."""
    command = ["ps", "-eo", "pid,args"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in listed.splitlines() if "zygote.py" in line}


def test_nothing_is_left_running_and_no_file_of_the_grader_has_changed(submit: Grade) -> None:
    files = [*(ROOT / "grader").rglob("*.py"), *(ROOT / "reference_outputs").glob("*")]
    before = {path: sha256(path) for path in files if path.is_file()}
    running = zygotes()

    submit((ADD_NORM, "import os; os._exit(1)"), options=CONTAINED)

    time.sleep(0.5)
    assert zygotes() <= running
    assert {path: sha256(path) for path in before} == before


def test_an_isolating_tier_that_cannot_be_had_is_an_error_and_no_step_down(
    grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.devnull)  # no bwrap

    graded = grade("solution", *CONTAINED)

    assert set(graded.outcomes().values()) == {"could not grade"}
    assert graded.status == 3
    assert "apt-get install bubblewrap" in graded.output
