"""Re-run a command of instructor/ with solution/ importable: its modules are not a package."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence

from instructor import ROOT

SOLUTION = ROOT / "solution"


def again_on_solution(module: str, arguments: Sequence[str] | None) -> int | None:
    """Run `python -m module` with solution/ on its path, unless this process already has it.

    Args:
        module: such as "instructor.pretraining.pretrain".
        arguments: its command line; None: that of this process.

    Returns: the exit status of that run, or None to continue in this process.
    """
    if importlib.util.find_spec("pretraining") is not None:
        return None
    given = sys.argv[1:] if arguments is None else arguments
    # PASSIVE: on a busy machine, threads that spin while waiting for each other lose minutes.
    own = {"PYTHONPATH": f"{ROOT}{os.pathsep}{SOLUTION}", "OMP_WAIT_POLICY": "PASSIVE"}
    command = [sys.executable, "-m", module, *given]
    return subprocess.run(command, env=os.environ | own, check=False).returncode
