"""Mutants of the engine: which of its tests, and of the golden corpus, notice a small change.

`record KIND` finds which tests reach which mutant; `run` has the mutants meet them.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.engine_mutants import probes
from tests.engine_mutants.generate import ROOMS, Mutant, drawn, path_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = HERE / "mutants.jsonl"
WORK = Path(tempfile.gettempdir()) / "engine-mutants"
FILES = {  # the tests that reach these rooms
    "engine": """answers archives callers checks compare diagnose door
        files_kept fingerprints fingerprints_of_tensors flags folder_names found general inspection
        intake leftovers links needed one_process outputs payloads plain_functions protocol raised
        reach sandbox saves shapes sharing stand_ins student_text teach teach_terms toolkit training
        trial trial_message waiting""",
    "root": """adjustments any_answer any_order bad_submissions budget canvas class class_appeals
        class_combination class_engine class_options class_store costs estimate export figures_agree
        forbidden forbidden_here global_state gradebook gradebook_page gradescope_export grading
        hand_ins hidden ledger ledger_plain ledger_runs looking_deeper moodle not_allowed
        not_written odd_class one_mistake other_forms progress returned roster rounds rubric
        same_path sheets similar similar_page term viva_class viva_class_answers viva_class_runs who
        written written_runs""",
    "golden": "",
}
MOST_TESTS = 6000
CASES = 3  # of one test
MOST = {"golden": 6, "engine": 14, "root": 6}  # the number of tests that meet a mutant
KINDS = ("drawn", "killed by the corpus", "killed")
ENOUGH = 0.95  # of the mutants that were killed once, so many must be
SECONDS = 120  # and how long they may take together without a mutant


def command_line() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("action", choices=["draw", "record", "run", "keep"])
    add("kinds", nargs="*", default=[*FILES], help="of tests: golden, engine, root; default: all")
    add("--work", type=Path, default=WORK, help="folder of copies and maps")
    add("--rooms", nargs="+", default=[*ROOMS], help="only these rooms' mutants")
    add("--each", action="store_true", help="the tests even of those that the corpus kills")
    add("--survivors", action="store_true", help="only those that no test has killed")
    add("--times", type=int, default=1, help="that many times as many tests for each")
    add("--sample", type=int, help="only so many, drawn anew each time, of those that were killed")
    add("--part", default="1/1", help="such as 2/2: every second mutant")
    return parser.parse_args()


def read() -> list[tuple[Mutant, dict[str, Any]]]:
    """Return the mutants, each with its result."""
    names = [field.name for field in dataclasses.fields(Mutant)]
    rows = map(json.loads, DATA.read_text(encoding="utf-8").splitlines())
    return [(Mutant(**{name: row.pop(name) for name in names}), row) for row in rows]


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
    (installed,) = (path for path in sys.path if path.endswith("site-packages"))
    paths = f"{folder / 'engine/src'}\nimport site; site.addsitedir({installed!r})\n"
    (packages / "copy.pth").write_text(paths, encoding="utf-8")
    return folder


class Server:
    """A process that carries out orders; see server.py."""

    def __init__(self, kind: str, copy: Path, log: Path) -> None:
        names = FILES[kind].split()
        files = [f"tests/test_{name}.py" for name in names]
        self.process = subprocess.Popen(
            [copy / ".venv/bin/python", "-P", "tests/engine_mutants/server.py", kind, *files],
            cwd=copy,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("w"),
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""},
            text=True,
        )

    def ask(self, **order: Any) -> dict[str, Any]:
        """Have an order carried out."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        """End it."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def record(kind: str, work: Path) -> None:
    """Run the tests of a kind once, and keep which mutants each reaches."""
    copy, rows = copied(work / f"probed-{kind}"), read()
    file, log, loader = (work / f"{kind}.{end}" for end in ("probes", "log", "py"))
    file.write_bytes(bytes(4 + MOST_TESTS * len(rows)))
    log.write_text("", encoding="utf-8")
    loader.write_text(probes.PROBE.format(mutants=len(rows), path=str(file)), encoding="utf-8")
    lines: dict[Path, dict[int, int]] = {}
    for number, (mutant, _) in enumerate(rows):
        path = path_of(mutant, copy)
        place = mutant.place(path.read_text(encoding="utf-8")) if path else None
        if path and place:
            lines.setdefault(path, {})[number] = place
    for path, numbers in lines.items():
        probes.insert(path, numbers, loader)
    server = Server(kind, copy, work / f"{kind}.record.txt")
    print(kind, server.ask(probes=str(file), log=str(log)))
    server.close()


@contextlib.contextmanager
def changed(path: Path, mutant: Mutant, at: int) -> Iterator[str]:
    """Write a mutant for a while, with a time by which a compiled file is known to be another's."""
    before, times = path.read_text(encoding="utf-8"), path.stat().st_mtime
    path.write_text(mutant.applied(before) or "", encoding="utf-8")
    os.utime(path, (at, at))
    try:
        yield before
    finally:
        path.write_text(before, encoding="utf-8")
        os.utime(path, (times, times))


def chosen(kind: str, tests: list[tuple[float, str]], most: int) -> tuple[list[str], float]:
    """Return the tests that meet a mutant, few cases of each, and how long they take."""
    if kind == "golden":  # of the corpus, any submissions
        tests = sorted(random.Random(len(tests)).sample(tests, min(most, len(tests))))
    names, total, cases = [], 0.0, Counter[str]()
    for seconds, name in tests:
        test = name.partition("[")[0]
        if len(names) < most and cases[test] < CASES and total + seconds < SECONDS:
            names.append(name)
            total += seconds
            cases[test] += 1
    return names, total


class Run:
    """The mutants meet the tests of all kinds, in a copy of the checkout."""

    def __init__(self, options: argparse.Namespace, name: str) -> None:
        self.copy, self.rows, self.times = (
            copied(options.work / f"copy-{name}"),
            read(),
            options.times,
        )
        self.maps, self.servers = {}, {}
        for kind in options.kinds:
            file, log = options.work / f"{kind}.probes", options.work / f"{kind}.log"
            self.maps[kind] = probes.reached(file, log, len(self.rows)) if log.exists() else {}
            self.servers[kind] = Server(kind, self.copy, options.work / f"{kind}-{name}.txt")
        for server in self.servers.values():
            server.ask(tests=[], seconds=60)  # it has started before a file changes
        self.sound: dict[tuple[str, str], bool] = {}

    def is_sound(self, kind: str, test: str) -> bool:
        """Return whether a test passes without a mutant."""
        if (kind, test) not in self.sound:
            answer = self.servers[kind].ask(tests=[test], seconds=600)
            self.sound[kind, test] = answer["killer"] is None
        return self.sound[kind, test]

    def met(self, kind: str, number: int, path: Path) -> str | None:
        """Have a mutant of a file meet the tests of a kind; return which one killed it."""
        mutant, row = self.rows[number]
        tests = self.maps[kind].get(number, [])
        names, seconds = chosen(kind, tests, self.times * MOST[kind])
        names = list(dict.fromkeys(filter(None, [row.get(kind), *names])))
        if not names:
            return None
        with changed(path, mutant, 1 + number) as before:
            order = {"file": str(path), "old": before, "afresh": "/worker/" in str(path)}
            order |= {"tests": names, "seconds": 120 + 10 * seconds}
            answer = self.servers[kind].ask(**order)
            if answer["killer"] == "timeout":  # perhaps all of this was suspended for a while
                answer = self.servers[kind].ask(**order)
        if not answer["clean"]:
            self.servers[kind].ask(renew=True)
        killer: str | None = answer["killer"]
        if killer in names and not self.is_sound(kind, killer):
            print(f"    {killer} fails by itself", flush=True)
            return None
        return killer


def wanted(options: argparse.Namespace, rows: list[tuple[Mutant, dict[str, Any]]]) -> list[int]:
    """Return the numbers of the mutants that the command line asks for, in any order."""
    part, parts = map(int, options.part.split("/"))
    numbers = [
        number
        for number, (mutant, row) in enumerate(rows)
        if mutant.room in options.rooms and any(map(row.get, FILES)) != options.survivors
    ]
    if options.sample:
        return random.sample(numbers, min(options.sample, len(numbers)))
    random.Random(1).shuffle(numbers)
    return numbers[part - 1 :: parts]


def results_in(folder: Path) -> dict[int, dict[str, Any]]:
    """Return the results of runs that are not in the data file yet, by number."""
    found: dict[int, dict[str, Any]] = {}
    for path in sorted(folder.glob("results*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found.setdefault(row.pop("number"), {}).update(row)
    return found


def run(options: argparse.Namespace) -> int:
    """Have the mutants meet the tests, and add a line for each to a file of results."""
    name = options.part.replace("/", "-of-")
    running = Run(options, name)
    done = {} if options.sample else results_in(options.work)
    left = [
        at
        for at in wanted(options, running.rows)
        if not {*options.kinds} <= done.get(at, {}).keys()
    ]
    start, counts = time.monotonic(), Counter[str]()
    for count, number in enumerate(left, start=1):
        mutant, path = running.rows[number][0], path_of(running.rows[number][0], running.copy)
        killers: dict[str, str | None] = {}
        for kind in options.kinds if path else ():
            met = killers if not options.each else {**killers, "golden": None}
            if not any(met.values()):
                killers[kind] = running.met(kind, number, path)
        end = "killed" if any(killers.values()) else "survived" if path else "gone"
        counts[end] += 1
        with (options.work / f"results-{name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"number": number, **killers}) + "\n")
        minutes = (time.monotonic() - start) / 60
        shown = ", ".join(f"by {killer}" for killer in killers.values() if killer)
        print(
            f"{count}/{len(left)} {mutant.file}:{mutant.line} {mutant.operator}: {end} {shown}"
            f" ({minutes / count * (len(left) - count):.0f} min left)",
            flush=True,
        )
    for server in running.servers.values():
        server.close()
    share = counts["killed"] / ((counts["killed"] + counts["survived"]) or 1)
    print(f"{dict(counts)}: {share:.1%} of those that are not gone are killed")
    return 0 if options.survivors or share >= ENOUGH else 1


def keep(work: Path) -> None:
    """Write the results into the data file, and print them by room."""
    rows, counts = read(), Counter[tuple[str, str]]()
    for number, result in results_in(work).items():
        rows[number][1].update({kind: result.get(kind) for kind in FILES})
    lines = [json.dumps({**dataclasses.asdict(mutant), **row}) for mutant, row in rows]
    DATA.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for mutant, row in rows:
        counts[mutant.room, KINDS[0]] += 1
        counts[mutant.room, KINDS[1]] += bool(row.get("golden"))
        counts[mutant.room, KINDS[2]] += any(map(row.get, FILES))
    for room in ROOMS:
        print(
            room, *(f"{what} {counts[room, what]}" for what in ("drawn", "by the corpus", "killed"))
        )


def main() -> int:
    options = command_line()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.action == "draw":
        rows = (json.dumps(dataclasses.asdict(mutant)) for mutant in drawn(ROOT))
        DATA.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
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
