"""What the grader says about the golden corpus is what was recorded: see run.py."""

import subprocess
import sys
from pathlib import Path

from tiers import NIGHTLY

RUN = Path(__file__).with_name("run.py")
PART = "1/1" if NIGHTLY else "1/8"  # of the submissions; all are compared in `make nightly`


def test_what_is_said_about_the_corpus_is_what_was_recorded() -> None:
    run = subprocess.run(
        [sys.executable, str(RUN), "--part", PART], capture_output=True, text=True, check=False
    )

    assert run.returncode == 0, f"{run.stdout[-20_000:]}{run.stderr}\n`make golden` records it anew"
