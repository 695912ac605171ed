"""The same submission, the same score: `python -m benchmarks.same_score [--runs 50]` (`make soak`).

Grades a submission with two mistakes, fine-tune included, again and again, over 1, 2 and 4 threads
and every tier that the machine gives, and fails when two results differ in a score, an outcome or
the name of a mistake. Accuracies may differ between thread counts; how much is printed.
"""

import argparse
import itertools
import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tqdm import tqdm

from grader.assignment import ASSIGNMENT
from instructor import ROOT
from tensormark.grading import Grading
from tensormark.sandbox.interface import TIERS
from tensormark.settings import Settings

THREADS = (1, 2, 4)
MISTAKES = (
    ("self.dropout(F.softmax(", "(F.softmax("),  # costs a part of attention
    ("words + positions + token_types", "words + positions"),  # costs embed
)


def submission(folder: Path) -> Path:
    """Write a bert.py with mistakes."""
    source = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    for right, wrong in MISTAKES:
        if source.count(right) != 1:
            raise SystemExit(f"same_score: solution/bert.py has not once {right!r}")
        source = source.replace(right, wrong)
    path = folder / "bert.py"
    path.write_text(source, encoding="utf-8")
    return path


def result(path: Path, tier: str, threads: int) -> dict[str, Any]:
    """Grade it."""
    settings = Settings.of(ROOT, tier=tier, threads=threads)
    return Grading(settings, ASSIGNMENT).grade(str(path)).as_json()


def verdict(found: dict[str, Any]) -> str:
    """Return everything that must not differ."""
    parts = ("id", "outcome", "score", "max_score", "mistake")
    rows = [{part: exercise[part] for part in parts} for exercise in found["exercises"]]
    return json.dumps([found["score"], found["max_score"], rows])


def main() -> int:
    """Grade, compare and print."""
    parser = argparse.ArgumentParser(prog="same_score", description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=50)
    runs = parser.parse_args().runs
    verdicts: Counter[str] = Counter()
    accuracies: dict[int, Counter[str]] = {threads: Counter() for threads in THREADS}
    left_out: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = submission(Path(folder))
        tiers = []
        for tier in TIERS:
            found = result(path, tier, 1)
            faults = [e["message"] for e in found["exercises"] if e["score"] is None]
            if faults:
                left_out[tier] = faults[0]
            else:
                tiers.append(tier)
        places = itertools.cycle(itertools.product(tiers, THREADS))
        for tier, threads in tqdm(itertools.islice(places, runs), total=runs):
            found = result(path, tier, threads)
            verdicts[verdict(found)] += 1
            message = next(e["message"] for e in found["exercises"] if e["id"] == "sentiment")
            accuracies[threads].update(re.findall(r"0\.\d+", message)[:1])
    for tier, why in left_out.items():
        print(f"left out: {tier}: {why}")
    for threads, seen in accuracies.items():
        print(f"{threads} threads: dev accuracy {dict(seen)}")
    print(f"{runs} runs over {', '.join(tiers)}: {len(verdicts)} different verdicts")
    for text, count in verdicts.items():
        print(f"{count:4}  score {json.loads(text)[0]:g} of {json.loads(text)[1]:g}")
    return 0 if len(verdicts) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
