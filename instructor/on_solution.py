"""Start a command of instructor/ again with solution/ importable: its modules are no package."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence

from grader.files import ROOT

SOLUTION = ROOT / "solution"


def again_on_solution(module: str, arguments: Sequence[str] | None) -> int | None:
    """Run `python -m module` with solution/ on its path, unless this process has it there.

    Args:
        module: such as "instructor.pretraining.pretrain".
        arguments: of its command line; None: those of this process.

    Returns: the exit status of that run, or None: go on here.
    """
    if importlib.util.find_spec("pretraining") is not None:
        return None
    given = sys.argv[1:] if arguments is None else arguments
    # PASSIVE: on a machine with other work, threads that spin for each other lose minutes.
    own = {"PYTHONPATH": f"{ROOT}{os.pathsep}{SOLUTION}", "OMP_WAIT_POLICY": "PASSIVE"}
    command = [sys.executable, "-m", module, *given]
    return subprocess.run(command, env=os.environ | own, check=False).returncode
