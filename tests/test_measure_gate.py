"""Measuring the sentiment gate: which models run, and how the runs determine the threshold."""

from pathlib import Path

import pytest

from instructor.gate import grades, measure

FROZEN = measure.LAST_LINEAR_LAYER


def code_in(module):
    """Return the code of all methods of a module's own classes."""
    own = [each for each in vars(module).values() if getattr(each, "__module__", "") == "bert"]
    return [getattr(value, "__code__", None) for each in own for value in vars(each).values()]


@pytest.mark.parametrize("mistake", measure.MISTAKES)
def test_a_mistake_that_is_measured_is_made_in_the_model(mistake):
    right = measure.bert_with(measure.HONEST)

    wrong = measure.bert_with(mistake)

    assert code_in(right) == code_in(measure.bert_with(FROZEN))
    assert code_in(right) != code_in(wrong)


def runs_of(accuracies):
    """Return runs as the worker reports them."""
    runs = []
    for model, values in accuracies.items():
        common = {"model": model, "seconds": 12.34, "recipe": {"seed": 0}}
        runs += [
            {"seed": seed, "threads": 1 + seed % 2, "accuracy": accuracy} | common
            for seed, accuracy in enumerate(values)
        ]
    return runs


@pytest.mark.parametrize(
    ("honest", "frozen", "deviations", "threshold"),
    [
        ([0.96, 0.97, 0.96, 0.97], [0.5], 15.0, 0.875),  # 0.965 - 15 * 0.00577, rounded down
        ([1.0, 1.0], [0.5], 5.0, 0.925),  # leaves room for a seed that is far off
        ([1.0, 0.99], [0.94, 0.95], 2.0, 0.97),  # halfway: one not trained stays below
    ],
)
def test_the_runs_determine_the_threshold(honest, frozen, deviations, threshold):
    runs = runs_of({"honest": honest, **{name: [0.5] for name in measure.MISTAKES}, FROZEN: frozen})

    result = measure.summarise(runs, deviations)

    assert result["threshold"] == threshold
    assert result["lowest"] == min(honest)
    assert result["seconds"] == 12.3


def test_a_diverged_run_counts_as_zero():
    assert measure.accuracies(runs_of({"no_scale": [None]}), "no_scale") == [0.0]


@pytest.mark.slow  # it fits the bags of words
def test_the_table_of_grades_has_means_and_spread_over_seeds(monkeypatch):
    by_seed = {"1": [0.5, 0.3], "2": [0.7, 0.4]}
    monkeypatch.setattr(grades, "score", lambda folders: by_seed[folders[0].parent.name])

    lines = grades.table([Path("1"), Path("2")]).splitlines()

    assert "| default | 0.600 (0.500 to 0.700) | 0.350 |" in lines
    assert lines[-2] == "| tuned, five seeds averaged | 0.500 | 0.300 |"
