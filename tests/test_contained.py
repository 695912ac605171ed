"""The tier `contained` from the command line; tests/hostile has the hostile submissions."""

import os
import subprocess
import time

import pytest

from grader.files import sha256

from conftest import ROOT, Grade

pytestmark = pytest.mark.tier("contained")

ADD_NORM = "return ln_layer(input + dropout(dense_layer(output)))"
CONTAINED = ("--tier", "contained")


def test_a_flood_of_output_is_bounded(submit: Grade) -> None:
    graded = submit((ADD_NORM, "print('x' * 10**7); " + ADD_NORM), options=CONTAINED)

    assert graded.result["score"] == 80
    assert len(graded.output) < 20_000


def orphans() -> set[str]:
    """Return the process ids of zygotes and containers whose grader is gone."""
    command = ["ps", "-eo", "ppid,pid,args"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return {pid for parent, pid, command in rows if parent == "1" and "zygote.py" in command}


def test_nothing_is_left_running_and_no_file_of_the_grader_has_changed(submit: Grade) -> None:
    files = [*(ROOT / "grader").rglob("*.py"), *(ROOT / "reference_outputs").glob("*")]
    before = {path: sha256(path) for path in files if path.is_file()}
    before_it = orphans()

    submit((ADD_NORM, "import os; os._exit(1)"), options=CONTAINED)

    ends = time.monotonic() + 60
    while orphans() - before_it and time.monotonic() < ends:  # other tests kill their graders
        time.sleep(0.1)
    assert orphans() <= before_it
    assert {path: sha256(path) for path in before} == before


def test_an_unavailable_tier_is_an_error_and_not_a_fallback(
    grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.devnull)  # no bwrap

    graded = grade("solution", *CONTAINED)

    assert set(graded.outcomes().values()) == {"could not grade"}
    assert graded.status == 3
    assert "apt-get install bubblewrap" in graded.output
