"""The programs that train with a student's extensions: they learn, and say what is missing."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
import torch
from torch import Tensor

import classifier
import fine_tune_mine
import optimizer
import pretrain
import training
import write_review
from bert import BertModel
from config import BertConfig
from conftest import ROOT
from pretraining import BertForPreTraining
from tokenizer import SPECIAL_TOKENS, BertTokenizer

WORDS = "harbor gets five stars thumbs up down happily see avoid witty is a . ,".split()
CONFIG = BertConfig(
    vocab_size=len(SPECIAL_TOKENS) + len(WORDS),
    hidden_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=24,
    max_position_embeddings=24,
)
Write = Callable[[], str]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A tiny model of random weights, and its vocabulary."""
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join([*SPECIAL_TOKENS, *WORDS]), encoding="utf-8")
    torch.manual_seed(1)
    tokenizer = BertTokenizer.from_pretrained(folder)
    model = classifier.BertSentimentClassifier(BertModel(CONFIG), 2)
    classifier.save_model(model, tokenizer, folder)
    return folder


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Reviews of words that are drawn independently, so that nothing tells the next one."""
    draw, path = random.Random(1), tmp_path / "reviews.txt"
    reviews = [
        "".join(f"{' '.join(draw.choices(WORDS, k=draw.randint(3, 6)))}\n" for _ in range(3))
        for _ in range(40)
    ]
    path.write_text("\n".join(reviews), encoding="utf-8")
    return path


@pytest.fixture
def tiny(checkpoint: Path, text: Path) -> list[str]:
    """The arguments of a run that takes a moment."""
    return ["--checkpoint", str(checkpoint), "--text", str(text), "--batch-size", "8"]


def raising(file: str, name: str) -> Callable[..., object]:
    """Make a function of another file that is not written yet."""
    names: dict[str, Callable[..., object]] = {}
    code = f"def hole(*args, **named):\n    raise NotImplementedError({name!r})"
    exec(compile(code, f"/somewhere/{file}", "exec"), names)
    return names["hole"]


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


# --- pretrain.py -----------------------------------------------------------------------------


def test_pretraining_writes_a_model_and_its_curve_into_one_folder(
    tiny: list[str], tmp_path: Path, monkeypatch, capsys
) -> None:
    before = files_below(tmp_path)
    monkeypatch.chdir(tmp_path)

    assert pretrain.main([*tiny, "--steps", "3"]) == 0

    names = ("config.json", "curve.json", "curve.png", "model.safetensors", "tokenizer.json")
    assert files_below(tmp_path) - before == {f"runs/pretrained/{name}" for name in names}
    model = BertForPreTraining.from_pretrained(tmp_path / "runs" / "pretrained")
    assert model.config == CONFIG  # with its dropout, although it was trained without
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
    own = pretrain.fresh(BertConfig.from_json(folder))

    steps = pretrain.pretrain(own, tokenizer, pretrain.spell(reviews, tokenizer), pretrain.Recipe())
    found = list(islice(steps, 4))

    assert recorded is not None
    assert len(recorded) == pretrain.Recipe.steps
    for parts, expected in zip(found, recorded, strict=False):
        assert parts == pytest.approx(expected, abs=2e-3)


def test_the_staffs_curve_falls_in_both_tasks() -> None:
    curve = pretrain.read_losses(ROOT / "checkpoint" / pretrain.STAFF)
    assert curve is not None

    first, last = training.average(curve[:20]), training.average(curve[-100:])
    assert first[0] - last[0] > 3.0
    assert first[1] - last[1] > 0.15


@pytest.mark.parametrize(("off", "said"), [(0.1, False), (0.3, True)])
def test_a_loss_far_from_the_staffs_is_noticed(off: float, said: bool, capsys) -> None:
    staff = [(1.6, 0.5)] * 500

    pretrain.compare([(1.6, 0.5 + off)] * 500, staff)

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "the staff's solution: masked tokens 1.600  next sentence 0.500"
    assert (len(lines) == 2) == said


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


def nothing(*args: object, **named: object) -> None:
    """Do as a function without a `return` does."""


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
def test_a_wrong_result_in_pretraining_is_one_line(
    tiny: list[str], tmp_path: Path, monkeypatch, capsys, name, wrong, message: str
) -> None:
    monkeypatch.setattr(pretrain, name, wrong)

    assert pretrain.main([*tiny, "--save", str(tmp_path / "own")]) == 1

    output = capsys.readouterr().err
    assert output.startswith(f"pretrain.py: {message}")
    assert output.endswith("; `make check` grades each function by itself\n")
    assert output.count("\n") == 1
    assert not (tmp_path / "own" / "model.safetensors").exists()


# --- what all of them say --------------------------------------------------------------------


@pytest.fixture(scope="module")
def students(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A student's folder: the starter, the checkpoint and the data."""
    folder = tmp_path_factory.mktemp("student")
    shutil.copytree(ROOT / "starter", folder / "starter")
    for name in ("checkpoint", "data"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def ran(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a program of a student's folder."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder / "starter",
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("program", "first"),
    [
        ("pretrain.py", "pretraining.py: Problem (wordpiece)"),
        ("write_review.py", "transformer.py: Problem (sinusoidal_positions)"),
        ("fine_tune_mine.py", "bert.py: Problem (embed)"),
    ],
)
def test_the_starter_says_what_to_write_first(students: Path, program: str, first: str) -> None:
    result = ran(students, program)

    assert (result.returncode, result.stderr) == (1, f"{first} is not written yet\n")


def test_an_exception_in_a_students_code_is_one_line_with_its_place(students: Path) -> None:
    shutil.copytree(ROOT / "solution", students / "starter", dirs_exist_ok=True)
    source = students / "starter" / "pretraining.py"
    lines = source.read_text(encoding="utf-8").splitlines()
    number = next(i for i, line in enumerate(lines) if line.startswith("    special = torch.isin("))
    lines[number] = "    special = input_ids + torch.ones(3, 999)"
    source.write_text("\n".join(lines), encoding="utf-8")

    result = ran(students, "pretrain.py", "--reviews", "30", "--steps", "1")

    assert result.returncode == 1
    place = f"pretraining.py, line {number + 1}, in mask_tokens: RuntimeError: The size of tensor"
    assert result.stderr.startswith(place)
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("program", [pretrain, write_review], ids=["pretrain", "write_review"])
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
def test_bad_input_is_one_line(
    program, arguments: list[str], complaint: str, monkeypatch, tmp_path: Path, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        status = program.main(arguments)
    except SystemExit as leaving:
        status = leaving.code

    output = capsys.readouterr().err
    assert status == 2
    assert output.startswith(f"{program.__name__}.py: ")
    assert complaint in output
    assert output.count("\n") == 1
    assert not list(tmp_path.iterdir())


# --- fine_tune_mine.py -----------------------------------------------------------------------


def test_fine_tuning_with_ones_own_adamw_learns_what_torchs_does() -> None:
    ids = torch.randint(5, 20, (24, 9), generator=torch.Generator().manual_seed(7))
    data, recipe = (ids, torch.ones_like(ids), (ids[:, 0] > 12).long()), classifier.Recipe(epochs=2)
    found = []
    for adamw in (classifier.AdamW, fine_tune_mine.AdamW):
        torch.manual_seed(0)
        model = classifier.BertSentimentClassifier(BertModel(CONFIG), 2)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(classifier, "AdamW", adamw)
            classifier.fine_tune(model, *data, recipe)
        found.append(model.state_dict())

    for name, expected in found[0].items():
        torch.testing.assert_close(found[1][name], expected, rtol=1e-3, atol=1e-5)


def test_fine_tuning_calls_the_students_update(monkeypatch, capsys) -> None:
    theirs = classifier.AdamW
    monkeypatch.setattr(optimizer.AdamW, "update", raising("optimizer.py", "adamw"))

    def one_step(argv: list[str] | None) -> int:
        parameter = torch.nn.Parameter(torch.ones(2))
        parameter.grad = torch.ones(2)
        classifier.AdamW([parameter], weight_decay=0.0, fused=True).step()
        return 0

    monkeypatch.setattr(classifier, "main", one_step)

    assert fine_tune_mine.main([]) == 1
    assert capsys.readouterr().err == "optimizer.py: Problem (adamw) is not written yet\n"
    assert classifier.AdamW is theirs


# --- write_review.py -------------------------------------------------------------------------


def test_a_review_is_written_for_each_beginning(tiny: list[str], capsys) -> None:
    beginnings = ["harbor is witty .", "avoid harbor ."]

    outputs = []
    for _ in range(2):
        assert write_review.main([*beginnings, *tiny, "--steps", "2"]) == 0
        outputs.append(re.sub(r"[0-9.]+ s$", "", capsys.readouterr().out, flags=re.M))

    assert all(f"\n{beginning}\n  " in outputs[0] for beginning in beginnings)
    assert outputs[0] == outputs[1]


def writer() -> write_review.ReviewWriter:
    torch.manual_seed(3)
    return write_review.ReviewWriter(BertModel(CONFIG)).eval()


def test_the_decoder_does_not_see_later_tokens_or_padding_of_the_source() -> None:
    model, ids = writer(), torch.tensor([[2, 7, 9, 8, 5]])
    source, seen = torch.tensor([[2, 6, 3, 0]]), torch.tensor([[1, 1, 1, 0]])
    mask = torch.ones_like(ids)
    expected = model(ids, mask, model.read(source, seen), seen)

    others, padding = ids.clone(), source.clone()
    others[0, 3:], padding[0, 3] = 11, 12
    found = model(others, mask, model.read(padding, seen), seen)

    torch.testing.assert_close(found[:, :3], expected[:, :3])
    assert not torch.allclose(found[:, 3:], expected[:, 3:])


def test_only_the_decoder_is_trained(checkpoint: Path, text: Path) -> None:
    tokenizer, model = BertTokenizer.from_pretrained(checkpoint), writer()
    examples = write_review.read_examples(text, tokenizer, 24)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    list(write_review.losses(model, tokenizer, examples, write_review.Recipe(steps=3)))

    moved = {n for n, tensor in model.state_dict().items() if not torch.equal(tensor, before[n])}
    fixed = {name for name in before if name.startswith("bert.") or name == "positions"}
    assert moved == before.keys() - fixed


@pytest.mark.parametrize("leaks", [False, True])
def test_a_decoder_that_sees_the_answer_is_noticed(
    tiny: list[str], monkeypatch, capsys, leaks: bool
) -> None:
    if leaks:
        zeros = lambda mask: torch.zeros(len(mask), 1, mask.shape[1], mask.shape[1])  # noqa: E731
        monkeypatch.setattr(write_review, "causal_mask", zeros)

    assert write_review.main([*tiny, "--steps", "2"]) == 0

    assert ("the decoder sees what it should predict" in capsys.readouterr().out) == leaks


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("causal_mask", nothing, "causal_mask should return a tensor of shape (8, 1, "),
        ("sinusoidal_positions", nothing, "sinusoidal_positions should return a tensor of shape"),
        ("layer_norm", nothing, "layer_norm should return a tensor of shape (8, "),
    ],
)
def test_a_wrong_result_in_the_decoder_is_one_line(
    tiny: list[str], monkeypatch, capsys, name: str, wrong, message: str
) -> None:
    monkeypatch.setattr(write_review, name, wrong)

    assert write_review.main(tiny) == 1

    output = capsys.readouterr().err
    assert output.startswith(f"write_review.py: {message}")
    assert output.count("\n") == 1


def test_a_temperature_is_above_zero(capsys) -> None:
    with pytest.raises(SystemExit):
        write_review.main(["--temperature", "0"])

    assert "'0' is not a number above 0" in capsys.readouterr().err
