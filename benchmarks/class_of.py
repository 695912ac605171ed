"""Measures `make class`, from its start to the gradebook, without training.

It has two peers: one `make check` after another in the same tier, each a fresh process; and one
process without isolation, as in a test suite that imports one submission after another. The peers
get no hostile submissions, so neither does the class, unless two checkouts are compared.
"""

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.checkout import Checkout, Checkouts, grader
from benchmarks.measure import Line, Row, Used, in_turns, processors_of, progress, row, run
from benchmarks.submissions import HARMLESS_KINDS, write_class
from tensormark.sandbox.interface import CONTAINED

CLASS_SIZE = int(os.environ.get("CLASS_SIZE") or 24)
SAMPLE_SIZE = 6  # submissions of the same kinds, for the peers
CLASSES_PER_CHECKOUT = 3  # when two are compared, each with a class of CLASS_SIZE


def per_submission(cost: Used, count: int) -> Used:
    """Return the mean cost of a submission from the cost of all."""
    return Used(*(value / count for value in cost))


def grade_class(checkout: Checkout, folder: Path) -> Used:
    """Grade a class on all cores."""
    with tempfile.TemporaryDirectory() as out:
        results = Path(out, "class")
        options = ["--check", "--out", results, folder]
        if (checkout.root / "engine/src/tensormark/classroom/config.py").exists():
            results.mkdir()
            (results / "class.toml").write_text(f'tier = "{CONTAINED}"\n', encoding="utf-8")
        else:  # an older checkout has an option for it
            options += ["--tier", CONTAINED]
        command = checkout.command("class", *options)
        cost = run(command, checkout.root, statuses=(0, 3))
        return per_submission(cost, len(list(folder.iterdir())))


def grade_in_fresh_processes(checkout: Checkout, paths: Sequence[Path]) -> Used:
    """Check submissions one after another, each in its own process."""
    costs = [
        run(checkout.command("check", path, "--tier", CONTAINED), checkout.root) for path in paths
    ]
    return per_submission(Used(*map(sum, zip(*costs, strict=True))), len(paths))


def grade_without_isolation(checkout: Checkout, paths: Sequence[Path]) -> Used:
    """Grade submissions one after another in one process, including its start."""
    started = time.perf_counter()
    with grader(checkout, "kept") as shared_worker:
        for path in paths:
            shared_worker.grade(path)
        seconds = time.perf_counter() - started
        processor = sum(processors_of(shared_worker.process.pid).values())
        return per_submission(Used(seconds, seconds, processor), len(paths))


def time_rows(label: str, turns: Sequence[tuple[Used, Used]], against: str) -> Iterator[Row]:
    """Yield a row for the processor time, and one for the wall time."""
    processor = [(ours.processor, peer.processor) for ours, peer in turns]
    seconds = [(ours.seconds, peer.seconds) for ours, peer in turns]
    yield row(Line(label, "s CPU"), processor, against)
    yield row(Line(label, "s"), seconds, against)


def rows_against_other(ours: Checkout, other: Checkout, folder: Path) -> Iterator[Row]:
    """Measure a class of all kinds alternately with another checkout."""
    write_class(folder, CLASS_SIZE, seed=1)
    progress(f"a class of {CLASS_SIZE}, all kinds; {other.name} ...")
    measurements = in_turns(
        CLASSES_PER_CHECKOUT,
        lambda: grade_class(ours, folder),
        lambda: grade_class(other, folder),
        warm=False,
    )
    turns = list(zip(*measurements, strict=True))
    yield from time_rows(f"each of a class of {CLASS_SIZE}, all kinds", turns, other.name)


def rows(checkouts: Checkouts) -> Iterator[Row]:
    """Measure a class."""
    ours, other = checkouts
    with tempfile.TemporaryDirectory() as folder:
        if other is not None:
            yield from rows_against_other(ours, other, Path(folder) / "all")
            return
        paths = write_class(Path(folder) / "class", CLASS_SIZE, 1, HARMLESS_KINDS)
        sample = write_class(Path(folder) / "sample", SAMPLE_SIZE, 1, HARMLESS_KINDS)
        label = f"each of a class of {CLASS_SIZE}"
        progress(f"{label} ...")
        own_cost = grade_class(ours, paths[0].parent)
        yield from time_rows(
            label, [(own_cost, grade_in_fresh_processes(ours, sample))], "fresh processes"
        )
        yield from time_rows(
            label, [(own_cost, grade_without_isolation(ours, paths))], "no isolation"
        )
