"""Measuring the sentiment gate: broken models are broken, and the runs determine the threshold."""

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from bert import BertModel
from config import BertConfig
from instructor.gate import measure as measure_gate
from instructor.gate.broken_models import BROKEN
from tests.helpers import ROOT

INVISIBLE_IN_EVAL = {"no_dropout", "no_attention_dropout", "detached"}


@pytest.fixture
def bert() -> BertModel:
    """A model with weights for which every part matters."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 20, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}
    model = BertModel(BertConfig(**sizes, intermediate_size=12, max_position_embeddings=9))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return model.double()


def answer(model: BertModel, training: bool) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return the sentence vectors of two rows, one of them padded, and a gradient."""
    ids = torch.tensor([[3, 4, 5, 6, 7], [8, 9, 10, 0, 0]])
    torch.manual_seed(1)
    output = model.train(training)(ids, (ids > 0).long())["pooler_output"]
    if output.requires_grad:
        output.sum().backward()
    return output.detach(), model.word_embedding.weight.grad if output.requires_grad else None


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_model_differs_from_the_correct_one(bert: BertModel, name: str) -> None:
    broken = copy.deepcopy(bert)

    BROKEN[name](broken)

    if name == "detached":
        assert answer(bert, False)[1] is not None
        assert answer(broken, False)[1] is None
    else:
        training = name in INVISIBLE_IN_EVAL
        assert (answer(bert, training)[0] - answer(broken, training)[0]).abs().max() > 1e-3


def runs_of(accuracies: dict[str, list[float | None]]) -> list[dict[str, Any]]:
    """Return runs as the worker reports them."""
    common = {"seconds": 12.34, "recipe": {"seed": 0}, "torch": "some version"}
    return [
        {"model": model, "seed": seed, "threads": 1 + seed % 2, "accuracy": accuracy} | common
        for model, values in accuracies.items()
        for seed, accuracy in enumerate(values)
    ]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of checkpoint/ and data/, with a card."""
    for name in ("model.safetensors", *measure_gate.DATA_FILES):
        (tmp_path / name).write_text(name, encoding="utf-8")
    card = "before\n<!-- gate:begin -->\nold\n<!-- gate:end -->\nafter\n"
    (tmp_path / "README.md").write_text(card, encoding="utf-8")
    monkeypatch.setattr(measure_gate, "CHECKPOINT", tmp_path)
    monkeypatch.setattr(measure_gate, "DATA", tmp_path)
    monkeypatch.setattr(measure_gate, "CARD", tmp_path / "README.md")
    return tmp_path


def test_the_threshold_is_the_stated_deviations_below_the_mean(files: Path) -> None:
    broken = {name: [0.5] for name in [*BROKEN, measure_gate.LAST_LINEAR_LAYER]}
    runs = runs_of({"honest": [0.96, 0.97, 0.96, 0.97], **broken})

    result = measure_gate.summarise(runs, deviations=15.0)

    assert result["threshold"] == 0.875  # 0.965 - 15 * 0.00577 = 0.8784, rounded down
    assert result["margin_in_deviations"] == pytest.approx(0.09 / 0.00577, rel=0.01)
    assert result["lowest"] == 0.96
    assert result["seconds"] == 12.3


def test_the_threshold_leaves_room_for_a_seed_that_is_far_off(files: Path) -> None:
    broken = {name: [0.5] for name in [*BROKEN, measure_gate.LAST_LINEAR_LAYER]}

    result = measure_gate.summarise(runs_of({"honest": [1.0, 1.0], **broken}), deviations=5.0)

    assert result["threshold"] == 0.925


def test_an_encoder_that_was_not_trained_stays_below_the_threshold(files: Path) -> None:
    broken = {name: [0.5] for name in BROKEN} | {measure_gate.LAST_LINEAR_LAYER: [0.94, 0.95]}

    result = measure_gate.summarise(runs_of({"honest": [1.0, 0.99], **broken}), deviations=2.0)

    assert result["threshold"] == 0.97  # halfway between 0.95 and 0.99


@pytest.mark.parametrize(
    ("accuracies", "verdict"),
    [
        ([0.5, 0.6], "the gate"),
        ([0.5, 0.95], "the gate in 1 of 2; the tensors"),
        ([0.95], "only the tensors"),
    ],
)
def test_a_broken_model_above_the_threshold_is_left_to_the_tensors(
    accuracies: list[float], verdict: str
) -> None:
    assert measure_gate.verdict(accuracies, threshold=0.9) == verdict


def test_a_diverged_run_counts_as_zero() -> None:
    assert measure_gate.accuracies(runs_of({"no_layer_norm": [None]}), "no_layer_norm") == [0.0]


def test_only_the_table_between_the_markers_changes(files: Path) -> None:
    measure_gate.fill_card("new")

    lines = (files / "README.md").read_text(encoding="utf-8").splitlines()
    assert lines == ["before", "<!-- gate:begin -->", "new", "<!-- gate:end -->", "after"]


def test_a_card_without_markers_is_refused(files: Path) -> None:
    (files / "README.md").write_text("nothing\n", encoding="utf-8")

    with pytest.raises(SystemExit, match="cannot insert the table"):
        measure_gate.fill_card("new")


# --- which runs are done again ------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a few sentences, and a record of runs."""
    for name in measure_gate.DATA_FILES:
        lines = (ROOT / "data" / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / name).write_text("".join(lines[:48]), encoding="utf-8")
    monkeypatch.setattr(measure_gate, "DATA", tmp_path)
    monkeypatch.setattr(measure_gate, "RUNS", tmp_path / "gate.jsonl")
    return tmp_path


def test_a_finished_run_is_done_again_only_if_something_that_decides_it_has_changed(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "solution"))
    job = {"model": measure_gate.LAST_LINEAR_LAYER, "seed": 0, "threads": 1}

    measure_gate._do_jobs([job], 1)

    (run,) = measure_gate.read_runs().values()
    assert job.items() < run.items()
    assert 0 <= run["accuracy"] <= 1
    with (small / "dev.txt").open("a", encoding="utf-8") as file:
        file.write("1 ||| one more .\n")
    assert measure_gate.read_runs() == {}


@pytest.mark.parametrize("changed", ["bert.py", "checkpoint", "torch"])
def test_the_solution_the_checkpoint_and_torch_decide_a_run(
    small: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    for name in ("solution", "checkpoint"):
        shutil.copytree(ROOT / name, small / name)
    monkeypatch.setattr(measure_gate, "ROOT", small)
    monkeypatch.setattr(measure_gate, "CHECKPOINT", small / "checkpoint")
    before = measure_gate.origin()

    if changed == "torch":
        monkeypatch.setattr("importlib.metadata.version", lambda name: "1.0")
    elif changed == "checkpoint":
        (small / "checkpoint" / "vocab.txt").write_text("", encoding="utf-8")
    else:
        (small / "solution" / changed).write_text("", encoding="utf-8")

    assert measure_gate.origin() != before
