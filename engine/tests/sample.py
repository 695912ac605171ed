"""Result models for tests of reports: one with everything in it, and ways to put text into it."""

import copy
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from tensormark.judging.compare import Pair, Tolerance
from tensormark.judging.excerpt import excerpt
from tensormark.result import Finding, Grade, Outcome, Result
from tensormark.toolkit.measured import accuracy_curve, confusion, loss_curve

NOT_FREE_TEXT = {*"outcome mode tier references file started since only".split()}


def wrong_pair(shape: tuple[int, ...] = (3, 7, 10)) -> Pair:
    expected = np.linspace(-2.0, 2.0, int(np.prod(shape))).reshape(shape)
    got = np.where(np.arange(expected.size).reshape(shape) % 3, expected, expected + 0.5)
    return Pair("output", got.astype(np.float32), expected, Tolerance(1e-5, 1e-5))


def measured() -> dict[str, Any]:
    labels = np.arange(40) % 2
    predictions = np.where(np.arange(40) % 8, labels, 1 - labels)
    tensors = {
        "out/losses": np.linspace(0.7, 0.1, 750, dtype=np.float32),
        **{f"out/after/{n}": np.where(np.arange(40) % n, labels, 0) for n in (1, 2, 3)},
    }
    curves = accuracy_curve(tensors, 0.875, labels, 0.84, "dev accuracy") + loss_curve(tensors)
    accuracy = {"name": "dev accuracy", "value": 0.875, "threshold": 0.84, "curves": curves}
    return accuracy | confusion(
        labels, predictions, [f"sentence {n}" for n in range(40)], ("bad", "good")
    )


def grade() -> Grade:
    padding = np.zeros((3, 7), dtype=bool)
    padding[1, 4:] = True
    shown = excerpt(wrong_pair(), {3: ("row", "token", "unit")}, padding)
    details = ("70 of 210 values differ (main.py, line 7)", 'read: handout.md, "The mask"')
    first = Finding("computed without the mask", details, "mask_ignored", shown)
    also = Finding("there is no dropout", ("the same call",))
    about = {
        "title": "a title",
        "file": "main.py",
        "handout": (("The mask", "handout.md", "the-mask"),),
    }
    results = [
        Result("attention", Outcome.FAILED, 0.0, 25, (first, also), **about),
        Result("add_norm", Outcome.PASSED, 10, 10, note="right when given others", **about),
        Result("layer", Outcome.NOT_WRITTEN, 0.0, 15, **about),
        Result("encode", Outcome.BLOCKED, 0.0, 10, note="by layer", **about),
        Result("embed", Outcome.COULD_NOT_GRADE, None, 20, note="no reference", **about),
        Result("sentiment", Outcome.PASSED, 20, 20, task=True, measured=measured(), **about),
        Result("adamw", Outcome.PASSED, 7.5, 10, bonus=True, **about),
        Result("wordpiece", Outcome.NOT_WRITTEN, 0.0, 6, bonus=True, **about),
    ]
    return Grade(
        submission="mine/main.py",
        tier="process",
        results=results,
        notes=["config.py was modified"],
        flags=["conv: library code that ran: builtins.exec"],
        name="main.py",
        assignment="Example",
        reference_digest="0" * 64,
        started="2026-11-22T10:00:00+00:00",
        seconds=12.34,
        versions={"Python": "3.11.7"},
        printed="shape 3\n\tshape 4\n",
    )


def model() -> dict[str, Any]:
    """Return the model of that grade, with changes since the last run."""
    before = {"outcome": "failed", "score": 0}
    after = {"outcome": "passed", "score": 10}
    changed = {"id": "add_norm", "before": before, "after": after}
    since = "2026-11-21T09:00:00+00:00"
    return grade().as_json() | {"changes": {"since": since, "exercises": [changed]}}


def complete() -> dict[str, Any]:
    """Return the model of a grade in which everything could be graded."""
    whole = grade()
    whole.results = [result for result in whole.results if result.score is not None]
    return whole.as_json()


def with_text(
    value: Any, change: Callable[[str], str], kept: Collection[str] = NOT_FREE_TEXT
) -> Any:
    """Return a copy of a model with every text changed, except those with the kept names."""
    if isinstance(value, dict):
        return {
            name: item if name in kept else with_text(item, change, kept)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [with_text(item, change, kept) for item in value]
    return change(value) if isinstance(value, str) and value else value


def largest() -> dict[str, Any]:
    """Return a model as large as reports can get: all exercises fail with large excerpts."""
    whole = model()
    shown = excerpt(wrong_pair((9, 300, 300)), {}, None)
    exercise = copy.deepcopy(whole["exercises"][0])
    finding = exercise["findings"][0] | {"excerpt": shown, "details": ["x" * 5000] * 50}
    failing = exercise | {"findings": [finding] * 3, "measured": measured()}
    whole["exercises"] = [failing | {"id": f"exercise_{n}"} for n in range(18)]
    whole["printed"] = "<&>" * 6000
    return whole
