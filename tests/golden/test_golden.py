"""What people read about the golden corpus is what was recorded: see run.py."""

import subprocess
import sys
from pathlib import Path

import pytest

from testkit.tiers import NIGHTLY

RUN = Path(__file__).with_name("run.py")
PART = "1/1" if NIGHTLY else "1/12"  # of the submissions


@pytest.mark.timeout(3600)  # two minutes on two idle cores, but machines may be busy
def test_what_people_read_is_what_was_recorded():
    line = [sys.executable, str(RUN), "--part", PART]
    run = subprocess.run(line, capture_output=True, encoding="utf-8", check=False)

    assert run.returncode == 0, f"{run.stdout[-20_000:]}{run.stderr}`make golden` records it again"
