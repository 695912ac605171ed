"""A small submission that misbehaves on request, and sandboxes to run it in."""

import contextlib
import itertools
import time
from pathlib import Path

import numpy as np

import tensormark
from tensormark.exercise import Call
from tensormark.sandbox.interface import Limits, Program, Request
from tensormark.sandbox.sandbox import Sandbox

REQUIREMENTS = Path(tensormark.__file__).parent / "template" / "requirements.txt"
BUSY = 60.0  # seconds for a call; longer than a busy machine may be unresponsive
LIMITS = Limits(load_seconds=BUSY)
HERE = Path(__file__).resolve().parent
GIVEN = {"given": "class Config:\n    pass\n"}
CODE = """
import os, sys, time, torch

class Thing(torch.nn.Module):
    marks = []

    def double(self, x):
        return 2 * x

    def end(self, x):
        os._exit(0)

    def hang(self, x):
        time.sleep(1000)

    def speak(self, x):
        print("hello", "\\x1b[31m", "x" * 100_000)
        return x

    def stop_later(self, x):
        import signal, threading

        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGSTOP)).start()
        return x

    def mute(self, x):
        os.close(1)
        os.close(2)
        time.sleep(2)
        return x

    def mark(self, x):
        self.marks.append(1)
        return x * len(self.marks)

    def product(self, x):
        return torch.ones(600, 600) @ torch.ones(600, 600)[:, :1] + torch.get_num_threads()
"""
X = np.array([1.0, 2.0], dtype=np.float32)


def ask(method, exercise="one", runs="", deadline=BUSY):
    call = Call(f"Thing.{method}", ("x",), "main").message()
    return Request(exercise, frozenset(runs.split() or [exercise]), call, {"x": X}, deadline)


def program_with(code=CODE, threads=1, limits=LIMITS):
    return Program(
        main_file="main.py",
        editable=("main.py",),
        sources={**GIVEN, "main": code},
        imports=(*GIVEN, "main"),
        harness=HERE / "no_harness.py",
        requirements=REQUIREMENTS,
        checkpoint=None,
        threads=threads,
        limits=limits,
    )


def program_of_ways(head, bodies):
    """Return a program with a function way_0, way_1, ... for each body, its lines between `; `."""
    functions = [
        "\n    ".join([f"def way_{number}(x):", *body.split("; "), "return x\n"])
        for number, body in enumerate(bodies)
    ]
    return program_with(head + "\n\n".join(functions))


def sandbox_of(tier, code=CODE, threads=1):
    return Sandbox(tier, program_with(code, threads))


def descendants(process):
    """Return a process's descendants, whichever of its threads started them."""
    children = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread has ended
            children += map(int, path.read_text().split())
    return children + list(itertools.chain(*map(descendants, children)))


def all_end(processes):
    """Wait up to a minute for processes to end; return whether they did."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and any(alive(process) for process in processes):
        time.sleep(0.05)
    return not any(alive(process) for process in processes)


def state(process):
    """Return the letter of a process's state, or nothing if it does not exist."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def alive(process):
    """Return whether a process exists and is not a zombie."""
    return state(process) not in ("", "Z")
