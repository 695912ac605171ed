"""Hugging Face's folders become checkpoints and back: both agree, and bad input is refused."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models

from instructor.huggingface import second_opinion
from instructor.huggingface.export_checkpoint import main as export_main
from instructor.huggingface.import_checkpoint import main as import_main

from bert import BertModel
from conftest import ROOT
from pretraining import BertForPreTraining
from tokenizer import BertTokenizer

CHECKPOINT = ROOT / "checkpoint"
FILES = ("config.json", "model.safetensors", "tokenizer.json", "vocab.txt")
POOLER = "bert.pooler.dense.weight"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A Hugging Face folder: the frozen checkpoint's own files."""
    folder = tmp_path / "source"
    folder.mkdir()
    for name in FILES:
        shutil.copy(CHECKPOINT / name, folder)
    return folder


@pytest.fixture
def without_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do without transformers, which is not tested here and is slow to import."""
    monkeypatch.setattr(second_opinion, "transformers", lambda: None)


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def edit_json(path: Path, **values: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | values), encoding="utf-8")


def edit_weights(folder: Path, **values: torch.Tensor | None) -> None:
    """Replace tensors by name, "__" for a dot; None removes one."""
    changed = weights_of(folder) | {k.replace("__", "."): v for k, v in values.items()}
    result = {name: tensor for name, tensor in changed.items() if tensor is not None}
    save_file(result, folder / "model.safetensors")


def old_names(name: str) -> str:
    name = name.removeprefix("bert.").replace("LayerNorm.weight", "LayerNorm.gamma")
    return name.replace("LayerNorm.bias", "LayerNorm.beta")


def assert_same_model(first: Path, second: Path) -> None:
    for cls in (BertModel, BertForPreTraining):
        ours, theirs = (cls.from_pretrained(folder).state_dict() for folder in (first, second))
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_an_import_keeps_every_weight_and_agrees_with_transformers(source, tmp_path, capsys):
    pytest.importorskip("transformers")

    assert import_main([str(source), str(tmp_path / "out")]) == 0

    output = capsys.readouterr().out
    assert (
        output.count("from transformers' (float64)") == 2
    )  # of the folder that was read, and of the one that was written
    assert output.count("tokenized as in transformers") == 2
    assert {path.name for path in (tmp_path / "out").iterdir()} >= set(FILES)
    assert_same_model(tmp_path / "out", CHECKPOINT)


@pytest.mark.usefixtures("without_transformers")
def test_an_old_bin_with_gamma_and_beta_and_only_a_vocab_are_enough(source, tmp_path, capsys):
    weights = {old_names(name): tensor for name, tensor in weights_of(source).items()}
    weights["embeddings.position_ids"] = torch.arange(64).unsqueeze(0)
    weights["cls.predictions.decoder.weight"] = weights["embeddings.word_embeddings.weight"]
    torch.save(weights, source / "pytorch_model.bin")
    (source / "model.safetensors").unlink()
    (source / "tokenizer.json").unlink()

    assert import_main([str(source), str(tmp_path / "out")]) == 0

    assert "transformers is not installed" in capsys.readouterr().out
    assert_same_model(tmp_path / "out", CHECKPOINT)
    lines = ["Harbor isn't Dull , qqq .", "é 日本"]
    ours, theirs = (BertTokenizer.from_pretrained(f)(lines) for f in (tmp_path / "out", CHECKPOINT))
    assert torch.equal(ours["input_ids"], theirs["input_ids"])


@pytest.mark.usefixtures("without_transformers")
def test_a_cased_vocabulary_stays_cased(source, tmp_path):
    (source / "tokenizer.json").unlink()
    (source / "tokenizer_config.json").write_text('{"do_lower_case": false}', encoding="utf-8")

    assert import_main([str(source), str(tmp_path / "out")]) == 0

    tokenizer = BertTokenizer.from_pretrained(tmp_path / "out")
    capital, small = tokenizer(["Good", "good"])["input_ids"][:, 1].tolist()
    assert capital == tokenizer.unk_token_id != small


@pytest.mark.usefixtures("without_transformers")
def test_a_head_of_another_task_is_left_out_and_named(source, tmp_path, capsys):
    edit_weights(source, classifier__weight=torch.ones(2, 64), qa_outputs__bias=torch.ones(2))

    assert import_main([str(source), str(tmp_path / "out")]) == 0

    assert "left out: classifier.weight, qa_outputs.bias\n" in capsys.readouterr().out
    assert_same_model(tmp_path / "out", CHECKPOINT)


@pytest.mark.usefixtures("without_transformers")
@pytest.mark.parametrize("prefix", ["_orig_mod.", "module.", "module._orig_mod."])
def test_the_names_that_a_compiled_or_parallel_model_has_are_known(source, tmp_path, prefix):
    weights = {f"{prefix}{name}": tensor for name, tensor in weights_of(source).items()}
    save_file(weights, source / "model.safetensors")

    assert import_main([str(source), str(tmp_path / "out")]) == 0

    assert_same_model(tmp_path / "out", CHECKPOINT)
    assert_same_model(source, CHECKPOINT)


@pytest.mark.usefixtures("without_transformers")
def test_half_precision_becomes_float32(source, tmp_path):
    halves = {name: tensor.half() for name, tensor in weights_of(source).items()}
    save_file(halves, source / "model.safetensors")

    assert import_main([str(source), str(tmp_path / "out")]) == 0

    written = weights_of(tmp_path / "out")
    assert all(torch.equal(written[name], halves[name].float()) for name in halves)


class Harmful:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def harmful_bin(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    content = pickle.dumps({POOLER: Harmful(folder / "harm")})
    (folder / "pytorch_model.bin").write_bytes(content)


Spoil = Callable[[Path], object]
WEIGHTS = "model.safetensors"
DAMAGED = f"{WEIGHTS}: damaged, or not a safetensors file"
OTHERS = f"{WEIGHTS}: the weights do not match this model; "


def without(*names: str) -> Spoil:
    return lambda folder: [(folder / name).unlink() for name in names]


def holds(name: str, content: str | bytes) -> Spoil:
    data = content.encode() if isinstance(content, str) else content
    return lambda folder: (folder / name).write_bytes(data)


def config(**values: object) -> Spoil:
    return lambda folder: edit_json(folder / "config.json", **values)


def tensors(**values: torch.Tensor | None) -> Spoil:
    return lambda folder: edit_weights(folder, **values)


def vocabulary(change: Callable[[bytes], bytes], alone: bool = True) -> Spoil:
    def spoil(folder: Path) -> None:
        path = folder / "vocab.txt"
        path.write_bytes(change(path.read_bytes()))
        if alone:
            (folder / "tokenizer.json").unlink()

    return spoil


def exchange_last_two(text: bytes) -> bytes:
    *pieces, second_last, last = text.splitlines()
    return b"\n".join([*pieces, last, second_last])


BAD: dict[str, tuple[Spoil, str]] = {
    "no folder": (shutil.rmtree, "source: there is no such folder"),
    "no config": (without("config.json"), "config.json: there is no such file"),
    "config no JSON": (holds("config.json", "{"), "config.json: not JSON"),
    "config a list": (holds("config.json", "[]"), "config.json: not a JSON object"),
    "another model": (config(model_type="roberta"), "config.json: model_type is 'roberta'"),
    "another activation": (config(hidden_act="gelu_new"), "config.json: hidden_act is 'gelu_new'"),
    "no sizes": (holds("config.json", "{}"), "config.json: it lacks vocab_size"),
    "impossible sizes": (
        config(num_attention_heads=5),
        "config.json: not a BERT config: num_attention_heads (5) must divide",
    ),
    "other sizes": (config(intermediate_size=100), f"{OTHERS}mis-shaped: bert_layers.0"),
    "no weights": (
        without(WEIGHTS),
        "source: there is no model.safetensors or pytorch_model.bin in it",
    ),
    "half a file": (holds(WEIGHTS, (CHECKPOINT / WEIGHTS).read_bytes()[:5000]), DAMAGED),
    "empty file": (holds(WEIGHTS, ""), DAMAGED),
    "harmful": (harmful_bin, "pytorch_model.bin: damaged, or more than plain tensors"),
    "a layer is missing": (
        tensors(bert__encoder__layer__1__output__dense__bias=None),
        f"{OTHERS}missing: bert_layers.1.out_dense",
    ),
    "a layer too many": (config(num_hidden_layers=2), "unexpected: bert_layers.2"),
    "no pooler": (
        tensors(bert__pooler__dense__weight=None, bert__pooler__dense__bias=None),
        f"{WEIGHTS}: it has no pooler",
    ),
    "twice": (
        tensors(pooler__dense__weight=torch.ones(64, 64)),
        f"{WEIGHTS}: two tensors are named pooler_dense.weight",
    ),
    "not finite": (
        tensors(bert__pooler__dense__bias=torch.full((64,), torch.nan)),
        f"{WEIGHTS}: bert.pooler.dense.bias has NaN",
    ),
    "no tokenizer": (without(*FILES[2:]), "source: there is no tokenizer.json or vocab.txt in it"),
    "damaged tokenizer": (holds("tokenizer.json", "{}"), "tokenizer.json: not a tokenizer"),
    "not WordPiece": (
        holds("tokenizer.json", Tokenizer(models.BPE()).to_str()),
        "tokenizer.json: its model is BPE",
    ),
    "tokenizers disagree": (
        vocabulary(exchange_last_two, alone=False),
        "tokenizer.json: 2 pieces of vocab.txt have different ids",
    ),
    "too many pieces": (
        vocabulary(lambda text: text + b"zzzz\n"),
        "vocab.txt: 384 pieces, but the model has 383",
    ),
    "no mask token": (
        vocabulary(lambda text: text.replace(b"[MASK]", b"mask")),
        "vocab.txt: it lacks [MASK]",
    ),
    "vocabulary not text": (vocabulary(lambda _: b"\xff\n"), "vocab.txt: "),
}


@pytest.mark.usefixtures("without_transformers")
@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_one_line_and_nothing_is_written(source, tmp_path, capsys, kind: str):
    spoil, complaint = BAD[kind]
    spoil(source)
    before = {path.name for path in tmp_path.rglob("*")}

    assert import_main([str(source), str(tmp_path / "out")]) == 2

    output = capsys.readouterr().err
    assert output.count("\n") == 1
    assert output.startswith("import-checkpoint: ")
    assert complaint in output
    assert {path.name for path in tmp_path.rglob("*")} == before


@pytest.mark.usefixtures("without_transformers")
@pytest.mark.parametrize("main", [import_main, export_main])
def test_an_existing_folder_is_never_overwritten(source, tmp_path, capsys, main):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("precious")

    assert main([str(source), str(out)]) == 2

    assert "out: already exists; remove it" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["mine"]


@pytest.mark.parametrize("main", [import_main, export_main])
def test_a_model_that_transformers_computes_differently_is_not_written(
    source, tmp_path, capsys, monkeypatch, main
):
    pytest.importorskip("transformers")
    monkeypatch.setattr(second_opinion, "ALLOWED", {torch.float32: -1.0})

    assert main([str(source), str(tmp_path / "out")]) == 2

    assert "hidden states differ by" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_a_different_tokenization_is_noticed(source, tmp_path):
    pytest.importorskip("transformers")
    other = tmp_path / "other"
    shutil.copytree(source, other)
    pieces = (source / "vocab.txt").read_text().splitlines()
    swapped = [*pieces[:5], *reversed(pieces[5:])]
    (other / "vocab.txt").write_text("\n".join(swapped))
    (other / "tokenizer.json").unlink()

    with pytest.raises(ValueError, match=r"transformers tokenizes .* differently"):
        second_opinion.compare_tokens(source, other)


@pytest.mark.usefixtures("without_transformers")
@pytest.mark.parametrize("main", [import_main, export_main])
def test_missing_names_of_folders_are_asked_for(capsys, main):
    assert main(["", ""]) == 2

    assert "give both folders: make " in capsys.readouterr().err
