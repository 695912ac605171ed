"""Measure the sentiment threshold: `python -m instructor.gate.measure` (`make gate`).

Fine-tunes the solution over many seeds with one and with two threads, and the broken models of
instructor.gate.broken_models over a few. The threshold is ROOM below the honest mean, or halfway
between the lowest honest run and the best model whose encoder was not trained, if that is higher;
but always a given number of standard deviations below the mean. Writes
reference_outputs/gate.json and the table in data/README.md.

Runs are recorded in runs/gate.jsonl, and repeated only if torch, the solution, the checkpoint, the
data or a program of the gate has changed since. solution/ must be on PYTHONPATH.
"""

import importlib.metadata
import json
import math
import multiprocessing
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from instructor import ROOT
from instructor.gate.broken_models import BROKEN
from instructor.gate.worker import HONEST, LAST_LINEAR_LAYER, Run, begin, run_job
from tensormark.files import digest, put_between, python_files, sha256, write_whole

CHECKPOINT = ROOT / "checkpoint"
DATA = ROOT / "data"
RUNS = ROOT / "runs" / "gate.jsonl"
RESULT = ROOT / "reference_outputs" / "gate.json"
CARD = DATA / "README.md"
DATA_FILES = ("train.txt", "dev.txt")
SEEDS = 20  # honest runs for each number of threads
BROKEN_SEEDS = 5  # runs of each broken model
WORKERS = 2  # parallel processes
STEP = 0.005  # thresholds are rounded down to a multiple of this
DEVIATIONS = 5.0  # the least distance from the honest mean: no seed of a correct solution may fail
ROOM = 0.075  # with other batches, one seed in thirty missed 6.5% of the sentences
NOT_TRAINED = ("detached", LAST_LINEAR_LAYER)  # must stay below the threshold


def _all_jobs(seeds: int, broken_seeds: int) -> list[Run]:
    names = [*BROKEN, LAST_LINEAR_LAYER]
    broken = [(name, seed, 1) for seed in range(broken_seeds) for name in names]
    honest, twins = ([(HONEST, seed, threads) for seed in range(seeds)] for threads in (1, 2))
    return [
        {"model": model, "seed": seed, "threads": threads}
        for model, seed, threads in honest + broken + twins
    ]


def key_of(run: Run) -> tuple[str, int, int]:
    """Return what identifies a job."""
    return run["model"], run["seed"], run["threads"]


def origin() -> str:
    """Return a digest of all that decides the result of a job."""
    files = [
        *python_files(ROOT / "solution").values(),
        *sorted(Path(__file__).parent.glob("*.py")),
        *(path for path in sorted(CHECKPOINT.iterdir()) if path.name != CARD.name),
        *(DATA / name for name in DATA_FILES),
    ]
    digests = [sha256(path) for path in files]
    return digest(repr((importlib.metadata.version("torch"), digests)).encode())


def read_runs() -> dict[tuple[str, int, int], Run]:
    """Read earlier runs of the same origin."""
    here = origin()
    if not RUNS.exists():
        return {}
    runs = [json.loads(line) for line in RUNS.read_text(encoding="utf-8").splitlines()]
    return {key_of(run): run for run in runs if run.get("origin") == here}


def _do_jobs(waiting: list[Run], workers: int) -> None:
    """Do jobs in parallel processes, and record each as soon as it is done."""
    here = {"origin": origin()}
    started = time.monotonic()
    RUNS.parent.mkdir(exist_ok=True)
    with ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), begin, (DATA, CHECKPOINT)
    ) as pool:
        futures = [pool.submit(run_job, job, CHECKPOINT) for job in waiting]
        for count, future in enumerate(as_completed(futures), start=1):
            run = future.result()
            with RUNS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(run | here) + "\n")
            left = (time.monotonic() - started) / count * (len(waiting) - count) / 60
            accuracy = "diverged" if run["accuracy"] is None else f"{run['accuracy']:.4f}"
            what = f"{run['model']} seed {run['seed']} threads {run['threads']}"
            seconds = f"{run['seconds']:.1f} s, {left:.0f} min left"
            print(f"{count}/{len(waiting)}  {what}  {accuracy}  {seconds}", flush=True)


def accuracies(runs: Sequence[Run], model: str, threads: int | None = None) -> list[float]:
    """List a model's accuracies; a diverged run counts as 0."""
    chosen = [run for run in runs if run["model"] == model and threads in (None, run["threads"])]
    return [run["accuracy"] or 0.0 for run in chosen]


def summarise(runs: Sequence[Run], deviations: float) -> dict[str, Any]:
    """Derive the threshold, and summarize the runs of honest and broken models."""
    honest = accuracies(runs, HONEST)
    seconds = [run["seconds"] for run in runs if (run["model"], run["threads"]) == (HONEST, 1)]
    mean = statistics.mean(honest)
    deviation = statistics.stdev(honest)
    frozen = max(accuracy for name in NOT_TRAINED for accuracy in accuracies(runs, name))
    goal = max(mean - ROOM, (frozen + min(honest)) / 2)
    threshold = math.floor(min(goal, mean - deviations * deviation) / STEP) * STEP
    first = next(run for run in runs if run["model"] == HONEST)
    return {
        "threshold": round(threshold, 4),
        "seed": first["recipe"]["seed"],
        "recipe": first["recipe"],
        "mean": round(mean, 5),
        "standard_deviation": round(deviation, 5),
        "margin_in_deviations": round((mean - threshold) / max(deviation, 1e-9), 2),
        "lowest": min(honest),
        "seconds": round(statistics.median(seconds), 1),
        "honest": {f"{n} threads": accuracies(runs, HONEST, n) for n in (1, 2)},
        "broken": {name: accuracies(runs, name) for name in [*BROKEN, LAST_LINEAR_LAYER]},
        "checkpoint": {"model.safetensors": sha256(CHECKPOINT / "model.safetensors")},
        "data": {name: sha256(DATA / name) for name in DATA_FILES},
        "torch": first["torch"],
    }


def verdict(scores: Sequence[float], threshold: float) -> str:
    """Name what detects a broken model: the gate, or only the checks of its tensors."""
    caught = sum(accuracy < threshold for accuracy in scores)
    if caught == len(scores):
        return "the gate"
    return f"the gate in {caught} of {len(scores)}; the tensors" if caught else "only the tensors"


def _table(result: dict[str, Any]) -> str:
    threshold = result["threshold"]
    honest = [accuracy for scores in result["honest"].values() for accuracy in scores]
    twins = zip(*result["honest"].values(), strict=True)
    rounding = max(abs(first - second) for first, second in twins)
    lines = [
        f"The gate is a threshold of {threshold:.3f}: {len(honest)} honest fine-tunes have a mean "
        f"of {result['mean']:.4f}, {result['margin_in_deviations']:.1f} standard deviations of "
        f"{result['standard_deviation']:.4f} above it. The lowest honest run is {min(honest):.4f}.",
        "",
        "Rounding depends on the processor and the number of threads: between one and two threads, "
        f"a seed's accuracy differs by up to {rounding:.4f}. The lowest run is "
        f"{min(honest) - threshold:.4f} above the threshold.",
        "",
        "| model | dev accuracy | lowest to highest | noticed by |",
        "| --- | --- | --- | --- |",
        f"| right | {result['mean']:.3f} | {min(honest):.3f} to {max(honest):.3f} | |",
    ]
    for name, scores in sorted(result["broken"].items(), key=lambda item: statistics.mean(item[1])):
        spread = f"{min(scores):.3f} to {max(scores):.3f}"
        words = name.replace("_", " ")
        lines.append(
            f"| {words} | {statistics.mean(scores):.3f} | {spread} | {verdict(scores, threshold)} |"
        )
    return "\n".join(lines)


def fill_card(text: str) -> None:
    """Put a text between the markers of the data card."""
    try:
        card = put_between(CARD.read_text(encoding="utf-8"), "gate", f"\n{text}\n")
    except (OSError, ValueError) as error:
        raise SystemExit(f"{CARD}: cannot insert the table: {error}") from error
    write_whole(CARD, card)


def main() -> None:
    """Do the missing runs, then write the threshold and the table."""
    try:
        jobs = _all_jobs(SEEDS, BROKEN_SEEDS)
        finished = read_runs()
        waiting = [job for job in jobs if key_of(job) not in finished]
        print(f"{len(jobs) - len(waiting)} of {len(jobs)} runs are in {RUNS}")
        _do_jobs([job for job in waiting if job["threads"] == 1], WORKERS)
        _do_jobs([job for job in waiting if job["threads"] > 1], 1)  # two threads fill two cores
    except FileNotFoundError as error:
        raise SystemExit(f"{error.filename}: missing; run `make data checkpoint`") from error
    finished = read_runs()
    left = [job for job in jobs if key_of(job) not in finished]
    if left:
        raise SystemExit(f"files changed during {len(left)} runs: run `make gate` again")
    result = summarise([finished[key_of(job)] for job in jobs], DEVIATIONS)
    print(_table(result))
    if result["lowest"] < result["threshold"]:
        raise SystemExit(f"a correct solution fails at {result['threshold']}: raise DEVIATIONS")
    write_whole(RESULT, json.dumps(result, indent=2) + "\n")
    fill_card(_table(result))
    print(f"wrote {RESULT} and the table in {CARD}")


if __name__ == "__main__":
    main()
