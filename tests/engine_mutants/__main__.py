"""Mutants of the engine: which of its tests, and of the golden corpus, notice a small change.

`draw` replaces those whose lines are gone; `record` finds which tests reach which; `run` has each
meet them, up to the first that fails; `keep` writes what killed each into mutants.jsonl. A survivor
has its `reason` there.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.engine_mutants import probes
from tests.engine_mutants.generate import ROOMS, Mutant, drawn, path_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = HERE / "mutants.jsonl"
WORK = Path(tempfile.gettempdir()) / "engine-mutants"
MOST_TESTS = 6000
MOST = {"golden": 12, "engine": 30, "root": 12}  # kinds of tests, and how many meet a mutant
CASES = 3  # of one test
SECONDS = 60  # the tests that meet a mutant take at most this long together without it
ENOUGH = 0.95  # of the mutants that were killed once, so many must be
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
Row = dict[str, Any]


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


def read() -> list[tuple[Mutant, Row]]:
    """Return the mutants, each with its result."""
    names = [field.name for field in dataclasses.fields(Mutant)]
    rows = map(json.loads, DATA.read_text(encoding="utf-8").splitlines())
    return [(Mutant(**{name: row.pop(name) for name in names}), row) for row in rows]


def write(rows: Sequence[tuple[Mutant, Row]]) -> None:
    """Write the mutants with their results."""
    lines = [json.dumps({**dataclasses.asdict(mutant), **row}) for mutant, row in rows]
    DATA.write_text("\n".join(lines) + "\n", encoding="utf-8")


def redraw() -> None:
    """Replace the mutants whose lines are gone by new ones."""
    kept = {}
    for mutant, row in read():
        path = path_of(mutant, ROOT)
        line = mutant.place(path.read_text(encoding="utf-8")) if path else None
        if path and line:
            file = path.relative_to(ROOT).as_posix()
            kept[dataclasses.replace(mutant, file=file, line=line)] = row
    write([(mutant, kept.get(mutant, {})) for mutant in drawn(ROOT, list(kept))])


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
    (packages / "copy.pth").write_text(paths, encoding="utf-8")
    shutil.copy2(HERE / "recorder.py", packages)
    return folder


def record(kind: str, work: Path) -> None:
    """Run the tests of a kind once, and keep which mutants each reaches."""
    copy = copied(work / f"probed-{kind}")
    rows = read()
    file = work / f"{kind}.probes"
    file.write_bytes(bytes(4 + MOST_TESTS * len(rows)))
    file.with_suffix(".log").write_text("", encoding="utf-8")
    loader = file.with_suffix(".py")
    loader.write_text(probes.PROBE.format(mutants=len(rows), path=str(file)), encoding="utf-8")
    lines: dict[Path, dict[int, int]] = {}
    for number, (mutant, _) in enumerate(rows):
        path = path_of(mutant, copy)
        place = mutant.place(path.read_text(encoding="utf-8")) if path else None
        if path and place:
            lines.setdefault(path, {})[number] = place
    for path, numbers in lines.items():
        probes.insert(path, numbers, loader)
    command = [*PYTEST, "-p", "recorder"] if kind != "golden" else ["-m", "recorder"]
    subprocess.run(
        [copy / ".venv/bin/python", *command],
        cwd=copy / "engine" if kind == "engine" else copy,
        env=os.environ | {"ENGINE_MUTANTS_PROBES": str(file)},
        check=False,
    )


@contextlib.contextmanager
def changed(path: Path, mutant: Mutant, at: int) -> Iterator[None]:
    """Write a mutant for a while, with a time by which a compiled file is known to be another's."""
    before = path.read_text(encoding="utf-8")
    modified = path.stat().st_mtime
    path.write_text(mutant.applied(before) or "", encoding="utf-8")
    os.utime(path, (at, at))
    try:
        yield
    finally:
        path.write_text(before, encoding="utf-8")
        os.utime(path, (modified, modified))


def chosen(kind: str, tests: list[tuple[float, str]]) -> tuple[list[str], float]:
    """Return the tests that meet a mutant, few cases of each, and how long they take."""
    if kind == "golden":  # any submissions: of those that are quick most are alike
        tests = sorted(random.Random(len(tests)).sample(tests, min(MOST[kind], len(tests))))
    names: list[str] = []
    total = 0.0
    cases = Counter[str]()
    for seconds, name in tests:
        test = name.partition("[")[0]
        if len(names) < MOST[kind] and cases[test] < CASES and total + seconds < SECONDS:
            names.append(name)
            total += seconds
            cases[test] += 1
    return names, total


def first_failure(kind: str, copy: Path, names: Sequence[str], seconds: float) -> str | None:
    """Run tests of a kind in a copy up to the first that fails, and return its name."""
    corpus = ("tests/golden/run.py", "--first", "--processes", "1")
    command = corpus if kind == "golden" else (*PYTEST, "-x", "--tb=no", "-rfE")
    process = subprocess.Popen(
        [copy / ".venv/bin/python", *command, *names],
        cwd=copy / "engine" if kind == "engine" else copy,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        encoding="utf-8",
        errors="replace",
    )
    try:
        printed = process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        return "timeout"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if not process.returncode or process.returncode == pytest.ExitCode.USAGE_ERROR:  # no such test
        return None
    failed = re.search(r"(?m)^(?:FAILED |ERROR |\+\+\+ now )(.*?)(?: - .*)?$", printed)
    return failed[1] if failed else "ended"


class Run:
    """The mutants meet the tests, in a copy of the checkout."""

    def __init__(self, work: Path, name: str, kinds: Sequence[str]) -> None:
        self.copy = copied(work / f"copy-{name}")
        self.rows = read()
        self.reached = {kind: probes.reached(work / f"{kind}.probes", self.rows) for kind in kinds}
        self.sound: dict[str, bool] = {}

    def met(self, kind: str, number: int, path: Path) -> str | None:
        """Have a mutant of a file meet the tests of a kind; return which one killed it."""
        mutant, row = self.rows[number]
        reached = self.reached[kind]
        names, seconds = chosen(kind, reached.get(number, []))
        known = row.get(kind)
        if known and (not reached or known in [name for _, name in reached.get(number, [])]):
            names = list(dict.fromkeys([known, *names]))
        if not names:
            return None
        limit = 90 + 8 * seconds
        with changed(path, mutant, 1 + number):
            killer = first_failure(kind, self.copy, names, limit)
        if killer is None or killer not in names:
            return killer
        if killer not in self.sound:
            self.sound[killer] = first_failure(kind, self.copy, [killer], limit) is None
        return killer if self.sound[killer] else None


def wanted(options: argparse.Namespace, rows: Sequence[tuple[Mutant, Row]]) -> list[int]:
    """Return the numbers of the mutants that the command line asks for, in any order."""
    if options.survivors:
        numbers = [number for number, (_, row) in enumerate(rows) if not any(map(row.get, MOST))]
    else:
        numbers = [number for number, (_, row) in enumerate(rows) if "reason" not in row]
    if options.sample:
        return random.sample(numbers, min(options.sample, len(numbers)))
    random.Random(1).shuffle(numbers)
    part, parts = map(int, options.part.split("/"))
    return numbers[part - 1 :: parts]


def results_in(folder: Path) -> dict[int, Row]:
    """Return the results of runs that are not in the data file yet, by number."""
    found: dict[int, Row] = {}
    for path in sorted(folder.glob("results*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found[row.pop("number")] = row
    return found


def run(options: argparse.Namespace) -> int:
    """Have the mutants meet the tests, and add a line for each to a file of results."""
    name = options.part.replace("/", "-of-")
    running = Run(options.work, name, options.kinds)
    done = {} if options.sample else results_in(options.work)
    left = [number for number in wanted(options, running.rows) if number not in done]
    start = time.monotonic()
    counts = Counter[str]()
    for count, number in enumerate(left, start=1):
        mutant = running.rows[number][0]
        path = path_of(mutant, running.copy)
        killers: dict[str, str] = {}
        for kind in options.kinds if path else ():
            killer = running.met(kind, number, path)
            if killer:
                killers[kind] = killer
                break
        end = "killed" if killers else "survived" if path else "gone"
        counts[end] += 1
        with (options.work / f"results-{name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"number": number, **killers}) + "\n")
        minutes = (time.monotonic() - start) / 60
        by = ", ".join(f"by {killer}" for killer in killers.values())
        print(
            f"{count}/{len(left)} {mutant.file}:{mutant.line} {mutant.operator}: {end} {by}"
            f" ({minutes / count * (len(left) - count):.0f} min left)",
            flush=True,
        )
    share = counts["killed"] / ((counts["killed"] + counts["survived"]) or 1)
    print(f"{dict(counts)}: {share:.1%} of those that are not gone are killed")
    return 0 if options.survivors or share >= ENOUGH else 1


def keep(work: Path) -> None:
    """Write the results into the data file, and print them by room."""
    rows = read()
    for number, result in results_in(work).items():
        for kind in MOST:
            rows[number][1].pop(kind, None)
        rows[number][1].update(result)
    write(rows)
    for room in ROOMS:
        results = [row for mutant, row in rows if mutant.room == room]
        by_corpus = sum("golden" in row for row in results)
        killed = sum(any(map(row.get, MOST)) for row in results)
        print(f"{room}: {len(results)} drawn, {by_corpus} killed by the corpus, {killed} by any")


def main() -> int:
    options = command_line()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.action == "draw":
        redraw()
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
