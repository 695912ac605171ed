"""What a worker process is started with: its folder, and environment variables."""

import contextlib
import functools
import os
import re
import shutil
import sys
import tempfile

from tensormark.worker.surroundings import FOLDER_VARIABLES

# without the current folder, the script's and the user's in sys.path, as with -I; that would ignore
# PYTHONHASHSEED, the only such variable that a worker has
PYTHON = (sys.executable, "-P", "-s", "-B")
# with these, torch and MKL compute as on another processor
PROCESSOR = ("ATEN_CPU_CAPABILITY", "MKL_CBWR")
INHERITED = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", *PROCESSOR)
OWNED = re.compile(r"grader-(\d+)-\w+")  # a worker's folder; the process that made it


def _has_ended(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


@functools.cache
def sweep() -> None:
    """Remove this user's folders whose process was killed before it could remove them."""
    if os.name != "posix":
        return
    for entry in os.scandir(tempfile.gettempdir()):
        owned = OWNED.fullmatch(entry.name)
        with contextlib.suppress(OSError):  # another process removes it as well
            own = owned and entry.stat(follow_symlinks=False).st_uid == os.getuid()
            if own and owned and _has_ended(int(owned[1])):
                shutil.rmtree(entry.path, ignore_errors=True)


def new_folder() -> "tempfile.TemporaryDirectory[str]":
    """Make a folder for a worker; files in it that cannot be removed later stay behind."""
    sweep()
    return tempfile.TemporaryDirectory(prefix=f"grader-{os.getpid()}-", ignore_cleanup_errors=True)


def variables(folder: str) -> dict[str, str]:
    """Return the environment variables of a submission in every tier, besides PATH.

    Args:
        folder: the worker's folder.
    """
    return {
        "PYTHONHASHSEED": "0",  # or a set of texts would have another order in every run
        "OMP_NUM_THREADS": "1",  # until a job says otherwise
        "OMP_WAIT_POLICY": "PASSIVE",  # waiting threads sleep, which a busy machine needs
        "OPENBLAS_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",  # inputs are on the CPU, and a container sees no GPU
        "LANG": "C.UTF-8",
        # if a student imports them, torch._dynamo needs a user name and a cache folder, and
        # matplotlib a folder that seems writable and a backend without a screen
        **dict.fromkeys(FOLDER_VARIABLES, folder),
        "USER": "student",
        "MPLBACKEND": "Agg",
    }


def inherited() -> dict[str, str]:
    """Return this process's environment variables that a worker without isolation inherits."""
    return {name: os.environ[name] for name in INHERITED if name in os.environ}
