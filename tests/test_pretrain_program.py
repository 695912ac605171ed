"""pretrain.py: it learns with a student's extensions, and says what is missing or wrong in them."""

import math
import re
import shutil
import sys

import pytest
import torch
from safetensors.torch import load_file

import classifier
import pretrain
from pretraining import BertForPreTraining
from testkit.graded import ran
from tests.helpers import ROOT
from tests.helpers.handout import TEXT
from tests.helpers.tiny_model import CONFIG, raising, random_text, refusal, tiny_checkpoint

# the step, and the losses of masked tokens and of the next sentence
LOSSES = re.compile(r"step (\d+)  masked tokens (\d\.\d+)  next sentence (\d\.\d+)")


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """The arguments for a run of a moment, which writes into the working folder."""
    monkeypatch.chdir(tmp_path)
    checkpoint = tiny_checkpoint(tmp_path / "checkpoint")
    text = random_text(tmp_path / "reviews.txt")
    return ["--checkpoint", str(checkpoint), "--text", str(text), "--batch-size", "8"]


def test_pretraining_writes_a_model_that_can_be_fine_tuned(tiny, tmp_path, capsys):
    assert pretrain.main([*tiny, "--steps", "3"]) == 0

    _, token_loss, sentence_loss = LOSSES.findall(capsys.readouterr().out)[0]
    # before it has learned anything, each token is as likely as any other
    assert float(token_loss) == pytest.approx(math.log(CONFIG.vocab_size), abs=0.2)
    assert float(sentence_loss) == pytest.approx(math.log(2), abs=0.1)
    folder = tmp_path / "runs" / "pretrained"
    names = {"config.json", "model.safetensors", "tokenizer.json"}
    assert {path.name for path in folder.iterdir()} == names
    model = BertForPreTraining.from_pretrained(folder)
    assert model.config == CONFIG  # with its dropout, although training used none
    lines = tmp_path / "lines.txt"
    lines.write_text("1 ||| harbor is witty .\n0 ||| avoid harbor .\n", "utf-8")
    data = ["--train", str(lines), "--dev", str(lines), "--checkpoint", str(folder)]
    assert classifier.main([*data, "--device", "cpu"]) == 0


def test_pretraining_goes_on_from_a_checkpoint_with_heads(tiny):
    assert pretrain.main([*tiny, "--steps", "3", "--seed", "1", "--save", "first"]) == 0
    onward = [*tiny, "--continue", "--steps", "1", "--lr", "1e-9", "--save", "second"]

    assert pretrain.main([*onward, "--checkpoint", "first"]) == 0

    before = load_file("first/model.safetensors")
    after = load_file("second/model.safetensors")
    assert all(torch.allclose(before[name], after[name], atol=1e-6) for name in before)


def test_pretraining_does_not_go_on_from_a_checkpoint_without_heads(tiny, capsys):
    assert "missing: mlm_head" in refusal(pretrain.main, [*tiny, "--continue"], capsys)


@pytest.mark.nightly
def test_pretraining_reaches_the_losses_in_the_handout(tmp_path, capsys):
    shown = LOSSES.findall(TEXT)
    assert len(shown) == 5

    assert pretrain.main(["--save", str(tmp_path)]) == 0

    reached = LOSSES.findall(capsys.readouterr().out)
    for expected, got in zip(shown, reached, strict=True):
        assert list(map(float, got)) == pytest.approx(list(map(float, expected)), abs=0.05)


@pytest.mark.parametrize("name", ["mask_tokens", "pair_batch", "pretraining_loss", "wordpiece"])
def test_an_extension_that_pretraining_lacks_is_named(tiny, monkeypatch, capsys, name):
    monkeypatch.setattr(pretrain, name, raising("pretraining.py", name))

    assert pretrain.main(tiny) == 1

    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"pretraining.py: Problem ({name}) is not written yet")


def test_an_exception_in_a_students_code_is_one_line_with_its_place(tmp_path):
    shutil.copytree(ROOT / "solution", tmp_path / "starter")
    for name in ("checkpoint", "data"):
        (tmp_path / name).symlink_to(ROOT / name)
    source = tmp_path / "starter" / "pretraining.py"
    lines = source.read_text("utf-8").splitlines(keepends=True)
    (index,) = [i for i, line in enumerate(lines) if line.startswith("    special = torch.isin(")]
    lines.insert(index, "    special = input_ids + torch.ones(3, 999)\n")
    source.write_text("".join(lines), "utf-8")

    program = [sys.executable, "pretrain.py", "--reviews", "30", "--steps", "1"]
    result = ran(*program, cwd=source.parent)

    assert result.returncode == 1
    (said,) = result.stderr.splitlines()
    place = f"pretraining.py, line {index + 1}, in mask_tokens: RuntimeError: "
    assert said.startswith(place)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--steps", "0"),
        ("--lr", "7"),
        ("--text", "nowhere.txt"),
        ("--text", str(ROOT / "data" / "train.txt")),
        ("--text", str(ROOT / "checkpoint" / "model.safetensors")),
        ("--checkpoint", "nowhere"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(option, value, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)

    assert value.rpartition("/")[2] in refusal(pretrain.main, [option, value], capsys)
    assert not list(tmp_path.iterdir())
