"""The only way to read what was handed in: ask the process with limits; see limited.py.

Covered: whatever was handed in, it costs this process no more than reading a bounded answer. If a
hand-in yields no answer, that is its own fault; if the process does not work, that is ours.
"""

import atexit
import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tensormark.usage import UserError

LIMITED = Path(__file__).with_name("limited.py")
DEADLINE = 60.0  # seconds; processor time is limited, so only a busy machine takes this long
MAX_ANSWER = 16 << 20  # bytes; JSON may take six per character
Row = dict[str, Any]


class InspectionError(UserError):
    """No hand-in can be read on this machine, which is not the submission's fault."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """The answer to a request.

    Attributes:
        complete: whether the job finished; otherwise it hit its limits.
        seconds: the processor time that it took.
        peak: its peak memory, in the system's unit.
    """

    rows: list[Row]
    complete: bool
    seconds: float = 0.0
    peak: int = 0


class Door:
    """The process that reads hand-ins; it is started when first needed, and again if it dies."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.ready, self.late = False, False
        self.asking = threading.Lock()

    def start(self) -> None:
        """Start the process unless it is running, without waiting until it is ready.

        Raises:
            InspectionError: it cannot be started.
        """
        if self.process is not None:
            return
        self.ready = self.late = False
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", str(LIMITED)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # so that Ctrl-C does not reach it
            )
        except OSError as error:
            raise InspectionError(f"what was handed in cannot be read: {error}") from error

    def close(self) -> None:
        """End the process and its children."""
        process, self.process = self.process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                assert stream is not None
                stream.close()

    def give_up(self) -> None:
        """End the process because it is taking too long."""
        self.late = True
        self.close()

    def ask(self, job: str, seconds: float, request: Mapping[str, Any]) -> Answer:
        """Have a job done.

        Args:
            seconds: the job's limit of processor time.

        Raises:
            InspectionError: the process failed twice in a row.
        """
        line = json.dumps({**request, "job": job, "seconds": seconds}).encode() + b"\n"
        with self.asking:
            for last in (False, True):
                self.start()
                watch = threading.Timer(DEADLINE, self.give_up)
                watch.daemon = True  # Ctrl-C may come before `cancel`
                watch.start()
                try:
                    return self.answer(line)
                except (OSError, EOFError, ValueError) as error:  # ValueError: a stream is closed
                    self.close()
                    if last:
                        why = f"in {DEADLINE:g} seconds" if self.late else f"by {LIMITED.name}"
                        message = f"what was handed in cannot be read {why}"
                        raise InspectionError(message) from error
                finally:
                    watch.cancel()
        raise AssertionError

    def answer(self, line: bytes) -> Answer:
        """Write a request, and read until the line that says how its job ended.

        Raises:
            OSError, EOFError, ValueError: the process has died.
        """
        assert self.process is not None
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        if not self.ready:
            self.ready = bool(stdout.readline(MAX_ANSWER))
        stdin.write(line)
        stdin.flush()
        rows: list[Row] = []
        left = MAX_ANSWER
        while left > 0:
            text = stdout.readline(left)
            left -= len(text)
            if not text and not hasattr(os, "fork"):
                break  # the process ended with the job
            if not text:
                raise EOFError
            with contextlib.suppress(ValueError, RecursionError):  # the job died within a line
                row = json.loads(text)
                if isinstance(row, dict) and "ended" in row:
                    if not hasattr(os, "fork"):
                        self.close()
                    return Answer(rows, row.pop("ended") == 0, **row)
                rows += [row] if isinstance(row, dict) else []
        self.close()
        return Answer(rows, False)


DOOR = Door()
atexit.register(DOOR.close)
