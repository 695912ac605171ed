"""The same score on every processor: `python -m benchmarks.other_processors [--mistakes 60]`.

Grades the solution, honest variants and known mistakes as other processors compute: with the plain
instructions of torch and MKL, with the widest that this processor has, and with more threads. Fails
when two results differ in an outcome, a score or the name of a mistake. `--fine-tunes N` also
prints the dev accuracies of the solution with N seeds.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from grader.assignment import ASSIGNMENT
from instructor import ROOT
from tensormark.authoring.course import open_course
from tensormark.authoring.variants import apply
from tensormark.grading import program_of
from tensormark.intake.inspection import inspected_here
from tensormark.intake.submission import Submission
from tensormark.observer import Silent
from tensormark.references import References
from tensormark.sandbox.process import ProcessSandbox
from tensormark.sandbox.worker_process import PROCESSOR
from tensormark.session import GradingSession
from tensormark.settings import Settings

Place = tuple[dict[str, str], int]  # what the environment says, and the number of threads
PARTS = ("id", "outcome", "score", "max_score", "mistake")


def places() -> dict[str, Place]:
    """Return, by name, the processors that this one can compute as."""
    torch, mkl = PROCESSOR
    flags = Path("/proc/cpuinfo")
    words = flags.read_text(encoding="utf-8").split() if flags.is_file() else []
    levels = [level for level in ("avx2", "avx512") if any(w.startswith(level) for w in words)]
    return {
        "as it is": ({}, 1),
        "2 threads": ({}, 2),
        **{level: ({torch: level}, 1) for level in levels},
        "plain torch": ({torch: "default"}, 1),
        "plain MKL": ({mkl: "COMPATIBLE"}, 1),
        "plain, 2 threads": ({torch: "default", mkl: "COMPATIBLE"}, 2),
    }


def submissions(mistakes: int) -> Iterator[tuple[str, str, str, str | None]]:
    """Yield a name, a module, its source, and the exercise that it is graded for; None: all."""
    course = open_course(ASSIGNMENT)
    sources = course.sources()
    for module in dict.fromkeys(one.module for one in ASSIGNMENT.exercises if one.probes):
        yield f"solution {module}", module, sources[module], None
    for right in course.honest:
        yield f"honest {right.id}", right.module, right.apply(sources[right.module]), None
    known = course.variants
    for number in range(min(mistakes, len(known))):
        wrong = known[number * len(known) // min(mistakes, len(known))]
        source = apply(wrong, sources[wrong.module])
        yield f"mistake {wrong.id}", wrong.module, source, wrong.exercise


def verdicts(place: Place, handed_in: list[tuple[str, str, str, str | None]]) -> dict[str, str]:
    """Grade submissions on a processor; return everything that must not differ, by name."""
    environment, threads = place
    settings, found = Settings.of(ROOT, threads=threads), {}
    references = References(settings.references)
    given = {path.stem: path.read_text("utf-8") for path in (ROOT / "starter").glob("*.py")}
    os.environ.update(environment)
    with ProcessSandbox(program_of(ASSIGNMENT, [], given, settings)) as sandbox:
        for name, module, source, exercise in tqdm(handed_in, leave=False, disable=None):
            sandbox.reload(given | {module: source})
            table = [e for e in ASSIGNMENT.exercises if e.probes and e.module == module]
            chosen = [e for e in table if exercise in (None, e.id)]
            submission = inspected_here(Submission(f"{module}.py", {module: source}, {}))
            about = sandbox, references, settings, Silent()
            results = GradingSession(ASSIGNMENT, chosen, submission, *about).run()
            rows = [[one.as_json()[part] for part in PARTS] for one in results.values()]
            found[name] = json.dumps(rows)
    for name in environment:
        del os.environ[name]
    return found


def accuracies(place: Place, seeds: int) -> list[Any]:
    """Fine-tune the solution as the gate does; return its dev accuracies."""
    environment, threads = place
    jobs = [{"model": "honest", "seed": seed, "threads": threads} for seed in range(seeds)]
    folders = [str(ROOT / "checkpoint"), str(ROOT / "data")]
    command = [sys.executable, "-m", "instructor.gate.worker", *folders]
    own = {"PYTHONPATH": str(ROOT / "solution"), "OMP_WAIT_POLICY": "PASSIVE"}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | own | environment,
        input="\n".join(map(json.dumps, jobs)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(line)["accuracy"] for line in done.stdout.splitlines()]


def main() -> int:
    """Grade, compare and print."""
    parser = argparse.ArgumentParser(prog="other_processors", description=__doc__.split("\n")[0])
    parser.add_argument("--mistakes", type=int, default=60)
    parser.add_argument("--fine-tunes", type=int, default=0)
    options = parser.parse_args()
    handed_in = list(submissions(options.mistakes))
    first: dict[str, str] = {}
    differ = 0
    for name, place in places().items():
        found = verdicts(place, handed_in) if handed_in else {}
        first = first or found
        wrong = [one for one, verdict in found.items() if verdict != first[one]]
        differ += len(wrong)
        print(f"{name}: {len(found) - len(wrong)} of {len(found)} verdicts are the same")
        for one in wrong:
            print(f"  {one}\n    {first[one]}\n    {found[one]}")
        if options.fine_tunes:
            print(f"{name}: dev accuracies {accuracies(place, options.fine_tunes)}", flush=True)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
