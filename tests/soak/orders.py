"""Honest submissions among bad ones, in any order, graded by one process.

A course's grader works like this for days. Each honest one must get exactly the result that it gets
alone, and no thread, descriptor or process may be left.
"""

import json
import os
import random
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from grader.assignment import ASSIGNMENT
from tensormark.grading import Grading
from tensormark.sandbox.interface import Limits
from tensormark.settings import Settings
from tests.helpers import ROOT

ENOUGH = Limits(load_seconds=60.0, call_seconds=60.0, exercise_seconds=60.0)
FEW = Limits(load_seconds=5.0, call_seconds=1.0, exercise_seconds=2.0)
SETTLED = 50  # equal counts in a row, within a second, that mean rest
EMBED = """

right = BertModel.embed


def embed(self, input_ids):
    {}
    return right(self, input_ids)


BertModel.embed = embed
"""
IN_CALLS = {
    "slow": "__import__('time').sleep(0.3)",
    "hangs": "__import__('time').sleep(1000)",
    "loops": "while True: pass",
    "loops in C": "sum(range(10**15))",
    "exits": "raise SystemExit(0)",
    "dies": "__import__('os')._exit(1)",
    "is killed": "__import__('os').kill(__import__('os').getpid(), 9)",
    "crashes": "__import__('ctypes').string_at(0)",
    "is interrupted": "raise KeyboardInterrupt",
    "recurses": "embed(self, input_ids)",
    "floods": "print('x' * 10**7)",
    "floods for ever": "while True: print('x' * 10**6)",
    "is mute": "import os; os.close(1); os.close(2)",
    "allocates": "self.kept = bytearray(3 << 30)",
    "allocates tensors": "self.kept = [torch.ones(1 << 26) for _ in range(99)]",
    "starts threads": "import threading\n"
    "    for _ in range(99): threading.Thread(target=__import__('time').sleep, args=(9,)).start()",
    "changes the type": "torch.set_default_dtype(torch.float64)",
    "changes the mode": "torch.set_grad_enabled(False); self.train()",
    "changes the seed": "torch.manual_seed(1)",
    "changes the threads": "torch.set_num_threads(2)",
    "changes its input": "input_ids.zero_()",
    "changes modules": "import sys; sys.modules.clear()",
    "changes torch": "torch.Tensor.__add__ = torch.allclose = lambda *_: True",
    "changes descriptors": "import os; os.closerange(3, 99)",
}
AT_IMPORT = {
    "hangs at its import": "while True: pass",
    "dies at its import": "__import__('os')._exit(0)",
    "does not end": "import os; os._exit = lambda _: __import__('time').sleep(1000)",
    "warns as an error": "import warnings; warnings.simplefilter('error')",
    "is no Python": "def f(:",
    "is hard to parse": "x = " + "-" * 200_000 + "1",
}


def submissions() -> tuple[dict[str, str], dict[str, str]]:
    """Return the sources of honest submissions, and of bad ones."""
    right = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    honest = {
        "right": right,
        "wrong": right.replace("words + positions + token_types", "words + positions"),
        "unwritten": (ROOT / "starter" / "bert.py").read_text(encoding="utf-8"),
    }
    bad = {name: right + EMBED.format(code) for name, code in IN_CALLS.items()}
    bad |= {name: f"{right}\n{code}\n" for name, code in AT_IMPORT.items()}
    return honest, bad


def written(folder: Path, texts: dict[str, str]) -> dict[str, Path]:
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.py" for name in texts}


def left() -> dict[str, int]:
    """Count what this process holds, once the counts stay the same."""
    counts = held()
    repeats = 0
    while repeats < SETTLED:
        before = counts
        counts = held()
        repeats = repeats + 1 if counts == before else 0
        time.sleep(0.02)
    return counts


def held() -> dict[str, int]:
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    return {
        "threads": threading.active_count(),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "processes": len(children.split()),
    }


class Course:
    def __init__(self, tier: str, folder: Path) -> None:
        """Grade each honest submission alone."""
        self.honest, self.bad = (written(folder, texts) for texts in submissions())
        self.grading = Grading(Settings.of(ROOT, tier=tier, limits=ENOUGH), ASSIGNMENT)
        self.strict = Grading(Settings.of(ROOT, tier=tier, limits=FEW), ASSIGNMENT)
        self.alone = {name: self.result(name) for name in self.honest}
        self.held = left()

    def result(self, name: str) -> str:
        """Return the result of an honest submission, as it is written for instructors."""
        result = self.grading.grade(str(self.honest[name]), check=True).as_json()
        del result["time"]
        return json.dumps(result)

    def run(self, order: Sequence[str]) -> list[str]:
        wrong = []
        for number, name in enumerate(order):
            if name in self.bad:
                self.strict.grade(str(self.bad[name]), check=True)
            elif (result := self.result(name)) != self.alone[name]:
                before = ", ".join(order[max(0, number - 3) : number])
                wrong.append(f"{name}, after {before}: {result} instead of {self.alone[name]}")
        return wrong


def drawn_order(course: Course, count: int, rng: random.Random) -> list[str]:
    """Return `count` submissions, half of them honest, with every bad one if there is room."""
    half = count // 2
    order = rng.choices(list(course.honest), k=half)
    order += rng.sample(list(course.bad), k=len(course.bad))[: count - half]
    order += rng.choices(list(course.bad), k=count - len(order))
    rng.shuffle(order)
    return order


def disturbed(course: Course, count: int, rng: random.Random) -> list[str]:
    """Grade `count` of them in a random order; return what differs, and what is left behind."""
    wrong = course.run(drawn_order(course, count, rng))
    now = left()
    return wrong + ([] if now == course.held else [f"left: {now}, not {course.held}"])
