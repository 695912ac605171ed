"""The only way to read what was handed in: ask the process with limits; see limited.py.

Covered: whatever was handed in, it costs this process no more than reading a bounded answer. If a
submission yields no answer, that is its own fault; if the process does not work, that is ours.
"""

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tensormark.usage import UserError

LIMITED = Path(__file__).with_name("limited.py")
DEADLINE = 60.0  # seconds; processor time is limited, so only a busy machine takes this long
MAX_ANSWER = 16 << 20  # bytes; JSON may take six per character
MAX_STATUS = 20  # bytes


class InspectionError(UserError):
    """No submission can be read on this machine, which is not the submission's fault."""


class ReaderProcess:
    """The process that reads submissions; it is started when first needed, and again if it dies."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.late = False
        self.asking = threading.Lock()

    def start(self) -> "subprocess.Popen[bytes]":
        """Start the process unless it is running, without waiting until it is ready.

        Raises:
            InspectionError: it cannot be started.
        """
        if self.process is None:
            self.late = False
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
        return self.process

    def close(self) -> None:
        """End the process and its children."""
        process = self.process
        self.process = None
        if process is None:
            return
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):  # what could not be written to it
                assert stream is not None
                stream.close()

    def give_up(self) -> None:
        """End the process because it is taking too long."""
        self.late = True
        self.close()

    def ask(self, job: str, seconds: float, **arguments: Any) -> dict[str, Any]:
        """Have a job done; return its answer, an empty one if it hit its limits.

        Args:
            seconds: the job's limit of processor time.

        Raises:
            InspectionError: the process failed twice in a row.
        """
        request = {"job": job, "seconds": seconds, "arguments": arguments}
        line = json.dumps(request).encode() + b"\n"
        with self.asking:
            for last in (False, True):
                watch = threading.Timer(DEADLINE, self.give_up)
                watch.daemon = True  # Ctrl-C may come before `cancel`
                watch.start()
                try:
                    return self._answer(line)
                except (OSError, EOFError, ValueError) as error:  # ValueError: a stream is closed
                    self.close()
                    if last:
                        why = f"in {DEADLINE:g} seconds" if self.late else f"by {LIMITED.name}"
                        message = f"what was handed in cannot be read {why}"
                        raise InspectionError(message) from error
                finally:
                    watch.cancel()
        raise AssertionError

    def _answer(self, line: bytes) -> dict[str, Any]:
        """Write a request, and read the answer and how its job ended.

        Raises:
            OSError, EOFError, ValueError: the process has died.
        """
        process = self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line)
        process.stdin.flush()
        text = process.stdout.readline(MAX_ANSWER)
        status = process.stdout.readline(MAX_STATUS)
        if not status:
            raise EOFError
        if not (text.endswith(b"\n") and status.strip().isdigit()):
            self.close()  # the answer was too long, and more of it would follow
        elif int(status) == 0:
            with contextlib.suppress(ValueError, RecursionError):
                answer = json.loads(text)
                return answer if isinstance(answer, dict) else {}
        return {}


READER = ReaderProcess()
atexit.register(READER.close)
