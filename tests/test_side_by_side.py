"""The benchmark on real weights: alternating runs give the same results as separate ones."""

import types
from pathlib import Path

import pytest
import torch

from benchmarks.real_bert import Run, report, side_by_side, subset

import classifier
from bert import BertModel
from config import BertConfig

CONFIG = BertConfig(20, 16, 1, 2, 24, max_position_embeddings=12, hidden_dropout_prob=0.5)
RECIPE = classifier.Recipe(epochs=1, batch_size=4, seed=3)


def split() -> types.SimpleNamespace:
    draw = torch.Generator().manual_seed(1)
    ids = torch.randint(5, 20, (24, 9), generator=draw)
    labels = (ids[:, 0] > 12).long()
    return types.SimpleNamespace(input_ids=ids, attention_mask=torch.ones_like(ids), labels=labels)


def fresh(name: str) -> Run:
    torch.manual_seed(0)
    return Run(name, classifier.BertSentimentClassifier(BertModel(CONFIG), 2))


def test_alternating_runs_give_the_same_results_as_separate_ones() -> None:
    runs, alone = [fresh("one"), fresh("two")], fresh("alone")
    data = split()
    ticks: list[None] = []

    side_by_side(runs, data, RECIPE, lambda: ticks.append(None))

    losses: list[float] = []
    tensors = data.input_ids, data.attention_mask, data.labels
    classifier.fine_tune(alone.model, *tensors, RECIPE, losses.append)
    assert runs[0].losses == runs[1].losses == losses
    assert len(ticks) == 2 * len(losses) == 2 * len(runs[0].steps)
    assert all(seconds > 0 for run in runs for seconds in run.steps)


def test_a_run_that_fails_ends_all_of_them_with_its_error() -> None:
    runs = [fresh("one"), fresh("two")]
    torch.nn.init.constant_(runs[1].model.classifier.bias, float("nan"))

    with pytest.raises(FloatingPointError, match="the loss became nan"):
        side_by_side(runs, split(), RECIPE, lambda: None)


def test_the_ratio_is_above_one_where_the_first_is_faster(capsys) -> None:
    runs = [Run("ours", None, [1.0, 1.0], [0.5, 0.4]), Run("theirs", None, [1.0, 2.0], [0.5, 0.4])]

    assert report(runs, range(100)) == 1.5

    assert "minBERT is 1.500 times as fast" in capsys.readouterr().out


def test_a_subset_is_drawn_from_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "all.txt"
    path.write_text("".join(f"{n % 2} ||| sentence {n}\n" for n in range(100)), encoding="utf-8")
    (tmp_path / "out").mkdir()

    kept = subset(path, 10, tmp_path / "out").read_text("utf-8").splitlines()
    whole = subset(path, 0, tmp_path / "out").read_text("utf-8").splitlines()

    assert len(set(kept)) == 10
    lines = path.read_text("utf-8").splitlines()
    assert kept != lines[:10]
    assert sorted(whole) == sorted(lines)
