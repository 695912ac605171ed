"""Record the staff's curve: `python -m instructor.pretraining.staff_curve`, half a minute.

Runs solution/pretrain.py with its defaults on the first reviews of data/pretraining.txt, and writes
the losses of each step to checkpoint/, beside which pretrain.py draws a student's. Run it again
after any change to the text, the sizes of the model, or the code of that program. solution/ must be
on PYTHONPATH.
"""

import sys
import tempfile
from pathlib import Path

from instructor import ROOT
from tensormark.files import write_whole

import pretrain  # of solution/


def main() -> int:
    """Pre-train for as many steps as students do, and keep the curve; return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        if pretrain.main(["--save", folder]) != 0:
            return 1
        curve = (Path(folder) / "curve.json").read_bytes()
    write_whole(ROOT / "checkpoint" / pretrain.STAFF, curve)
    print(f"wrote checkpoint/{pretrain.STAFF}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
