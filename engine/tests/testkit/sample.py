"""Result models for tests of reports: one with everything in it, and ways to put text into it."""

import copy
import json
from pathlib import Path

import numpy as np

from tensormark.judging.compare import Pair, Tolerance
from tensormark.judging.excerpt import excerpt

NOT_FREE_TEXT = set("outcome mode tier references file started since only".split())
MODEL = json.loads(Path(__file__).with_name("sample.json").read_bytes())


def model():
    """Return a model that has every outcome, figures and a bonus."""
    return copy.deepcopy(MODEL)


def complete():
    """Return that model without what could not be graded."""
    whole = model()
    whole["exercises"] = [each for each in whole["exercises"] if each["score"] is not None]
    return whole


def with_text(value, change, kept=NOT_FREE_TEXT):
    """Return a copy of a model with every text changed, except those with the kept names."""
    if isinstance(value, dict):
        return {
            name: item if name in kept else with_text(item, change, kept)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [with_text(item, change, kept) for item in value]
    return change(value) if isinstance(value, str) and value else value


def largest():
    """Return a model as large as reports can get: all exercises fail with large excerpts."""
    whole = model()
    measured = next(each["measured"] for each in whole["exercises"] if each["measured"])
    shape = (9, 300, 300)
    shown = excerpt(Pair("output", np.ones(shape), np.zeros(shape), Tolerance(0.0, 0.1)), {}, None)
    exercise = whole["exercises"][0]
    finding = exercise["findings"][0] | {"excerpt": shown, "details": ["x" * 5000] * 50}
    failing = exercise | {"findings": [finding] * 3, "measured": measured}
    whole["exercises"] = [failing | {"id": f"exercise_{n}"} for n in range(18)]
    whole["printed"] = "<&>" * 6000
    return whole
