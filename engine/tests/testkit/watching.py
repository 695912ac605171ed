"""Runs a command, such as `tensormark watch`, and reads what it prints while it runs."""

import queue
import signal
import subprocess
import threading
import time

from testkit.asking import descendants
from testkit.graded import tensormark

LONG = 300.0  # seconds; longer than a busy machine may be unresponsive
WAITING = "waiting for changes"


def listen_to_interrupts():
    """Handle SIGINT, which background processes ignore, and SIGHUP, which nohup ignores."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Running:
    """A running command, in an assignment's folder."""

    def __init__(self, folder, *command, **options):
        self.process = subprocess.Popen(
            list(map(str, command)),
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=listen_to_interrupts,
            **options,
        )
        self.lines = queue.SimpleQueue()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(LONG)
        self.thread.join(LONG)
        self.process.stdout.close()

    def read(self):
        """Pass on lines as they come."""
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def until(self, word):
        """Return what is printed up to a line with this word."""
        text = ""
        deadline = time.monotonic() + LONG
        while (line := self.lines.get(timeout=max(0.0, deadline - time.monotonic()))) is not None:
            text += line
            if word in line:
                return text
        raise AssertionError(f"ended before {word!r}: {text}")

    def rest(self):
        return "".join(iter(lambda: self.lines.get(timeout=LONG) or "", ""))

    def ended_by(self, name):
        """Send a signal; return what is printed from then on, once the command has ended."""
        self.process.send_signal(getattr(signal, name))
        output = self.rest()
        self.process.wait(LONG)
        return output

    def below(self):
        return descendants(self.process.pid)


class Watching(Running):
    """A running watch of a submission."""

    def __init__(self, folder, path, *options):
        super().__init__(folder, *tensormark("watch", str(path), *options))

    def report(self):
        return self.until(WAITING)
