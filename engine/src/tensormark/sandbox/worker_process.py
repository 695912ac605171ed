"""The worker process of the tier `process`: how it is started and ended.

This module imports little, so that a worker can be started first: the worker imports torch, which
takes seconds, while the rest of the grader imports numpy and reads references.
"""

import abc
import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import BinaryIO, cast

from tensormark.worker.surroundings import FOLDER_VARIABLES

WORKER = Path(__file__).resolve().parents[1] / "worker" / "main.py"
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


def variables(threads: int, folder: str) -> dict[str, str]:
    """Return the environment variables of a submission in every tier, besides PATH.

    Args:
        threads: the number of torch's threads.
        folder: the worker's folder.
    """
    return {
        "PYTHONHASHSEED": "0",  # or a set of texts would have another order in every run
        "OMP_NUM_THREADS": str(threads),
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


def environment(threads: int, folder: str) -> dict[str, str]:
    """Return the environment of a worker process, which inherits little from this process's."""
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return inherited | variables(threads, folder) | {"WORKER_THREADS": str(threads)}


class WorkerHandle(abc.ABC):
    """The streams of a running worker, and the means to end it.

    Attributes:
        stdin: for requests; stdout: of answers; stderr: of what the submission prints.
        folder: its working folder.
    """

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: BinaryIO

    def __init__(self) -> None:
        self.folder = new_folder()
        self.ending = threading.Lock()
        self.ended = False

    @abc.abstractmethod
    def end(self) -> None:
        """End the worker and the processes of its group, and wait for it."""

    def kill(self) -> None:
        """End the worker; a second time does nothing: its id may be another process's by then."""
        with self.ending:
            if not self.ended:
                self.end()
                self.ended = True

    def close(self) -> None:
        """End the worker and remove its folder; the readers of its output streams close those."""
        self.kill()
        with contextlib.suppress(OSError):  # there may be unsent bytes that nobody will read
            self.stdin.close()
        self.folder.cleanup()


class WorkerProcess(WorkerHandle):
    """A worker in an empty folder, with an almost empty environment."""

    def __init__(self, threads: int) -> None:
        """Start it with this many torch threads."""
        super().__init__()
        self.process = subprocess.Popen(
            [*PYTHON, str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder.name,
            env=environment(threads, self.folder.name),
            start_new_session=True,
        )
        self.stdin = cast(BinaryIO, self.process.stdin)
        self.stdout = cast(BinaryIO, self.process.stdout)
        self.stderr = cast(BinaryIO, self.process.stderr)

    def end(self) -> None:
        """End the process and those that it started in its session."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
