"""Whatever is handed in, it costs the grader itself little; `make soak` tries more."""

import subprocess
import sys

import pytest

from benchmarks.attacks import known

from conftest import ROOT


@pytest.mark.tier("contained")
def test_attacks_on_the_grader_cost_it_five_seconds_and_500_megabytes_at_most() -> None:
    few = ["--part", "13", "--random", "3"]

    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.costs", *few], cwd=ROOT, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.count("\n") >= len(list(known())) // 13 + 3


def test_what_costs_more_than_that_is_noticed() -> None:
    code = (
        "import benchmarks.costs as costs; costs.SECONDS = 0.0\n"
        "costs.known = lambda: [costs.Attack('nothing', 'bert.py', b'')]\n"
        "raise SystemExit(costs.main(['--tier', 'process']))\n"
    )

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 1
    assert "1 attacks, seed " in done.stdout
