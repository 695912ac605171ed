"""The one way to what was handed in: asks the process that has the limits; see limited.py.

Covered: whatever was handed in, it costs this process no more than reading a bounded answer. That
one cannot be had from a hand-in is that hand-in's fault; that the process does not work is ours.
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

LIMITED = Path(__file__).with_name("limited.py")
DEADLINE = 60.0  # seconds; processor time is limited, so that only a busy machine takes as long
MOST = 16 << 20  # bytes of an answer; JSON may take six for a character
Row = dict[str, Any]


class InspectionError(Exception):
    """Nothing that is handed in can be read here, which is not the submission's fault."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What was said to a request.

    Attributes:
        complete: the job was done; else it came to its limits.
        seconds: of processor time that it took; peak: its memory, in the system's unit.
    """

    rows: list[Row]
    complete: bool
    seconds: float = 0.0
    peak: int = 0


class Door:
    """The process that reads, started when it is first needed, and again if it is lost."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.ready, self.late = False, False
        self.asking = threading.Lock()

    def start(self) -> None:
        """Start the process, and do not wait for it.

        Raises:
            InspectionError: there is none.
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
                start_new_session=True,  # Ctrl-C is not for it
            )
        except OSError as error:
            raise InspectionError(f"what was handed in cannot be read: {error}") from error

    def close(self) -> None:
        """End the process, and what it has started."""
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
        """End the process because it takes too long."""
        self.late = True
        self.close()

    def ask(self, job: str, seconds: float, request: Mapping[str, Any]) -> Answer:
        """Have a job done.

        Args:
            seconds: of processor time.

        Raises:
            InspectionError: the process does not work, for the second time in turn.
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
                        said = f"what was handed in cannot be read {why}"
                        raise InspectionError(said) from error
                finally:
                    watch.cancel()
        raise AssertionError

    def answer(self, line: bytes) -> Answer:
        """Write a request, and read until the line that says how its job ended.

        Raises:
            OSError, EOFError, ValueError: the process is gone.
        """
        assert self.process is not None
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        if not self.ready:
            self.ready = bool(stdout.readline(MOST))
        stdin.write(line)
        stdin.flush()
        rows: list[Row] = []
        left = MOST
        while left > 0:
            said = stdout.readline(left)
            left -= len(said)
            if not said and not hasattr(os, "fork"):
                break  # the job has ended the process
            if not said:
                raise EOFError
            with contextlib.suppress(ValueError, RecursionError):  # the job ended within a line
                row = json.loads(said)
                if isinstance(row, dict) and "ended" in row:
                    if not hasattr(os, "fork"):
                        self.close()
                    return Answer(rows, row.pop("ended") == 0, **row)
                rows += [row] if isinstance(row, dict) else []
        self.close()
        return Answer(rows, False)


DOOR = Door()
atexit.register(DOOR.close)
