"""Models come from Hugging Face's folders and go back: both agree, and bad input is refused."""

import json
import pickle
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

pytest.importorskip("transformers")

import classifier
from bert import BertModel
from instructor import huggingface
from pretraining import BertForPreTraining
from tests.helpers import ROOT
from tokenizer import BertTokenizer, wordpiece

CHECKPOINT = ROOT / "checkpoint"
FILES = ("config.json", "model.safetensors", "tokenizer.json", "vocab.txt")
WEIGHTS = "model.safetensors"


@pytest.fixture
def source(tmp_path):
    """A Hugging Face folder: the frozen checkpoint's own files."""
    folder = tmp_path / "source"
    folder.mkdir()
    for name in FILES:
        shutil.copy(CHECKPOINT / name, folder)
    return folder


def run(command, source, out):
    return huggingface.main([f"{command}-checkpoint", str(source), str(out)])


def assert_same_weights(first, second, model=BertModel):
    ours = model.from_pretrained(first).state_dict()
    theirs = model.from_pretrained(second).state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_an_import_keeps_every_weight(source, tmp_path, capsys):
    assert run("import", source, tmp_path / "out") == 0

    assert "left out: nothing" in capsys.readouterr().out
    assert_same_weights(tmp_path / "out", CHECKPOINT, BertForPreTraining)


def test_an_old_bin_with_gamma_and_beta_and_only_a_vocab_are_enough(source, tmp_path):
    weights = {
        name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): tensor
        for name, tensor in load_file(source / WEIGHTS).items()
    }
    torch.save(weights, source / "pytorch_model.bin")
    (source / WEIGHTS).unlink()
    (source / "tokenizer.json").unlink()

    assert run("import", source, tmp_path / "out") == 0

    assert_same_weights(tmp_path / "out", CHECKPOINT)
    lines = ["Harbor isn't Dull , qqq .", "é 日本"]
    ours = BertTokenizer.from_pretrained(tmp_path / "out")(lines)
    theirs = BertTokenizer.from_pretrained(CHECKPOINT)(lines)
    assert torch.equal(ours["input_ids"], theirs["input_ids"])


def test_heads_of_other_tasks_are_left_out_and_those_of_pre_training_may_be_missing(
    source, tmp_path, capsys
):
    encoder = {
        name: tensor for name, tensor in load_file(source / WEIGHTS).items() if "cls." not in name
    }
    others = {"classifier.weight": torch.ones(2, 64), "qa_outputs.bias": torch.ones(2)}
    save_file(encoder | others, source / WEIGHTS)

    assert run("import", source, tmp_path / "out") == 0

    assert "left out: classifier.weight, qa_outputs.bias\n" in capsys.readouterr().out
    assert_same_weights(tmp_path / "out", CHECKPOINT)
    assert not [name for name in load_file(tmp_path / "out" / WEIGHTS) if "cls." in name]


# --- what is wrong with a folder: functions that make it so ---------------------------------------


class Harmful:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def harmful_bin(folder):
    (folder / WEIGHTS).unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"a": Harmful(folder / "harm")}))


def half_a_file(folder):
    (folder / WEIGHTS).write_bytes((CHECKPOINT / WEIGHTS).read_bytes()[:5000])


def without(*names):
    def change(folder):
        for name in names:
            (folder / name).unlink()

    return change


def config(**values):
    def change(folder):
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | values), "utf-8")

    return change


def bias(*values):
    """Give the pooler these values as its bias, or none."""

    def change(folder):
        weights = load_file(folder / WEIGHTS)
        del weights["bert.pooler.dense.bias"]
        if values:
            weights["bert.pooler.dense.bias"] = torch.tensor(values)
        save_file(weights, folder / WEIGHTS)

    return change


BAD = {
    "no folder": shutil.rmtree,
    "no config": without("config.json"),
    "a decoder": config(is_decoder=True),
    "impossible sizes": config(num_attention_heads=5),
    "more layers": config(num_hidden_layers=4),
    "no weights": without(WEIGHTS),
    "half a file": half_a_file,
    "harmful": harmful_bin,
    "no pooler": bias(),
    "not finite": bias(*[torch.nan] * 64),
    "no tokenizer": without("tokenizer.json", "vocab.txt"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_one_line_and_nothing_is_written(source, tmp_path, capsys, kind):
    BAD[kind](source)
    before = {path.name for path in tmp_path.rglob("*")}

    assert run("import", source, tmp_path / "out") == 2

    output = capsys.readouterr().err
    assert output.startswith("import-checkpoint: ")
    assert output.count("\n") == 1
    assert {path.name for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize("command", ["import", "export"])
def test_a_folder_that_exists_is_left_alone(source, tmp_path, capsys, command):
    (tmp_path / "mine" / "work").mkdir(parents=True)

    assert run(command, source, tmp_path / "mine") == 2

    assert "mine: already exists" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["work"]


@pytest.mark.parametrize("command", ["import", "export"])
def test_a_model_whose_results_differ_is_not_written(
    source, tmp_path, capsys, monkeypatch, command
):
    monkeypatch.setattr(huggingface, "ALLOWED", -1.0)  # less than no difference

    assert run(command, source, tmp_path / "out") == 2

    assert "results differ by" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_both_folders_must_be_given(capsys):
    assert run("import", "", "") == 2

    assert "give both folders" in capsys.readouterr().err


def test_a_different_tokenization_is_noticed(source):
    theirs = huggingface.transformers().AutoTokenizer.from_pretrained(source)
    pieces = (source / "vocab.txt").read_text("utf-8").splitlines()
    reordered = [*pieces[:5], *reversed(pieces[5:])]  # the first five are special tokens
    ours = BertTokenizer(wordpiece({piece: number for number, piece in enumerate(reordered)}))

    with pytest.raises(huggingface.ForeignError, match="into other tokens"):
        huggingface.compare_tokens(ours, theirs)


def test_a_fine_tuned_model_opens_in_transformers_and_is_a_checkpoint_like_any_other(
    tmp_path, capsys
):
    torch.manual_seed(3)
    model = classifier.BertSentimentClassifier(BertModel.from_pretrained(CHECKPOINT), 5)
    torch.nn.init.normal_(model.classifier.weight)  # otherwise every score is 0
    saved = tmp_path / "saved"
    saved.mkdir()
    classifier.save_model(model, BertTokenizer.from_pretrained(CHECKPOINT), saved)

    assert run("export", saved, tmp_path / "out") == 0

    assert "results differ by at most" in capsys.readouterr().out
    written = json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))
    assert written["architectures"] == ["BertForSequenceClassification"]
    assert len(written["id2label"]) == 5
    assert_same_weights(saved, CHECKPOINT)
