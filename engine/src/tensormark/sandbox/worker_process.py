"""The worker process of the tier `process`, as it is started and ended.

This module imports little, so that a worker can be started first: it imports torch, which takes
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
# With these, torch and MKL compute as on another processor.
PROCESSOR = ("ATEN_CPU_CAPABILITY", "MKL_CBWR")
INHERITED = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", *PROCESSOR)
FOLDER_VARIABLES = ("HOME", "TMPDIR", "TEMP", "TMP", "TORCHINDUCTOR_CACHE_DIR", "MPLCONFIGDIR")


class WorkerHandle(Protocol):
    """The streams of a worker that runs, and the means to end it.

    Attributes:
        stdin: takes requests. stdout: gives answers. stderr: what the submission prints.
    """

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: BinaryIO

    def kill(self) -> None:
        """End the worker and the processes of its group; it need not be alive."""

    def close(self) -> None:
        """End the worker and remove its folder; a second time does nothing.

        The streams that are read from are closed by their readers.
        """


def new_folder() -> "tempfile.TemporaryDirectory[str]":
    """Make a folder for a worker; files of it that cannot be removed later stay behind."""
    return tempfile.TemporaryDirectory(prefix="grader-", ignore_cleanup_errors=True)


def variables(threads: int, folder: str) -> dict[str, str]:
    """Return the environment variables of a submission in every tier, besides PATH.

    Args:
        threads: torch's.
        folder: the worker's own.
    """
    return {
        "OMP_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "PASSIVE",  # waiting threads sleep, which a busy machine needs
        "OPENBLAS_NUM_THREADS": "1",
        "LANG": "C.UTF-8",
        # if a student imports them, torch._dynamo needs a user name and a folder for its cache, and
        # matplotlib a folder that seems to be writable, and no screen
        **dict.fromkeys(FOLDER_VARIABLES, folder),
        "USER": "student",
        "MPLBACKEND": "Agg",
    }


def environment(threads: int, folder: str) -> dict[str, str]:
    """Return the environment of a worker process, which inherits little of this one's."""
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return inherited | variables(threads, folder) | {"WORKER_THREADS": str(threads)}


class WorkerProcess:
    """A worker in an empty folder, with an almost empty environment."""

    def __init__(self, threads: int) -> None:
        """Start it with this number of torch's threads."""
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
        """End the process and those that it has started in its session."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """End it and remove its folder; a second time does nothing."""
        if self.closed:  # its process id may be another process's by now
            return
        self.closed = True
        self.kill()
        with contextlib.suppress(OSError):  # there may be unsent bytes that nobody will read
            self.stdin.close()
        self.folder.cleanup()
