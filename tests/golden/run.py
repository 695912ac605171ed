"""Grade the golden corpus, and compare all that people read with what was recorded.

Prints what differs from expected/ as a diff; the exit status is 1 if anything does.

A line of corpus/*.jsonl is one submission: its name, and where its files come from.

    starter, solution   files of these folders
    holes, edits        changes of those: [file, id of the hole, new text], [file, old, new]
    texts, bytes        other files, whole; bytes in base64
    members             files of a class, each as such a line
    path                what is graded, instead of the folder work with all of these in it
    options             see Product.graded
    points              record only points and outcomes
    pages               record not the verdict, but what is shown to people and platforms
    model               record that of this result, without a grading
    class               grade a class, with these options
"""

import argparse
import base64
import difflib
import fnmatch
import itertools
import json
import math
import multiprocessing
import os
import re
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tqdm import tqdm

import product
from shown import shown

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORPUS = HERE / "corpus"
EXPECTED = HERE / "expected"
HEADING = "=== "
POINT = "&#46;"  # in GitHub's summary
DECIMAL = re.compile(rf"\d+(?:\.|{POINT})\d+(?:e[+-]\d+)?|\d+e[+-]\d+")
# Processors differ in the last bits of a tensor, and so in the last digit that a message shows.
RELATIVE = 2e-3
ABSOLUTE = 2e-4
HANDED_IN = 1_795_197_600  # when all files were last changed, in seconds since 1970


def corpus_in(folder):
    """Return all submissions by name, each of which occurs once."""
    rows = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            assert row["name"] not in rows, f"{path}: {row['name']} occurs twice"
            rows[row["name"]] = row
    return rows


def files_of(row):
    """Return what a submission consists of, by path."""
    texts = {}
    for folder in ("starter", "solution"):
        for file in row.get(folder, []):
            texts[file] = (ROOT / folder / file).read_text("utf-8")
    for file, hole, body in row.get("holes", []):
        begin, end = product.region_of(texts[file], hole)
        texts[file] = texts[file][:begin] + body + texts[file][end:]
    for file, old, new in row.get("edits", []):
        texts[file] = product.edited(texts[file], [(old, new)], row["name"])
    files = {file: text.encode() for file, text in (texts | row.get("texts", {})).items()}
    for file, member in row.get("members", {}).items():
        (files[file],) = files_of({"name": row["name"], **member}).values()
    return files | {file: base64.b64decode(text) for file, text in row.get("bytes", {}).items()}


def write(files, folder):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (HANDED_IN, HANDED_IN))


def produced(row):
    """Grade one submission in this process; return its name and all that is shown of it."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        write(files_of(row), folder / "work")
        text = shown(row, folder)
    return row["name"], text.replace(str(folder), "SCRATCH").rstrip("\n") + "\n"


def all_produced(rows, processes):
    if processes == 1:
        yield from map(produced, rows)
        return
    context = multiprocessing.get_context("spawn")  # the default differs between Pythons
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        try:
            yield from pool.map(produced, rows)
        finally:
            pool.shutdown(cancel_futures=True)


def read(folder):
    """Return recorded texts by name."""
    texts = {}
    for path in folder.glob("*.txt"):
        for block in re.split(f"^{HEADING}", path.read_text("utf-8"), flags=re.M)[1:]:
            name, _, text = block.partition("\n")
            texts[name] = text
    return texts


def save(texts, folder):
    """Write texts to a file for each kind of submission, which its name begins with."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, names in itertools.groupby(sorted(texts), lambda name: name.partition("/")[0]):
        blocks = [f"{HEADING}{name}\n{texts[name]}" for name in names]
        (folder / f"{kind}.txt").write_text("".join(blocks), "utf-8", newline="\n")


def same(old, new):
    """Return whether texts are equal except for how decimal numbers are rounded."""
    if DECIMAL.split(old) != DECIMAL.split(new):
        return False
    numbers = [[float(n.replace(POINT, ".")) for n in DECIMAL.findall(text)] for text in (old, new)]
    return all(
        math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
        for a, b in zip(*numbers, strict=True)
    )


def difference(name, old, new):
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), f"recorded {name}", f"now {name}", lineterm=""
    )
    return "\n".join(lines)


def parse():
    command_line = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = command_line.add_argument
    add("names", nargs="*", help="only these, in this order, such as odd/empty or 'mistake/*'")
    add("--corpus", type=Path, default=CORPUS, help="the submissions")
    add("--expected", type=Path, default=EXPECTED, help="what was recorded")
    add("--record", action="store_true", help="record again")
    add("--out", type=Path, help="write to this folder instead, and compare nothing")
    add("--part", default="1/1", help="such as 2/5: every fifth submission, from the second")
    add("--first", action="store_true", help="stop at the first difference")
    add("--processes", type=int, default=2)
    return command_line.parse_args()


def selected(rows, names, part):
    """Return the rows that the command line asks for."""
    chosen = list(rows)
    if names:
        matches = [fnmatch.filter(rows, name) for name in names]
        if not all(matches):
            sys.exit(f"there is no submission {names[matches.index([])]!r} in {CORPUS.name}/")
        chosen = list(dict.fromkeys(itertools.chain(*matches)))
    number, step = map(int, part.split("/"))
    return [rows[name] for name in chosen[number - 1 :: step]]


def main():
    sys.stdout.reconfigure(encoding="utf-8")
    options = parse()
    rows = corpus_in(options.corpus)
    recorded = read(options.expected)
    chosen = selected(rows, options.names, options.part)
    now = {}
    gone = sorted(recorded.keys() - rows.keys())
    differing = len(gone)
    if gone:
        print(f"recorded, but no longer in the corpus: {', '.join(gone)}")
    results = all_produced(chosen, options.processes)
    for name, text in tqdm(results, total=len(chosen), unit="submission", disable=None):
        old = recorded.get(name, "")
        now[name] = old if same(old, text) else text
        if now[name] == old or options.out:
            continue
        differing += 1
        print(difference(name, old, text), flush=True)
        if options.first:
            return 1
    if options.record or options.out:
        kept = {name: text for name, text in recorded.items() if name in rows and options.record}
        save(kept | now, options.out or options.expected)
    print(f"{len(now)} submissions" + ("" if options.out else f", {differing} differ"))
    return 1 if differing and not options.record else 0


if __name__ == "__main__":
    sys.exit(main())
