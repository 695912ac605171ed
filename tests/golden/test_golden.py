"""What people read about the golden corpus is what was recorded: see run.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testkit.tiers import NIGHTLY
from tests.helpers.processors import PLAIN

RUN = Path(__file__).with_name("run.py")
PART = "1/1" if NIGHTLY else "1/12"  # of the submissions


@pytest.mark.timeout(3600)  # two minutes on two idle cores, but machines may be busy
@pytest.mark.parametrize("processor", [{}, pytest.param(PLAIN, marks=pytest.mark.nightly)], ids=len)
def test_what_people_read_is_what_was_recorded_on_any_processor(processor):
    line = [sys.executable, str(RUN), "--part", PART]
    environment = os.environ | processor
    run = subprocess.run(line, env=environment, capture_output=True, encoding="utf-8", check=False)

    assert run.returncode == 0, f"{run.stdout[-20_000:]}{run.stderr}`make golden` records it again"
