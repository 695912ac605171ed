"""How much disk and memory a large class needs, extrapolated from two smaller classes.

Store, gradebook and feedback are real, for made-up students whose results are as long as those of
a real class. What a student adds is the difference between two classes over that of their sizes.
"""

import argparse
import copy
import json
import random
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.submissions import HARMLESS, texts
from instructor import ROOT
from tensormark.classroom.entry import Entry
from tensormark.classroom.estimate import spent
from tensormark.classroom.feedback import FOLDER
from tensormark.classroom.gradebook import PAGE, write_results
from tensormark.classroom.options import STORE
from tensormark.classroom.store import Attempt, Store
from tensormark.classroom.work import Terms
from tests import classes

SIZES = (150, 450)
LENGTH = 11_275  # of a result in JSON: the mean in the class in class_times.json
TERMS = Terms("", {}, "", "", "contained", "grade", 1.0, 1.0)


class Needed(NamedTuple):
    """What a class needed: bytes on disk and in memory, and processor seconds.

    Attributes:
        memory: Python's peak, if it was traced, which slows it down.
    """

    store: float
    feedback: float
    page: float
    memory: float
    seconds: float


def lengthened(result: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return a made-up result, padded to the length of real ones."""
    if result is None:
        return None
    longer = copy.deepcopy(dict(result))
    missing = max(0, LENGTH - len(json.dumps(result)))
    longer["exercises"][0]["note"] = ("a word " * missing)[:missing]
    return longer


def entries(count: int) -> list[Entry]:
    """Return made-up students, each with a different source."""
    chance = random.Random(1)
    sources = [text for kind in HARMLESS for text in texts()[kind]]
    return [
        replace(
            entry,
            result=lengthened(entry.result),
            sources={"bert": f"{chance.choice(sources)}# {number}\n"},
        )
        for number, entry in enumerate(classes.a_class(count))
    ]


def write(out: Path, count: int, traced: bool) -> Needed:
    """Write a class; return what it needed."""
    if traced:
        tracemalloc.start()
    students = entries(count)
    with Store(out / STORE) as store:
        store.file.execute("PRAGMA synchronous = OFF")  # the file is the same, byte for byte
        for number, entry in enumerate(students):
            store.add(str(number), TERMS, Attempt("host", 1.0, entry.problem, entry.result))
    starter = {"bert": (ROOT / "starter" / "bert.py").read_text(encoding="utf-8")}
    before = time.process_time()
    write_results(students, out, starter=starter)
    seconds = time.process_time() - before
    feedback = sum(path.stat().st_size for path in (out / FOLDER).rglob("*.*"))
    memory = tracemalloc.get_traced_memory()[1] if traced else 0
    store_size, page = ((out / name).stat().st_size for name in (STORE, PAGE))
    return Needed(store_size, feedback, page, memory, seconds)


def measured(count: int) -> Needed:
    """Write a class in a fresh process, and again in another to measure its memory."""
    command = [sys.executable, "-m", "benchmarks.many", str(count)]
    needs = []
    for more in ([], ["--traced"]):
        done = subprocess.run([*command, *more], cwd=ROOT, capture_output=True, check=True)
        needs.append(Needed(*map(float, done.stdout.split())))
    return needs[0]._replace(memory=needs[1].memory)


def growth(count: int) -> Iterator[str]:
    """Yield lines on what `count` students would need, if each adds as much as those measured."""
    few, many = map(measured, SIZES)
    steps = [(b - a) / (SIZES[1] - SIZES[0]) for a, b in zip(few, many, strict=True)]
    whole = Needed(*(a + step * (count - SIZES[0]) for a, step in zip(few, steps, strict=True)))
    each = Needed(*steps)
    yield f"\nfrom full runs for {SIZES[0]:,} and {SIZES[1]:,} students: per student, and in total:"
    for name in ("store", "feedback", "page", "memory"):
        share, total = getattr(each, name), getattr(whole, name)
        yield f"{name:<11} {share / 1e3:.1f} kB, {total / 1e9:.2f} GB"
    yield f"{'time':<11} {1000 * each.seconds:.1f} ms of a core, {spent(whole.seconds)}"


def main() -> None:
    """Write a class of the given size, and print what it needed."""
    parser = argparse.ArgumentParser(prog="many")
    parser.add_argument("count", type=int)
    parser.add_argument("--traced", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(*write(Path(folder), options.count, options.traced))


if __name__ == "__main__":
    main()
