"""The process of the tier `process`, before anything is asked of it.

This module imports little, so that the door can start a worker first: it imports torch, which takes
seconds, while the rest of the grader imports numpy and reads references.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO, Protocol, cast

WORKER = Path(__file__).resolve().parents[1] / "worker" / "main.py"
# By these, torch and MKL compute as on another processor.
PROCESSOR = ("ATEN_CPU_CAPABILITY", "MKL_CBWR")
PASSED_ON = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", *PROCESSOR)
OWN_FOLDER = ("HOME", "TMPDIR", "TEMP", "TMP", "TORCHINDUCTOR_CACHE_DIR", "MPLCONFIGDIR")


class Started(Protocol):
    """A worker that was started: the process, or one that was forked; see waiting.py.

    Attributes:
        stdin: takes requests. stdout: gives answers. stderr: what the submission prints.
    """

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: BinaryIO

    def kill(self) -> None:
        """End the worker and what it has started in its group; it need not be alive."""

    def close(self) -> None:
        """End it and remove its folder; a second time does nothing.

        Streams that are read from are closed by who reads them.
        """


def new_folder() -> "tempfile.TemporaryDirectory[str]":
    """Make a folder for a worker."""
    return tempfile.TemporaryDirectory(prefix="grader-", ignore_cleanup_errors=True)


def variables(threads: int, folder: str) -> dict[str, str]:
    """Return what a submission finds in its environment, in every tier, besides PATH.

    Args:
        threads: for torch.
        folder: of the worker's own.
    """
    return {
        "OMP_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "PASSIVE",  # threads that wait do not keep a busy machine busier
        "OPENBLAS_NUM_THREADS": "1",
        "LANG": "C.UTF-8",
        # where a student imports them: torch._dynamo needs a user name and a cache folder, and
        # matplotlib a folder that seems to be writable, and no screen
        **dict.fromkeys(OWN_FOLDER, folder),
        "USER": "student",
        "MPLBACKEND": "Agg",
    }


def environment(threads: int, folder: str) -> dict[str, str]:
    """Return a worker's environment, which has little of this process's."""
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return passed_on | variables(threads, folder) | {"WORKER_THREADS": str(threads)}


class WorkerProcess:
    """A worker in an empty folder, with an almost empty environment."""

    def __init__(self, threads: int) -> None:
        """Start it.

        Args:
            threads: for torch.
        """
        self.folder = new_folder()
        self.closed = False
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(WORKER)],
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

    def kill(self) -> None:
        """End the process and what it has started in its session."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """End it and remove its folder; a second time does nothing."""
        if self.closed:  # its number may be another process's by now
            return
        self.closed = True
        self.kill()
        with contextlib.suppress(OSError):  # there may be unsent bytes that nobody will read
            self.stdin.close()
        self.folder.cleanup()
