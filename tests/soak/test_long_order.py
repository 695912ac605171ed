"""Honest submissions among 100 bad ones, in any order, graded by one process.

A course's grader works like this for days. Each honest one must get exactly the result that it gets
alone, and no thread, descriptor or process may be left.
"""

import json
import os
import threading
import time
from pathlib import Path

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.grading import Grading
from tensormark.sandbox.interface import CONTAINED, Limits
from tensormark.settings import Settings
from tests.helpers import ROOT
from tests.soak.seeds import rng

ENOUGH = Limits(load_seconds=60.0, call_seconds=60.0, exercise_seconds=60.0)
FEW = Limits(load_seconds=5.0, call_seconds=1.0, exercise_seconds=2.0)
EMBED = """

right = BertModel.embed


def embed(self, input_ids):
    {}
    return right(self, input_ids)


BertModel.embed = embed
"""
IN_CALLS = {
    "hangs": "__import__('time').sleep(1000)",
    "loops in C": "sum(range(10**15))",
    "exits": "raise SystemExit(0)",
    "dies": "__import__('os')._exit(1)",
    "is killed": "__import__('os').kill(__import__('os').getpid(), 9)",
    "crashes": "__import__('ctypes').string_at(0)",
    "recurses": "embed(self, input_ids)",
    "floods for ever": "while True: print('x' * 10**6)",
    "is mute": "import os; os.close(1); os.close(2)",
    "allocates tensors": "self.kept = [torch.ones(1 << 26) for _ in range(99)]",
    "starts threads": "import threading\n"
    "    for _ in range(99): threading.Thread(target=__import__('time').sleep, args=(9,)).start()",
    "changes the type": "torch.set_default_dtype(torch.float64)",
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
    "warns as an error": "import warnings; warnings.simplefilter('error')",
    "is no Python": "def f(:",
    "is hard to parse": "x = " + "-" * 200_000 + "1",
}


def submissions(folder: Path) -> tuple[dict[str, Path], dict[str, Path]]:
    """Write honest submissions, and bad ones."""
    right = (ROOT / "solution" / "bert.py").read_text("utf-8")
    honest = {
        "right": right,
        "wrong": right.replace("words + positions + token_types", "words + positions"),
        "unwritten": (ROOT / "starter" / "bert.py").read_text("utf-8"),
    }
    bad = {name: right + EMBED.format(code) for name, code in IN_CALLS.items()}
    bad |= {name: f"{right}\n{code}\n" for name, code in AT_IMPORT.items()}
    paths = {name: folder / f"{name}.py" for name in honest | bad}
    for name, text in (honest | bad).items():
        paths[name].write_text(text, "utf-8")
    return {name: paths[name] for name in honest}, {name: paths[name] for name in bad}


def held() -> dict[str, int]:
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    return {
        "threads": threading.active_count(),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "processes": len(children.split()),
    }


def left() -> dict[str, int]:
    """Count what this process holds, once the counts have stayed the same for a second."""
    counts = held()
    repeats = 0
    while repeats < 50:
        time.sleep(0.02)
        before = counts
        counts = held()
        repeats = repeats + 1 if counts == before else 0
    return counts


def result(grading: Grading, path: Path) -> str:
    """Return the result of a submission, as it is written for instructors."""
    model = grading.grade(str(path), check=True).as_json()
    del model["time"]
    return json.dumps(model)


@pytest.mark.timeout(3600)
@pytest.mark.tier(CONTAINED)
def test_200_submissions_in_any_order_leave_each_honest_one_its_result(tmp_path: Path) -> None:
    honest, bad = submissions(tmp_path)
    patient, strict = (
        Grading(Settings.of(ROOT, tier=CONTAINED, limits=limits), ASSIGNMENT)
        for limits in (ENOUGH, FEW)
    )
    alone = {name: result(patient, path) for name, path in honest.items()}
    before = left()
    random = rng()
    order = [*random.choices([*honest], k=100), *random.choices([*bad], k=100 - len(bad)), *bad]
    random.shuffle(order)

    for number, name in enumerate(order):
        if name in bad:
            result(strict, bad[name])
        else:
            assert result(patient, honest[name]) == alone[name], order[max(0, number - 3) : number]

    assert left() == before
