"""Mutants of the engine: which of its tests, and of the golden corpus, notice a small change.

`draw` replaces those whose lines are gone; `record` finds which tests reach which; `run` has each
meet them, up to the first that fails; `keep` writes what killed each into mutants.jsonl. A survivor
has its `reason` there.
"""

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.engine_mutants import reach
from tests.engine_mutants.draw import Mutant, applied, drawn, found_in

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = HERE / "mutants.jsonl"
WORK = Path(tempfile.gettempdir()) / "engine-mutants"
MOST = {"golden": 12, "engine": 30, "root": 12}  # kinds of tests, and how many meet a mutant
SECONDS = 60  # the tests that meet a mutant take at most this long together without it
ENOUGH = 0.95  # of the mutants that were killed once, so many must be
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
FAILED = re.compile(r"^(?:FAILED |ERROR |\+\+\+ now )(.*?)(?: - .*)?$", re.M)


def command_line() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("action", choices=["draw", "record", "run", "keep"])
    add("kinds", nargs="*", default=[*MOST], help="of tests: golden, engine, root; default: all")
    add("--work", type=Path, default=WORK, help="folder of copies and results")
    add("--survivors", action="store_true", help="only those that no test has killed")
    add("--sample", type=int, help="only so many, drawn anew each time, of those that were killed")
    add("--part", default="1/1", help="such as 2/2: every second mutant")
    return parser.parse_args()


def rows_of(*paths: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]


def write(mutants: Sequence[Mutant]) -> None:
    DATA.write_text("".join(json.dumps(mutant) + "\n" for mutant in mutants), "utf-8")


def copied(folder: Path) -> Path:
    """Copy the checkout, with an environment in which the copy's engine is found first."""
    if folder.exists():
        shutil.rmtree(folder)
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    venv.create(folder / ".venv", symlinks=True)
    (packages,) = (folder / ".venv/lib").glob("python*/site-packages")
    installed = str(Path(pytest.__file__).parents[1])
    paths = f"{folder / 'engine/src'}\nimport site; site.addsitedir({installed!r})\n"
    (packages / "copy.pth").write_text(paths, "utf-8")
    shutil.copy2(reach.__file__, packages)
    return folder


def started(copy: Path, kind: str, words: Sequence[str], **options: Any) -> subprocess.Popen[str]:
    """Start tests of a kind in a copy."""
    folder = copy / "engine" if kind == "engine" else copy
    return subprocess.Popen([copy / ".venv/bin/python", *words], cwd=folder, text=True, **options)


def record(kind: str, work: Path) -> None:
    """Run the tests of a kind once, and keep which mutants each reaches."""
    copy = copied(work / f"probed-{kind}")
    mutants = rows_of(DATA)
    file = work / f"{kind}.probes"
    file.write_bytes(bytes(4 + reach.MOST_TESTS * len(mutants)))
    file.with_suffix(".log").write_text("", "utf-8")
    lines: dict[Path, dict[int, int]] = {}
    for number, mutant in enumerate(mutants):
        found = found_in(copy, mutant)
        if found:
            lines.setdefault(found[0], {})[number] = found[1]
    for path, numbers in lines.items():
        reach.insert(path, numbers, len(mutants), file)
    words = ("-m", "reach") if kind == "golden" else (*PYTEST, "-p", "reach")
    started(copy, kind, words, env=os.environ | {reach.PROBES: str(file)}).wait()


@contextlib.contextmanager
def changed(path: Path, mutant: Mutant, at: int) -> Iterator[None]:
    """Write a mutant for a while, with a time by which a compiled file is known to be another's."""
    before = path.read_text("utf-8")
    modified = path.stat().st_mtime
    path.write_text(applied(before, mutant), "utf-8")
    os.utime(path, (at, at))
    try:
        yield
    finally:
        path.write_text(before, "utf-8")
        os.utime(path, (modified, modified))


def chosen(
    kind: str, tests: Sequence[tuple[float, str]], known: str | None
) -> tuple[list[str], float]:
    """Return the tests that meet a mutant, and how long they take: first what killed it before."""
    recorded = [name for _, name in tests]
    if kind == "golden":  # any submissions: of those that are quick most are alike
        draw = random.Random(len(tests))
        tests = sorted(draw.sample(tests, min(MOST[kind], len(tests))))
    is_there = known in recorded if recorded else known not in (None, "ended", "timeout")
    names = [str(known)] if is_there else []
    total = 0.0
    for seconds, name in tests:
        if len(names) < MOST[kind] and total + seconds < SECONDS and name != known:
            names.append(name)
            total += seconds
    return names, total


def first_failure(kind: str, copy: Path, names: Sequence[str], limit: float) -> str | None:
    """Run tests of a kind in a copy up to the first that fails, and return its name."""
    corpus = ("tests/golden/run.py", "--first", "--processes", "1")
    words = corpus if kind == "golden" else (*PYTEST, "-x", "--tb=no", "-rfE")
    process = started(
        copy,
        kind,
        (*words, *names),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        errors="replace",
    )
    try:
        printed = process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        return "timeout"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.returncode in (pytest.ExitCode.OK, pytest.ExitCode.USAGE_ERROR):  # no such test
        return None
    failed = FAILED.search(printed)
    return failed[1] if failed else "ended"


class Run:
    """The mutants meet the tests, in a copy of the checkout."""

    def __init__(self, work: Path, name: str, kinds: Sequence[str]) -> None:
        self.copy = copied(work / f"copy-{name}")
        self.mutants = rows_of(DATA)
        size = len(self.mutants)
        self.reached = {kind: reach.reached(work / f"{kind}.probes", size) for kind in kinds}
        self.sound: dict[str, bool] = {}  # whether a test passes without a mutant

    def killers(self, number: int, path: Path) -> dict[str, str]:
        """Have a mutant of a file meet tests of each kind; return which one killed it, if any."""
        mutant = self.mutants[number]
        for kind, reached in self.reached.items():
            names, seconds = chosen(kind, reached.get(number, []), mutant.get(kind))
            if not names:
                continue
            limit = 90 + 8 * seconds
            with changed(path, mutant, 1 + number):
                killer = first_failure(kind, self.copy, names, limit)
            if killer in names and killer not in self.sound:
                self.sound[killer] = first_failure(kind, self.copy, [killer], limit) is None
            if killer and self.sound.get(killer, True):
                return {kind: killer}
        return {}


def wanted(options: argparse.Namespace, mutants: Sequence[Mutant]) -> list[int]:
    """Return the numbers of the mutants that the command line asks for, in any order."""
    numbers = [number for number, each in enumerate(mutants) if "reason" not in each]
    if options.survivors:
        numbers = [at for at, each in enumerate(mutants) if not any(map(each.get, MOST))]
    if options.sample:
        return random.sample(numbers, min(options.sample, len(numbers)))
    random.Random(1).shuffle(numbers)
    part, parts = map(int, options.part.split("/"))
    return numbers[part - 1 :: parts]


def run(options: argparse.Namespace) -> int:
    """Have the mutants meet the tests, and add a line for each to a file of results."""
    name = options.part.replace("/", "-of-")
    results = options.work / f"results-{name}.jsonl"
    running = Run(options.work, name, options.kinds)
    done = {row["number"] for row in rows_of(*options.work.glob("results*.jsonl"))}
    left = wanted(options, running.mutants)
    if not options.sample:
        left = [number for number in left if number not in done]
    counts = Counter[str]()
    for count, number in enumerate(left, start=1):
        mutant = running.mutants[number]
        found = found_in(running.copy, mutant)
        killers = running.killers(number, found[0]) if found else {}
        end = "killed" if killers else "survived" if found else "gone"
        counts[end] += 1
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"number": number, **killers}) + "\n")
        what = f"{mutant['file']}:{mutant['line']} {mutant['operator']}: {end}"
        print(f"{count}/{len(left)} {what} {killers or ''}", flush=True)
    share = counts["killed"] / ((counts["killed"] + counts["survived"]) or 1)
    print(f"{dict(counts)}: {share:.1%} of those that are not gone are killed")
    return 0 if options.survivors or share >= ENOUGH else 1


def keep(work: Path) -> None:
    """Write the results into the data file."""
    mutants = rows_of(DATA)
    for row in rows_of(*sorted(work.glob("results*.jsonl"))):
        mutant = mutants[row.pop("number")]
        for kind in MOST:
            mutant.pop(kind, None)
        mutant.update(row)
    write(mutants)
    killed = Counter(next(filter(mutant.get, MOST), "none") for mutant in mutants)
    print(f"{len(mutants)} mutants, by what killed them: {dict(killed)}")


def main() -> int:
    options = command_line()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.action == "draw":
        write(drawn(ROOT, rows_of(DATA)))
    elif options.action == "record":
        for kind in options.kinds:
            record(kind, options.work)
    elif options.action == "run":
        return run(options)
    else:
        keep(options.work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
