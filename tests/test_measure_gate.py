"""Measuring the sentiment gate: broken models are broken, and the runs determine the threshold."""

import copy
from pathlib import Path

import pytest
import torch

from bert import BertModel
from config import BertConfig
from instructor.gate import grades, measure
from instructor.gate.broken_models import BROKEN

INVISIBLE_IN_EVAL = {"no_dropout", "no_attention_dropout", "detached"}
FROZEN = measure.LAST_LINEAR_LAYER


@pytest.fixture
def bert():
    """A model with weights for which every part matters."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 20, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}
    model = BertModel(BertConfig(**sizes, intermediate_size=12, max_position_embeddings=9))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return model.double()


def answer(model, training):
    """Return the sentence vectors of two rows, one of them padded, and a gradient."""
    ids = torch.tensor([[3, 4, 5, 6, 7], [8, 9, 10, 0, 0]])
    torch.manual_seed(1)
    output = model.train(training)(ids, (ids > 0).long())["pooler_output"]
    if output.requires_grad:
        output.sum().backward()
    return output.detach(), model.word_embedding.weight.grad if output.requires_grad else None


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_model_differs_from_the_correct_one(bert, name):
    broken = copy.deepcopy(bert)

    BROKEN[name](broken)

    if name == "detached":
        assert answer(bert, False)[1] is not None
        assert answer(broken, False)[1] is None
    else:
        training = name in INVISIBLE_IN_EVAL
        assert (answer(bert, training)[0] - answer(broken, training)[0]).abs().max() > 1e-3


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
    runs = runs_of({"honest": honest, **{name: [0.5] for name in BROKEN}, FROZEN: frozen})

    result = measure.summarise(runs, deviations)

    assert result["threshold"] == threshold
    assert result["lowest"] == min(honest)
    assert result["seconds"] == 12.3


def test_a_diverged_run_counts_as_zero():
    assert measure.accuracies(runs_of({"no_layer_norm": [None]}), "no_layer_norm") == [0.0]


@pytest.mark.slow  # it fits the bags of words
def test_the_table_of_grades_has_means_and_spread_over_seeds(monkeypatch):
    by_seed = {"1": [0.5, 0.3], "2": [0.7, 0.4]}
    monkeypatch.setattr(grades, "score", lambda folders: by_seed[folders[0].parent.name])

    lines = grades.table([Path("1"), Path("2")]).splitlines()

    assert "| default | 0.600 (0.500 to 0.700) | 0.350 |" in lines
    assert lines[-2] == "| tuned, five seeds averaged | 0.500 | 0.300 |"
