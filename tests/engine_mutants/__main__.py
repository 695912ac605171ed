"""Mutants of the engine: which of its tests, and of the golden corpus, notice a small change.

`draw` replaces those whose lines are gone; `run` has each meet what killed it before, the tests of
its room and a part of the corpus, up to the first that fails; `keep` writes what killed each into
mutants.jsonl. A survivor has its `reason` there.
"""

import argparse
import contextlib
import functools
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from pathlib import Path

import pytest

from tests.engine_mutants.draw import ROOMS, applied, drawn, found_in

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = HERE / "mutants.jsonl"
WORK = Path(tempfile.gettempdir()) / "engine-mutants"
KINDS = ("golden", "engine", "root")  # of tests
LIMIT = 900  # seconds for the tests of a kind
NAMELESS = ("ended", "timeout")  # how tests end otherwise than by one that fails
ENOUGH = 0.95  # of the mutants that were killed once, so many must be
GOLDEN = ("tests/golden/run.py", "--first", "--processes", "1")
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-x", "--tb=no", "-rfE")
FAILED = re.compile(r"^(?:FAILED |ERROR |\+\+\+ now )(.*?)(?: - .*)?$", re.M)
NOTHING_FAILED = (pytest.ExitCode.OK, pytest.ExitCode.USAGE_ERROR)  # the latter: no such test


def command_line():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("action", choices=["draw", "run", "keep"])
    add("--work", type=Path, default=WORK, help="folder of copies and results")
    add("--survivors", action="store_true", help="only those that no test has killed")
    add("--sample", type=int, help="only so many, drawn anew each time, of those that were killed")
    add("--part", default="1/1", help="such as 2/2: every second mutant")
    return parser.parse_args()


def rows_of(*paths):
    lines = "".join(path.read_text("utf-8") for path in paths).splitlines()
    return list(map(json.loads, lines))


def write(mutants):
    DATA.write_text("".join(json.dumps(mutant) + "\n" for mutant in mutants), "utf-8")


def copied(folder):
    """Copy the checkout, with an environment in which the copy's engine is found first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copy = "git ls-files -z --cached --others --exclude-standard | xargs -0 cp -p --parents -t"
    subprocess.run(f"{copy} {shlex.quote(str(folder))}", shell=True, cwd=ROOT, check=True)
    venv.create(folder / ".venv", symlinks=True)
    (packages,) = (folder / ".venv/lib").glob("python*/site-packages")
    installed = str(Path(pytest.__file__).parents[1])
    paths = f"{folder / 'engine/src'}\nimport site; site.addsitedir({installed!r})\n"
    (packages / "copy.pth").write_text(paths, "utf-8")
    return folder


@contextlib.contextmanager
def changed(path, mutant, at):
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


def first_failure(copy, kind, names):
    """Run tests of a kind in a copy up to the first that fails, and return its name."""
    process = subprocess.Popen(
        [copy / ".venv/bin/python", *(GOLDEN if kind == "golden" else PYTEST), *names],
        cwd=copy / "engine" if kind == "engine" else copy,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
        errors="replace",
    )
    try:
        printed = process.communicate(timeout=LIMIT)[0]
    except subprocess.TimeoutExpired:
        return "timeout"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.returncode in NOTHING_FAILED:
        return None
    failed = FAILED.search(printed)
    return failed[1] if failed else "ended"


@functools.cache
def is_sound(copy, kind, *names):
    """Return whether tests pass without a mutant."""
    return first_failure(copy, kind, names) is None


def met(mutant):
    """Yield the tests that a mutant meets, by kind."""
    known = [(kind, [mutant[kind]]) for kind in KINDS if kind in mutant]
    yield from (each for each in known if each[1][0] not in NAMELESS)
    yield "engine", [f"tests/test_{name}.py" for name in ROOMS[mutant["room"]].tests.split()]
    yield "golden", ["--part", "1/12"]


def killer(copy, mutant, path, at):
    """Have a mutant of a file meet tests; return by its kind which one killed it, if any."""
    for kind, names in met(mutant):
        with changed(path, mutant, at):
            failed = first_failure(copy, kind, names)
        if failed and is_sound(copy, kind, *(names if failed in NAMELESS else [failed])):
            return {kind: failed}
    return {}


def wanted(options, mutants):
    """Return the numbers of the mutants that the command line asks for, in any order."""
    numbers = [number for number, each in enumerate(mutants) if "reason" not in each]
    killed = [number for number in numbers if any(map(mutants[number].get, KINDS))]
    if options.sample:
        return random.sample(killed, min(options.sample, len(killed)))
    if options.survivors:
        numbers = sorted(set(numbers) - set(killed))
    random.Random(1).shuffle(numbers)
    part, parts = map(int, options.part.split("/"))
    return numbers[part - 1 :: parts]


def run(options):
    """Have the mutants meet the tests, and add a line for each to a file of results."""
    name = options.part.replace("/", "-of-")
    results = options.work / f"results-{name}.jsonl"
    copy = copied(options.work / f"copy-{name}")
    mutants = rows_of(DATA)
    done = {row["number"] for row in rows_of(*options.work.glob("results*.jsonl"))}
    left = [at for at in wanted(options, mutants) if options.sample or at not in done]
    counts = Counter()
    for count, number in enumerate(left, start=1):
        mutant = mutants[number]
        found = found_in(copy, mutant)
        killed_by = killer(copy, mutant, found[0], 1 + number) if found else {}
        end = "killed" if killed_by else "survived" if found else "gone"
        counts[end] += 1
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"number": number, **killed_by}) + "\n")
        what = f"{mutant['file']}:{mutant['line']} {mutant['operator']}: {end}"
        print(f"{count}/{len(left)} {what} {killed_by or ''}", flush=True)
    share = counts["killed"] / ((counts["killed"] + counts["survived"]) or 1)
    print(f"{dict(counts)}: {share:.1%} of those that are not gone are killed")
    return 0 if options.survivors or share >= ENOUGH else 1


def keep(work):
    """Write the results into the data file."""
    mutants = rows_of(DATA)
    for row in rows_of(*sorted(work.glob("results*.jsonl"))):
        mutant = mutants[row.pop("number")]
        for kind in KINDS:
            mutant.pop(kind, None)
        mutant.update(row)
    write(mutants)
    killed = Counter(next(filter(mutant.get, KINDS), "none") for mutant in mutants)
    print(f"{len(mutants)} mutants, by what killed them: {dict(killed)}")


def main():
    options = command_line()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.action == "draw":
        write(drawn(ROOT, rows_of(DATA)))
    elif options.action == "run":
        return run(options)
    else:
        keep(options.work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
