"""What people read about the golden corpus is what was recorded: see run.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tensormark.sandbox.worker_process import PROCESSOR
from testkit.tiers import NIGHTLY

RUN = Path(__file__).with_name("run.py")
PART = "1/1" if NIGHTLY else "1/12"  # of the submissions
# torch and MKL compute as on a processor that has only the plain instructions
PLAIN = dict(zip(PROCESSOR, ("default", "COMPATIBLE"), strict=True))


@pytest.mark.timeout(3600)  # two minutes on two idle cores, but machines may be busy
@pytest.mark.parametrize("processor", [{}, pytest.param(PLAIN, marks=pytest.mark.nightly)], ids=len)
def test_what_people_read_is_what_was_recorded_on_any_processor(processor):
    line = [sys.executable, str(RUN), "--part", PART]
    environment = os.environ | processor
    run = subprocess.run(line, env=environment, capture_output=True, encoding="utf-8", check=False)

    assert run.returncode == 0, f"{run.stdout[-20_000:]}{run.stderr}`make golden` records it again"
