"""pretrain.py: it learns with a student's extensions, and says what is missing or wrong in them."""

import json
from itertools import islice
from pathlib import Path

import pytest
import torch
from torch import Tensor

import classifier
import pretrain
import training
from config import BertConfig
from conftest import ROOT
from pretraining import BertForPreTraining
from small import CONFIG, nothing, raising
from small import tiny as tiny
from tokenizer import BertTokenizer


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_pretraining_writes_a_model_and_its_curve_into_one_folder(
    tiny: list[str], tmp_path: Path, monkeypatch, capsys
) -> None:
    before = files_below(tmp_path)
    monkeypatch.chdir(tmp_path)

    assert pretrain.main([*tiny, "--steps", "3"]) == 0

    names = ("config.json", "curve.json", "curve.png", "model.safetensors", "tokenizer.json")
    assert files_below(tmp_path) - before == {f"runs/pretrained/{name}" for name in names}
    model = BertForPreTraining.from_pretrained(tmp_path / "runs" / "pretrained")
    assert model.config == CONFIG  # with its dropout, although training used none
    output = capsys.readouterr().out
    assert output.index("before:") < output.index("after:")
    assert output.count("harbor gets five [MASK] .") == 2
    assert output.endswith("wrote the model and its curve, curve.png, to runs/pretrained\n")


def test_a_pretrained_folder_can_be_fine_tuned(tiny: list[str], tmp_path: Path) -> None:
    assert pretrain.main([*tiny, "--steps", "2", "--save", str(tmp_path / "own")]) == 0
    lines = tmp_path / "lines.txt"
    lines.write_text("1 ||| harbor is witty .\n0 ||| avoid harbor .\n", encoding="utf-8")
    data = ["--train", str(lines), "--dev", str(lines), "--predictions", str(tmp_path / "p")]

    options = ["--checkpoint", str(tmp_path / "own"), *data, "--epochs", "1", "--device", "cpu"]
    assert classifier.main(options) == 0


def test_both_losses_of_pretraining_are_what_the_tasks_should_have_at_first(
    tiny: list[str], tmp_path: Path
) -> None:
    assert pretrain.main([*tiny, "--steps", "1", "--save", str(tmp_path)]) == 0

    curve = json.loads((tmp_path / "curve.json").read_text(encoding="utf-8"))
    assert curve["masked tokens"][0] == pytest.approx(torch.tensor(20.0).log().item(), abs=0.2)
    assert curve["next sentence"][0] == pytest.approx(torch.tensor(2.0).log().item(), abs=0.1)


def test_the_staffs_curve_begins_as_the_solution_does() -> None:
    folder = ROOT / "checkpoint"
    recorded = pretrain.read_losses(folder / pretrain.STAFF)
    tokenizer = BertTokenizer.from_pretrained(folder)
    reviews = training.read_reviews(ROOT / "data" / "pretraining.txt", pretrain.REVIEWS)
    torch.manual_seed(0)
    model = pretrain.fresh(BertConfig.from_json(folder))

    steps = pretrain.pretrain(
        model, tokenizer, pretrain.spell(reviews, tokenizer), pretrain.Recipe()
    )
    losses = list(islice(steps, 4))

    assert recorded is not None
    assert len(recorded) == pretrain.Recipe.steps
    for parts, expected in zip(losses, recorded, strict=False):
        assert parts == pytest.approx(expected, abs=2e-3)


def test_the_staffs_curve_falls_in_both_tasks() -> None:
    curve = pretrain.read_losses(ROOT / "checkpoint" / pretrain.STAFF)
    assert curve is not None

    first, last = training.average(curve[:20]), training.average(curve[-100:])
    assert first[0] - last[0] > 3.0
    assert first[1] - last[1] > 0.15


@pytest.mark.parametrize(("offset", "is_noticed"), [(0.1, False), (0.3, True)])
def test_a_loss_far_from_the_staffs_is_noticed(offset: float, is_noticed: bool, capsys) -> None:
    staff = [(1.6, 0.5)] * 500

    pretrain.compare([(1.6, 0.5 + offset)] * 500, staff)

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "the staff's solution: masked tokens 1.600  next sentence 0.500"
    assert (len(lines) == 2) == is_noticed


HOLES = [
    ("mask_tokens", "pretraining.py"),
    ("make_sentence_pairs", "pretraining.py"),
    ("pair_batch", "pretraining.py"),
    ("pretraining_loss", "pretraining.py"),
    ("wordpiece", "pretraining.py"),
]


@pytest.mark.parametrize(("name", "file"), HOLES)
def test_an_extension_that_pretraining_lacks_is_named(
    tiny: list[str], tmp_path: Path, monkeypatch, capsys, name: str, file: str
) -> None:
    monkeypatch.setattr(pretrain, name, raising(file, name))

    assert pretrain.main([*tiny, "--save", str(tmp_path / "own")]) == 1

    assert capsys.readouterr().err == f"{file}: Problem ({name}) is not written yet\n"


def not_a_number(*args: object) -> Tensor:
    return torch.tensor(float("nan"), requires_grad=True)


WRONG = [
    ("mask_tokens", nothing, "mask_tokens should return two tensors"),
    (
        "mask_tokens",
        lambda ids, *rest: (ids, ids[0]),
        "mask_tokens should return a tensor of shape",
    ),
    ("pair_batch", nothing, "pair_batch should return a dict with input_ids, attention_mask"),
    ("make_sentence_pairs", nothing, "make_sentence_pairs should return a list of pairs"),
    ("wordpiece", nothing, "wordpiece should return a list of 15 lists of ids"),
    (
        "pretraining_loss",
        nothing,
        "pretraining_loss should return a tensor of shape (), got NoneType",
    ),
    ("pretraining_loss", not_a_number, "the loss became nan in step 1"),
]


@pytest.mark.parametrize(("name", "wrong", "message"), WRONG)
def test_a_wrong_result_in_pretraining_is_reported_in_one_line(
    tiny: list[str], tmp_path: Path, monkeypatch, capsys, name, wrong, message: str
) -> None:
    monkeypatch.setattr(pretrain, name, wrong)

    assert pretrain.main([*tiny, "--save", str(tmp_path / "own")]) == 1

    output = capsys.readouterr().err
    assert output.startswith(f"pretrain.py: {message}")
    assert output.endswith("; `make check` grades each function by itself\n")
    assert output.count("\n") == 1
    assert not (tmp_path / "own" / "model.safetensors").exists()
