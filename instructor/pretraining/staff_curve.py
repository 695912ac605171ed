"""Record the staff's curve: `python -m instructor.pretraining.staff_curve`, half a minute.

Runs solution/pretrain.py with its defaults on the first reviews of data/pretraining.txt, and writes
the losses of each step to checkpoint/, beside which pretrain.py draws a student's. Run it again
after any change to the text, the sizes of the model, or the code of that program.
"""

import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

from instructor import ROOT
from instructor.on_solution import again_on_solution
from tensormark.files import write_whole


def main() -> int:
    """Pre-train for as many steps as students do, and keep the curve; return the exit status."""
    if (status := again_on_solution("instructor.pretraining.staff_curve", None)) is not None:
        return status
    program: Any = importlib.import_module("pretrain")  # of solution/
    with tempfile.TemporaryDirectory() as folder:
        if program.main(["--save", folder]) != 0:
            return 1
        curve = (Path(folder) / "curve.json").read_bytes()
    write_whole(ROOT / "checkpoint" / program.STAFF, curve)
    print(f"wrote checkpoint/{program.STAFF}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
