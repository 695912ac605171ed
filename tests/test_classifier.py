"""The sentiment classifier: its training, and its command line.

Dimension key: N sentences, B batch, T tokens.
"""

import dataclasses
import random
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import classifier
from bert import BertModel
from support import sentences
from support.observe import open_model
from support.runs import mean_scores, sign_test
from tests.helpers.tiny_model import CONFIG, WORDS, refusal, tiny_checkpoint

CS224N = "0\t\tid\tsentence\n1\t0.0\tab12\t good film\n2\t1.0\tcd34\t bad film\n"  # without labels
FAST = ["--epochs", "1", "--threads", "1", "--device", "cpu"]


@pytest.fixture
def data(tmp_path):
    """Three files of sentences whose last word decides the label."""
    draw = random.Random(1)
    paths = {name: tmp_path / f"{name}.txt" for name in ("train", "dev", "test")}
    for path in paths.values():
        lines = []
        for number in range(40):
            words = [*draw.choices(WORDS, k=draw.randint(1, 7)), ("witty", "avoid")[number % 2]]
            lines.append(f"{1 - number % 2} ||| {' '.join(words)}\n")
        path.write_text("".join(lines), "utf-8")
    return paths


@pytest.fixture
def command(data, tmp_path):
    """The arguments of a run that takes a moment."""
    files = [f"--{name}={path}" for name, path in data.items()]
    checkpoint = tiny_checkpoint(tmp_path / "checkpoint")
    out = tmp_path / "predictions"
    return ["--checkpoint", str(checkpoint), *files, "--predictions", str(out), *FAST]


def tensors(rows=24):
    """Ids and mask (N, T) of several lengths, and labels (N,) that the first word decides."""
    draw = torch.Generator().manual_seed(7)
    ids = torch.randint(5, CONFIG.vocab_size, (rows, 9), generator=draw)
    lengths = torch.randint(2, 10, (rows,), generator=draw)
    mask = (torch.arange(9) < lengths[:, None]).long()
    return ids * mask, mask, (ids[:, 0] > 12).long()


def model(**changes):
    """A classifier of two classes with random weights."""
    torch.manual_seed(0)
    return classifier.BertSentimentClassifier(BertModel(dataclasses.replace(CONFIG, **changes)), 2)


def trained_weights(recipe):
    fresh = model()
    classifier.fine_tune(fresh, *tensors(), recipe)
    return fresh.state_dict()


def test_predictions_come_in_the_order_of_the_sentences():
    ids, mask, _ = tensors()
    fresh = model(initializer_range=1.0).double()
    torch.nn.init.normal_(fresh.classifier.weight)

    together = classifier.predict(fresh, ids, mask, batch_size=5)

    alone = [classifier.predict(fresh, ids[i : i + 1], mask[i : i + 1])[0] for i in range(24)]
    assert together.tolist() == [int(label) for label in alone]
    assert together.unique().numel() == 2  # otherwise the order would not matter


def test_equal_seeds_give_equal_weights_and_different_seeds_do_not():
    once, again, other = (
        trained_weights(classifier.Recipe(epochs=1, seed=seed)) for seed in (5, 5, 6)
    )

    assert all(torch.equal(once[name], again[name]) for name in once)
    assert not torch.equal(once["classifier.weight"], other["classifier.weight"])


@pytest.mark.parametrize(
    ("frozen", "learned"),
    [
        ({"mode": "last-linear-layer"}, set()),
        ({"freeze": 1}, {"bert.pooler_dense.weight", "bert.pooler_dense.bias"}),
    ],
)
def test_what_is_frozen_stays_as_it_is(frozen, learned):
    before = model().state_dict()

    after = trained_weights(classifier.Recipe(epochs=2, **frozen))

    moved = {name for name in after if not torch.equal(before[name], after[name])}
    assert moved == {"classifier.weight", "classifier.bias", *learned}


def test_a_loss_that_is_not_finite_ends_the_training():
    broken = model()
    torch.nn.init.constant_(broken.classifier.bias, float("nan"))

    with pytest.raises(FloatingPointError, match="the loss became nan in epoch 1"):
        classifier.fine_tune(broken, *tensors(), classifier.Recipe())


def test_the_program_writes_predictions_and_the_model(command, data, tmp_path, capsys):
    data["dev"].write_text("1 ||| good\n4 ||| bad" + " film" * 30 + "\n", "utf-8")
    with data["train"].open("a", encoding="utf-8") as file:
        file.write("4 ||| five classes\n")
    data["test"].write_text(CS224N, "utf-8")
    save = tmp_path / "saved"

    assert classifier.main([*command, "--save", str(save)]) == 0

    lines = (tmp_path / "predictions/full-model-dev-out.txt").read_text("utf-8").splitlines()
    expected = [example.sentence for example in sentences.read_examples(data["dev"])]
    assert [line.rpartition(" ||| ")[0] for line in lines] == expected
    assert load_file(save / "model.safetensors")["classifier.weight"].shape == (5, 16)
    path = tmp_path / "predictions" / "full-model-test-out.txt"
    lines = path.read_text("utf-8").splitlines()
    assert [line.split(" ||| ")[0] for line in lines] == ["good film", "bad film"]
    output = capsys.readouterr().out
    assert "dev accuracy" in output
    assert re.search(r"predicted +0 +1 +2 +3 +4\n(label.*\n){5}one off: ", output)
    assert "dev.txt: 2 sentences, 1 of them truncated to 24 tokens" in output
    assert not list(tmp_path.rglob("*.tmp"))
    assert classifier.main([*command, "--checkpoint", str(save)]) == 0


def test_saved_runs_are_averaged_and_compared(command, data, tmp_path, capsys):
    first, second, both = (tmp_path / name for name in ("first", "second", "both"))
    mean = ["--pooling", "mean", "--epochs", "30", "--lr", "0.02"]
    assert classifier.main([*command, "--task", "grades", "--save", str(first)]) == 0
    assert classifier.main([*command, *mean, "--save", str(second)]) == 0
    average = ["--ensemble", str(first), str(second), "--save", str(both)]
    assert classifier.main([*command, *average]) == 0

    assert classifier.main([*command, "--compare", str(first), str(both), str(second)]) == 0

    last = capsys.readouterr().out.splitlines()[-1]
    assert re.search(r"second against .*: \d+ gained, \d lost, p 0\.0\d+: better", last)
    assert (first / "curves.png").is_file()
    reopened, tokenizer = open_model(second)
    dev = sentences.Split(data["dev"], tokenizer, CONFIG.max_position_embeddings)
    scores = reopened(dev.input_ids, dev.attention_mask).softmax(dim=1)
    assert torch.allclose(scores, mean_scores([second], dev), atol=1e-5)
    assert torch.allclose(mean_scores([first, second], dev), mean_scores([both], dev))
    other = [*command, "--dev", str(data["train"]), "--compare", str(first)]
    assert "other sentences" in refusal(classifier.main, other, capsys)


def test_the_sign_test_is_that_of_a_fair_coin():
    assert [sign_test(0, 6), sign_test(4, 4), sign_test(0, 0)] == [2 / 64, 1.0, 1.0]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--ensemble nowhere", "nowhere/scores.safetensors: missing"),
        ("--epochs 0", "--epochs"),
        ("--lr nan", "--lr"),
        ("--max-length 25", "24 positions"),
        ("--train nowhere.txt", "nowhere.txt"),
        ("--checkpoint nowhere", "nowhere"),
        ("--dev three.txt", "three.txt: label 3"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    command, tmp_path, capsys, monkeypatch, arguments, complaint
):
    monkeypatch.chdir(tmp_path)
    Path("three.txt").write_text("3 ||| a film\n", "utf-8")

    assert complaint in refusal(classifier.main, [*command, *arguments.split()], capsys)
    assert not (tmp_path / "predictions").exists()


# --- files of labelled sentences ----------------------------------------------------------------

IDS = '0\tab12\tIt \'s ``fine\'\' .\t3\r\n1\tcd34\t"so ""bad"" ."\t0\n'
READ = {
    "4 ||| It 's a fine ||| film .\r\n\n0|||bad\n": [(4, "It 's a fine ||| film ."), (0, "bad")],
    "1 ||| good\r0 ||| bad\r": [(1, "good"), (0, "bad")],
    "sentence\tlabel\nhide new secretions \t0\nfine\t1\n": [
        (0, "hide new secretions"),
        (1, "fine"),
    ],
    f"\tid\tsentence\tsentiment\n{IDS}": [(3, "It 's ``fine'' ."), (0, 'so "bad" .')],
}
REFUSED = {  # the beginning of the message after the file's name
    b"1 ||| good\n-1 ||| bad\n": ":2: ",
    b"1 ||| good\n1 ||| \xff\n": ":2: ",
    b"id\tsentence\nab\tgood\n": ": there is no column `sentiment`",
    b"\n \n": ": there are no sentences",
}


@pytest.mark.parametrize("text", READ)
def test_sentences_are_read(tmp_path, text):
    path = tmp_path / "some.csv"
    path.write_bytes(text.encode())

    assert sentences.read_examples(path) == READ[text]


@pytest.mark.parametrize("content", REFUSED)
def test_what_is_no_sentence_is_named_with_its_file_and_number(tmp_path, content):
    path = tmp_path / "some.csv"
    path.write_bytes(content)

    with pytest.raises(ValueError, match=rf"some\.csv{REFUSED[content]}") as caught:
        sentences.read_examples(path)

    assert "\n" not in str(caught.value)
