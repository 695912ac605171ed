"""Extrapolates how much disk and memory a large class needs from two smaller classes.

Store, gradebook and feedback are real, for made-up students whose results are as long as those of
a real class. A student's share is the difference between the two classes' needs, divided by the
difference between their sizes.
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

from benchmarks.submissions import HARMLESS_KINDS, texts
from instructor import ROOT
from tensormark.classroom.entry import Entry
from tensormark.classroom.jobs.estimate import spent
from tensormark.classroom.jobs.store import Attempt, Store
from tensormark.classroom.jobs.work import Terms
from tensormark.classroom.options import STORE
from tensormark.classroom.reports.feedback import FOLDER
from tensormark.classroom.reports.gradebook import PAGE, write_results
from tests import classes

SIZES = (150, 450)
RESULT_LENGTH = 11_275  # of a result in JSON: the mean in the class in class_times.json
TERMS = Terms("", {}, "", "", "contained", "grade", 1.0, 1.0)


class Needs(NamedTuple):
    """The needs of a class: bytes on disk and in memory, and processor seconds.

    Attributes:
        memory: Python's peak, if it was traced, which slows it down.
    """

    store: float
    feedback: float
    page: float
    memory: float
    seconds: float


def padded(result: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return a made-up result with a note that makes it as long as real ones."""
    if result is None:
        return None
    padded_result = copy.deepcopy(dict(result))
    missing = max(0, RESULT_LENGTH - len(json.dumps(result)))
    padded_result["exercises"][0]["note"] = ("a word " * missing)[:missing]
    return padded_result


def entries(count: int) -> list[Entry]:
    """Return made-up students, each with a different source."""
    rng = random.Random(1)
    sources = [text for kind in HARMLESS_KINDS for text in texts()[kind]]
    return [
        replace(
            entry,
            result=padded(entry.result),
            sources={"bert": f"{rng.choice(sources)}# {number}\n"},
        )
        for number, entry in enumerate(classes.a_class(count))
    ]


def write(out: Path, count: int, traced: bool) -> Needs:
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
    return Needs(store_size, feedback, page, memory, seconds)


def measured_needs(count: int) -> Needs:
    """Write a class in a fresh process, and again in another to measure its memory."""
    command = [sys.executable, "-m", "benchmarks.many", str(count)]
    measurements = []
    for options in ([], ["--traced"]):
        process = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, check=True)
        measurements.append(Needs(*map(float, process.stdout.split())))
    return measurements[0]._replace(memory=measurements[1].memory)


def growth(count: int) -> Iterator[str]:
    """Yield lines on the needs of `count` students, if each adds as much as those measured."""
    small, large = map(measured_needs, SIZES)
    increments = [(b - a) / (SIZES[1] - SIZES[0]) for a, b in zip(small, large, strict=True)]
    total = Needs(
        *(
            a + increment * (count - SIZES[0])
            for a, increment in zip(small, increments, strict=True)
        )
    )
    each = Needs(*increments)
    yield f"\nfrom full runs for {SIZES[0]:,} and {SIZES[1]:,} students: per student, and in total:"
    for name in ("store", "feedback", "page", "memory"):
        share, sum_of_all = getattr(each, name), getattr(total, name)
        yield f"{name:<11} {share / 1e3:.1f} kB, {sum_of_all / 1e9:.2f} GB"
    yield f"{'time':<11} {1000 * each.seconds:.1f} ms of a core, {spent(total.seconds)}"


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
