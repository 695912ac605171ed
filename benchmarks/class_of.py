"""What `make class` costs, from its start to the gradebook, without training.

Its peers are fresh processes, one `make check` after another in the same tier, and one process
without isolation, as in a test suite that imports one submission after another. These get no
hostile submissions; when two checkouts are compared, a class has all kinds.
"""

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.checkout import Checkout, Checkouts, grader
from benchmarks.measure import Line, Row, Used, in_turns, processors_of, progress, row, run
from benchmarks.submissions import HARMLESS, write_class
from tensormark.sandbox.interface import CONTAINED

SIZE = int(os.environ.get("CLASS_SIZE") or 24)
SAMPLE = 6  # submissions of the same mix, for the peers
TURNS = 3  # per checkout when two are compared, each with a class of SIZE


def per_submission(used: Used, count: int) -> Used:
    """Return the mean cost of a submission."""
    return Used(*(value / count for value in used))


def as_a_class(checkout: Checkout, folder: Path) -> Used:
    """Grade a class on all cores."""
    with tempfile.TemporaryDirectory() as out:
        options = ("--check", "--tier", CONTAINED, "--out", f"{out}/class", folder)
        command = checkout.command("class", *options)
        used = run(command, checkout.root, statuses=(0, 3))
        return per_submission(used, len(list(folder.iterdir())))


def in_fresh_processes(checkout: Checkout, paths: Sequence[Path]) -> Used:
    """Check submissions one after another, each in its own process."""
    all_used = [
        run(checkout.command("check", path, "--tier", CONTAINED), checkout.root) for path in paths
    ]
    return per_submission(Used(*map(sum, zip(*all_used, strict=True))), len(paths))


def without_isolation(checkout: Checkout, paths: Sequence[Path]) -> Used:
    """Grade submissions one after another in one process, including its start."""
    started = time.perf_counter()
    with grader(checkout, "kept") as server:
        for path in paths:
            server.grade(path)
        seconds = time.perf_counter() - started
        processor = sum(processors_of(server.process.pid).values())
        return per_submission(Used(seconds, seconds, processor), len(paths))


def both(what: str, turns: Sequence[tuple[Used, Used]], against: str) -> Iterator[Row]:
    """Yield a row for the processor time, and one for the wall time."""
    processor = [(ours.processor, peer.processor) for ours, peer in turns]
    seconds = [(ours.seconds, peer.seconds) for ours, peer in turns]
    yield row(Line(what, "s CPU"), processor, against)
    yield row(Line(what, "s"), seconds, against)


def against_another(ours: Checkout, other: Checkout, folder: Path) -> Iterator[Row]:
    """Measure a class of all kinds alternately with another checkout."""
    write_class(folder, SIZE, seed=1)
    progress(f"a class of {SIZE}, all kinds; {other.name} ...")
    measurements = in_turns(
        TURNS, lambda: as_a_class(ours, folder), lambda: as_a_class(other, folder), warm=False
    )
    pairs = list(zip(*measurements, strict=True))
    yield from both(f"each of a class of {SIZE}, all kinds", pairs, other.name)


def rows(checkouts: Checkouts) -> Iterator[Row]:
    """Measure a class."""
    ours, other = checkouts
    with tempfile.TemporaryDirectory() as place:
        if other is not None:
            yield from against_another(ours, other, Path(place) / "all")
            return
        paths = write_class(Path(place) / "class", SIZE, 1, HARMLESS)
        sample = write_class(Path(place) / "sample", SAMPLE, 1, HARMLESS)
        what = f"each of a class of {SIZE}"
        progress(f"{what} ...")
        mine = as_a_class(ours, paths[0].parent)
        yield from both(what, [(mine, in_fresh_processes(ours, sample))], "fresh processes")
        yield from both(what, [(mine, without_isolation(ours, paths))], "no isolation")
