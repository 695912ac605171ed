"""pretrain.py: it learns with a student's extensions, and says what is missing or wrong in them."""

import re
import shutil
import sys
from pathlib import Path

import pytest
import torch

import classifier
import pretrain
from graded import ran
from pretraining import BertForPreTraining
from tests.helpers import ROOT
from tests.helpers.handout import TEXT
from tests.helpers.tiny_model import CONFIG, raising, refusal
from tests.helpers.tiny_model import tiny as tiny

LOSSES = re.compile(r"step (\d+)  masked tokens (\d\.\d+)  next sentence (\d\.\d+)")


def test_pretraining_writes_a_model_that_can_be_fine_tuned(
    tiny: list[str], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert pretrain.main([*tiny, "--steps", "3"]) == 0

    folder = tmp_path / "runs" / "pretrained"
    names = {"config.json", "model.safetensors", "tokenizer.json"}
    assert {path.name for path in folder.iterdir()} == names
    model = BertForPreTraining.from_pretrained(folder)
    assert model.config == CONFIG  # with its dropout, although training used none
    lines = tmp_path / "lines.txt"
    lines.write_text("1 ||| harbor is witty .\n0 ||| avoid harbor .\n", encoding="utf-8")
    data = ["--train", str(lines), "--dev", str(lines), "--checkpoint", str(folder)]
    assert classifier.main([*data, "--device", "cpu"]) == 0


def test_both_losses_are_what_the_tasks_should_have_at_first(
    tiny: list[str], tmp_path: Path, capsys
) -> None:
    assert pretrain.main([*tiny, "--steps", "1", "--save", str(tmp_path)]) == 0

    ((_, tokens, following),) = LOSSES.findall(capsys.readouterr().out)
    assert float(tokens) == pytest.approx(torch.tensor(20.0).log().item(), abs=0.2)
    assert float(following) == pytest.approx(torch.tensor(2.0).log().item(), abs=0.1)


@pytest.mark.nightly
def test_pretraining_reaches_the_losses_in_the_handout(tmp_path: Path, capsys) -> None:
    shown = LOSSES.findall(TEXT)
    assert len(shown) == 5

    assert pretrain.main(["--save", str(tmp_path)]) == 0

    reached = LOSSES.findall(capsys.readouterr().out)
    for expected, row in zip(shown, reached, strict=True):
        assert [*map(float, row)] == pytest.approx([*map(float, expected)], abs=0.05)


@pytest.mark.parametrize(
    "name", ["mask_tokens", "make_sentence_pairs", "pair_batch", "pretraining_loss", "wordpiece"]
)
def test_an_extension_that_pretraining_lacks_is_named(
    tiny: list[str], tmp_path: Path, monkeypatch, capsys, name: str
) -> None:
    monkeypatch.setattr(pretrain, name, raising("pretraining.py", name))

    assert pretrain.main([*tiny, "--save", str(tmp_path / "own")]) == 1

    expected = f"pretraining.py: Problem ({name}) is not written yet"
    assert capsys.readouterr().err == f"{expected}; `make check` grades each function\n"


def test_a_loss_that_is_not_finite_ends_the_training(tiny, tmp_path, monkeypatch, capsys) -> None:
    broken = lambda *args: torch.tensor(float("nan"), requires_grad=True)  # noqa: E731
    monkeypatch.setattr(pretrain, "pretraining_loss", broken)

    assert pretrain.main([*tiny, "--save", str(tmp_path / "own")]) == 1

    assert "FloatingPointError: the loss became nan in step 1" in capsys.readouterr().err
    assert not (tmp_path / "own" / "model.safetensors").exists()


def test_an_exception_in_a_students_code_is_one_line_with_its_place(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "solution", tmp_path / "starter")
    for name in ("checkpoint", "data"):
        (tmp_path / name).symlink_to(ROOT / name)
    source = tmp_path / "starter" / "pretraining.py"
    lines = source.read_text(encoding="utf-8").splitlines()
    number = next(i for i, line in enumerate(lines) if line.startswith("    special = torch.isin("))
    lines[number] = "    special = input_ids + torch.ones(3, 999)"
    source.write_text("\n".join(lines), encoding="utf-8")

    program = [sys.executable, "pretrain.py", "--reviews", "30", "--steps", "1"]
    result = ran(*program, cwd=source.parent)

    assert result.returncode == 1
    place = f"pretraining.py, line {number + 1}, in mask_tokens: RuntimeError: The size of tensor"
    assert result.stderr.startswith(place)
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--steps", "0"], "'0' is not a whole number, 1 or more"),
        (["--lr", "7"], "'7' is not a number above 0 and at most 1"),
        (["--text", "nowhere.txt"], "nowhere.txt: no such file or directory"),
        (["--text", str(ROOT / "data" / "train.txt")], "there should be two reviews or more"),
        (["--text", str(ROOT / "checkpoint" / "model.safetensors")], "not UTF-8 text"),
        (["--checkpoint", "nowhere"], "nowhere"),
    ],
)
def test_bad_input_is_one_line(arguments, complaint, monkeypatch, tmp_path: Path, capsys) -> None:
    monkeypatch.chdir(tmp_path)

    output = refusal(pretrain.main, arguments, capsys)

    assert output.startswith("pretrain.py: ")
    assert complaint in output
    assert not list(tmp_path.iterdir())
