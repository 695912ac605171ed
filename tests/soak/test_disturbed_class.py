"""A class that is graded while things are killed has the gradebook of one that is left alone.

It is graded by a scheduler and two workers of its own, and at random moments the run, a worker, the
scheduler or a zygote is killed (SIGKILL); what is missing is started again. Once the disk with the
results is filled, which needs root: it is a disk of its own.
"""

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks.checkout import checkouts
from benchmarks.measure import descendants
from benchmarks.submissions import write_class

from conftest import ROOT
from soak.seeds import SEED, rng

KINDS = ("run", "worker", "scheduler", "zygote")
SIZE, MOMENTS = 300, 20
BETWEEN = (1.0, 8.0)  # seconds from one moment to the next
DISK = "32m"
MARKS = {"worker": b"spawn_main", "zygote": b"zygote.py"}
Process = subprocess.Popen[bytes]


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


def marked(process: Process, mark: bytes) -> list[int]:
    """Return what a process has started that has a mark in its command line."""
    found = []
    for one in descendants(process.pid):
        with contextlib.suppress(OSError):  # it has ended
            if mark in Path(f"/proc/{one}/cmdline").read_bytes():
                found.append(one)
    return found


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Make a folder a disk of its own, if this user may; say whether it is one."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)]
    mounted = os.getuid() == 0 and subprocess.run(mount, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Soak:
    """A scheduler, its workers, and the run that uses them."""

    def __init__(self, folder: Path, out: Path, rng: random.Random) -> None:
        self.folder, self.out, self.rng = folder, out, rng
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self.processes: dict[str, Process] = {}

    def commands(self) -> dict[str, Sequence[str]]:
        """Return what has to be running, in the order in which it is started."""
        python, quiet = [sys.executable, "-m"], ["--host", "127.0.0.1", "--no-dashboard"]
        port = self.address.rpartition(":")[2]
        some = ["--nthreads", "1", "--nworkers", "2"]
        return {
            "scheduler": [*python, "dask", "scheduler", *quiet, "--port", port],
            "workers": [*python, "dask", "worker", self.address, *quiet, *some],
            "run": graded_by(self.folder, self.out, "--scheduler", self.address),
        }

    def start(self) -> bool:
        """Start what is not running; say whether the run had ended and was complete."""
        run = self.processes.get("run")
        if run and run.poll() == 0:
            return True
        scheduler = self.processes.get("scheduler")
        if scheduler and scheduler.poll() is not None:
            self.end(self.processes["workers"])  # which do not look for another scheduler
        for name, command in self.commands().items():
            there = self.processes.get(name)
            if there is None or there.poll() is not None:
                self.processes[name] = subprocess.Popen(
                    command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
        return False

    def strike(self, kind: str) -> bool:
        if kind in self.processes:
            self.processes[kind].kill()
            self.processes[kind].wait()
            return True
        found = marked(self.processes["workers"], MARKS[kind])
        if found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.rng.choice(found), signal.SIGKILL)
        return bool(found)

    def strike_soon(self, kind: str) -> bool:
        """Kill something as soon as it is there; say whether it came within a minute."""
        for _ in range(120):
            if self.strike(kind):
                return True
            time.sleep(0.5)
        return False

    def fill(self) -> bool:
        """Fill the disk until the run has ended; say whether it ended as it should."""
        filler = self.out / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 12))
        status = self.processes["run"].wait()
        filler.unlink()
        return status == 2

    @staticmethod
    def end(process: Process) -> None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(30)
        process.kill()
        process.wait()

    def close(self) -> None:
        for process in reversed(self.processes.values()):
            self.end(process)


def graded_by(folder: Path, out: Path, *options: str) -> list[str]:
    """Return the command that grades a class."""
    return checkouts(None).ours.command("class", "--check", "--out", out, *options, folder)


def disturb(soak: Soak, full: bool) -> Counter[str]:
    """Grade a class, and disturb it; return how often what was killed.

    Args:
        full: also fill the disk, in the middle of it.
    """
    done = Counter[str]()
    kinds = [KINDS[number % len(KINDS)] for number in range(MOMENTS)]
    soak.rng.shuffle(kinds)
    for number, kind in enumerate(kinds):
        assert not soak.start(), f"all is graded after {number} moments; take more submissions"
        time.sleep(soak.rng.uniform(*BETWEEN))
        done[kind] += soak.strike_soon(kind)
        if full and number == MOMENTS // 2:
            soak.start()
            assert soak.fill(), "a full disk did not end the run as it should"
    while not soak.start():
        time.sleep(1.0)
    return done


@pytest.mark.timeout(3600)
def test_a_disturbed_class_has_the_gradebook_of_an_undisturbed_one(tmp_path: Path) -> None:
    folder, calm, out = (tmp_path / name for name in ("in", "calm", "out"))
    out.mkdir()
    write_class(folder, SIZE, SEED)
    subprocess.run(graded_by(folder, calm), cwd=ROOT, check=True)
    with small_disk(out) as full:
        soak = Soak(folder, out, rng())
        try:
            done = disturb(soak, full)
        finally:
            soak.close()
        assert (out / "gradebook.csv").read_bytes() == (calm / "gradebook.csv").read_bytes()
    print(f"killed: {dict(done)}")
    assert any(done.values()), "nothing was there to be killed"
