"""Measure the sentiment threshold: `python -m instructor.gate.measure` (`make gate`).

Fine-tunes the solution over many seeds with one and with two threads, and over a few seeds some of
the known mistakes, which show what accuracy tells and what only tensors do, and a frozen encoder.
The threshold is ROOM below the honest mean, or halfway between the lowest honest run and the best
of the frozen encoder, if that is higher; but always a given number of standard deviations below the
mean. Writes reference_outputs/gate.json and the table in data/README.md. solution/ must be on
PYTHONPATH.

Dimension key: N sentences, T tokens.
"""

import dataclasses
import functools
import importlib.metadata
import itertools
import json
import math
import multiprocessing
import statistics
import sys
import time
import types
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import torch
from tqdm import tqdm

import classifier
from config import BertConfig
from instructor import ROOT
from support import sentences
from tensormark.authoring.course import Course, open_course
from tensormark.files import put_between, sha256, write_whole
from tensormark.folder import open_assignment
from tokenizer import BertTokenizer

CHECKPOINT = ROOT / "checkpoint"
DATA = ROOT / "data"
RESULT = ROOT / "reference_outputs" / "gate.json"
CARD = DATA / "README.md"
DATA_FILES = ("train.txt", "dev.txt")
SEEDS = 20  # honest runs for each number of threads
BROKEN_SEEDS = 5  # runs of each model that is not right
WORKERS = 2  # parallel processes
STEP = 0.005  # thresholds are rounded down to a multiple of this
DEVIATIONS = 5.0  # the least distance from the honest mean: no seed of a correct solution may fail
ROOM = 0.075  # with other batches, one seed in thirty missed 6.5% of the sentences
HONEST = "honest"
LAST_LINEAR_LAYER = "last_linear_layer"
MISTAKES = tuple(
    """gelu_missing no_positions residual_after_norm encode_detached softmax_over_queries no_scale
    mask_ignored no_token_types no_attention_dropout""".split()
)
WRONG = (*MISTAKES, LAST_LINEAR_LAYER)
Run = dict[str, Any]  # a job (model, seed, threads), then also its accuracy, seconds, ...


def _jobs(model: str, seeds: int, threads: int = 1) -> list[Run]:
    return [{"model": model, "seed": seed, "threads": threads} for seed in range(seeds)]


@functools.cache
def _read(name: str) -> sentences.Split:
    """Read sentences, once for all jobs of a process."""
    tokenizer = BertTokenizer.from_pretrained(CHECKPOINT)
    longest = BertConfig.from_json(CHECKPOINT).max_position_embeddings
    return sentences.Split(DATA / name, tokenizer, longest)


@functools.cache
def _solution() -> Course:
    """Open the assignment, once for all jobs of a process."""
    return open_course(open_assignment(ROOT))


def bert_with(mistake: str) -> Any:
    """Return the solution's module bert, with one of MISTAKES or, for any other name, with none."""
    source = _solution().assignment.solution_sources["bert"]
    if mistake in MISTAKES:
        (variant,) = (each for each in _solution().variants if each.id == mistake)
        source = variant.apply(source)
    module = types.ModuleType("bert")
    exec(source, module.__dict__)
    return module


def _run_job(job: Run) -> Run:
    """Fine-tune one model as the grader does, on (N, T) ids and masks, and score it at the end.

    Returns: the job with `accuracy`, None if training diverged; `seconds` of wall time; `recipe`,
        with the rate for this width and the seed used in grading.
    """
    train, dev = map(_read, DATA_FILES)
    torch.set_num_threads(job["threads"])
    frozen = job["model"] == LAST_LINEAR_LAYER
    mode = classifier.LAST_LINEAR_LAYER if frozen else classifier.FULL_MODEL
    recipe = classifier.Recipe(mode, seed=job["seed"])
    torch.manual_seed(recipe.seed)  # before the model is built, as in the grader's worker
    bert = bert_with(job["model"]).BertModel.from_pretrained(CHECKPOINT)
    model = classifier.BertSentimentClassifier(bert, int(train.labels.max()) + 1)
    accuracy = None
    started = time.monotonic()
    try:
        classifier.fine_tune(model, train.input_ids, train.attention_mask, train.labels, recipe)
        predictions = classifier.predict(model, dev.input_ids, dev.attention_mask)
        accuracy = sentences.accuracy(predictions, dev.labels)
    except FloatingPointError:
        pass  # it has diverged
    rates = classifier.learning_rates(recipe, bert.config.hidden_size, recipe.steps(len(train)))
    used = {"learning_rate": max(rates), "seed": classifier.Recipe.seed}
    return job | {
        "accuracy": accuracy,
        "seconds": round(time.monotonic() - started, 2),
        "recipe": dataclasses.asdict(recipe) | used,
    }


def _do_jobs(jobs: list[Run], workers: int) -> list[Run]:
    """Do jobs in parallel processes, and show how many are done."""
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        runs = pool.map(_run_job, jobs)
        return list(tqdm(runs, total=len(jobs), unit="run", file=sys.stdout))


def accuracies(runs: Sequence[Run], model: str, threads: int | None = None) -> list[float]:
    """List a model's accuracies; a diverged run counts as 0."""
    chosen = [run for run in runs if run["model"] == model and threads in (None, run["threads"])]
    return [run["accuracy"] or 0.0 for run in chosen]


def _digests() -> dict[str, dict[str, str]]:
    """Return the digests of the files that the threshold is for."""
    return {
        "checkpoint": {"model.safetensors": sha256(CHECKPOINT / "model.safetensors")},
        "data": {name: sha256(DATA / name) for name in DATA_FILES},
    }


def summarise(runs: Sequence[Run], deviations: float) -> dict[str, Any]:
    """Derive the threshold, and summarize the runs of right and wrong models."""
    honest = accuracies(runs, HONEST)
    seconds = [run["seconds"] for run in runs if (run["model"], run["threads"]) == (HONEST, 1)]
    mean = statistics.mean(honest)
    deviation = statistics.stdev(honest)
    frozen = max(accuracies(runs, LAST_LINEAR_LAYER))
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
        "broken": {name: accuracies(runs, name) for name in WRONG},
        **_digests(),
        "torch": importlib.metadata.version("torch"),  # torch's own may name the build, too
    }


def verdict(scores: Sequence[float], threshold: float) -> str:
    """Name what detects a broken model: the gate, or only the checks of its tensors."""
    caught = sum(accuracy < threshold for accuracy in scores)
    if caught == len(scores):
        return "the gate"
    return f"the gate in {caught} of {len(scores)}; the tensors" if caught else "only the tensors"


def _table(result: dict[str, Any]) -> str:
    threshold = result["threshold"]
    honest = list(itertools.chain(*result["honest"].values()))
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


def main() -> None:
    """Do all runs, then write the threshold and the table."""
    try:
        before = _digests()
    except FileNotFoundError as error:
        raise SystemExit(f"{error.filename}: missing; run `make data checkpoint`") from error
    jobs = _jobs(HONEST, SEEDS)
    for name in WRONG:
        jobs += _jobs(name, BROKEN_SEEDS)
    runs = _do_jobs(jobs, WORKERS)
    runs += _do_jobs(_jobs(HONEST, SEEDS, threads=2), 1)  # two threads fill two cores
    if _digests() != before:
        raise SystemExit("files changed during the runs: run `make gate` again")
    result = summarise(runs, DEVIATIONS)
    table = _table(result)
    print(table)
    if result["lowest"] < result["threshold"]:
        raise SystemExit(f"a correct solution fails at {result['threshold']}: raise DEVIATIONS")
    write_whole(RESULT, json.dumps(result, indent=2) + "\n")
    write_whole(CARD, put_between(CARD.read_text(encoding="utf-8"), "gate", f"\n{table}\n"))
    print(f"wrote {RESULT} and the table in {CARD}")


if __name__ == "__main__":
    main()
