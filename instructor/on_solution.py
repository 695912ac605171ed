"""Re-run a command of instructor/ with solution/ importable: its modules are not a package."""

import argparse
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from instructor import ROOT

SOLUTION = ROOT / "solution"


def again_on_solution(module: str, arguments: Sequence[str] | None) -> int | None:
    """Run `python -m module` with solution/ on its path, unless this process already has it.

    Args:
        module: such as "instructor.pretraining.pretrain".
        arguments: its command line; None: this process's.

    Returns: the exit status of that run, or None to continue in this process.
    """
    if importlib.util.find_spec("pretraining") is not None:
        return None
    options = sys.argv[1:] if arguments is None else arguments
    # PASSIVE: on a busy machine, threads that spin while waiting for each other lose minutes.
    variables = {"PYTHONPATH": f"{ROOT}{os.pathsep}{SOLUTION}", "OMP_WAIT_POLICY": "PASSIVE"}
    command = [sys.executable, "-m", module, *options]
    return subprocess.run(command, env=os.environ | variables, check=False).returncode


def folder_to_folder(
    name: str,
    about: tuple[str, str],
    convert: Callable[[Path, Path], list[str]],
    arguments: Sequence[str] | None,
) -> int:
    """Make one folder from another, as a command line says; return 2 if nothing was written.

    Args:
        name: the command's, such as "import-checkpoint".
        about: what the command does, and which folder it reads.
        convert: called with both folders; returns the lines of the report.
    """
    parser = argparse.ArgumentParser(prog=name, description=about[0])
    parser.add_argument("source", metavar="FROM", help=about[1])
    parser.add_argument("out", metavar="OUT", help="folder to write, which must not exist")
    options = parser.parse_args(arguments)
    if not options.source or not options.out:
        print(f"{name}: give both folders: make {name} FROM=dir OUT=dir", file=sys.stderr)
        return 2
    module = f"instructor.huggingface.{name.replace('-', '_')}"
    if (status := again_on_solution(module, arguments)) is not None:
        return status
    explain = importlib.import_module("arguments").explain_file
    try:
        lines = convert(Path(options.source), Path(options.out))
    except (ValueError, OSError) as error:
        print(f"{name}: {explain(error)}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0
