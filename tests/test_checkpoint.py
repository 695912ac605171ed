"""The frozen checkpoint: intact, opens in Hugging Face transformers, and agrees with solution/."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from instructor.huggingface import second_opinion
from instructor.pretraining.pretrain import main as pretrain

from base_bert import CheckpointError
from bert import BertModel
from conftest import ROOT
from tokenizer import BertTokenizer

CHECKPOINT = ROOT / "checkpoint"
SENTENCES = ["harbor is not at all dull .", "Mira's film: a Triumph!", "un café 日本 qqqq", "good"]


@pytest.fixture(scope="module")
def batch() -> dict[str, torch.Tensor]:
    tokenizer = BertTokenizer.from_pretrained(CHECKPOINT)
    return tokenizer(SENTENCES, ["five stars .", "see it .", "so what ?", "bad film , no stars ."])


def test_the_committed_files_are_those_that_pre_training_wrote() -> None:
    assert pretrain(["--check"]) == 0


def test_transformers_gives_the_same_hidden_states() -> None:
    pytest.importorskip("transformers")

    assert second_opinion.compare_hidden_states(CHECKPOINT, CHECKPOINT)


def test_transformers_opens_the_pre_training_heads() -> None:
    transformers = pytest.importorskip("transformers")

    _, info = transformers.BertForPreTraining.from_pretrained(CHECKPOINT, output_loading_info=True)

    assert not info["unexpected_keys"]
    assert not info["mismatched_keys"]
    assert set(info["missing_keys"]) <= {
        "cls.predictions.decoder.weight",
        "cls.predictions.decoder.bias",
    }


def test_transformers_tokenizes_the_same(batch: dict[str, torch.Tensor]) -> None:
    transformers = pytest.importorskip("transformers")
    theirs = transformers.AutoTokenizer.from_pretrained(CHECKPOINT)

    single = BertTokenizer.from_pretrained(CHECKPOINT)(SENTENCES)

    assert single["input_ids"].tolist() == theirs(SENTENCES, padding=True)["input_ids"]


def test_weights_load_without_the_prefix_and_under_the_old_names_of_layer_norm(
    tmp_path: Path,
) -> None:
    weights = {
        name.removeprefix("bert.")
        .replace("LayerNorm.weight", "LayerNorm.gamma")
        .replace("LayerNorm.bias", "LayerNorm.beta"): value
        for name, value in load_file(CHECKPOINT / "model.safetensors").items()
    }
    shutil.copy(CHECKPOINT / "config.json", tmp_path)
    save_file(weights, tmp_path / "model.safetensors")

    renamed, original = (BertModel.from_pretrained(folder) for folder in (tmp_path, CHECKPOINT))

    for name, value in original.state_dict().items():
        assert torch.equal(value, renamed.state_dict()[name]), name


def test_all_mismatches_are_named_at_once(tmp_path: Path) -> None:
    weights = load_file(CHECKPOINT / "model.safetensors")
    del weights["bert.pooler.dense.bias"]
    weights["bert.extra"] = torch.zeros(1)
    weights["bert.pooler.dense.weight"] = torch.zeros(2, 2)
    shutil.copy(CHECKPOINT / "config.json", tmp_path)
    save_file(weights, tmp_path / "model.safetensors")

    with pytest.raises(CheckpointError) as error:
        BertModel.from_pretrained(tmp_path)

    message = str(error.value)
    assert "missing: pooler_dense.bias" in message
    assert "unexpected: extra" in message
    assert "mis-shaped: pooler_dense.weight is (2, 2)" in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    shutil.copytree(CHECKPOINT, tmp_path / "ours")
    (tmp_path / "ours" / name).unlink()

    with pytest.raises(FileNotFoundError) as error:
        BertModel.from_pretrained(tmp_path / "ours")

    assert name in str(error.value)


def test_a_config_with_impossible_sizes_is_refused(tmp_path: Path) -> None:
    config = json.loads((CHECKPOINT / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps(config | {"num_attention_heads": 5}))

    with pytest.raises(ValueError, match="num_attention_heads \\(5\\) must divide") as error:
        BertModel.from_pretrained(tmp_path)

    assert str(tmp_path / "config.json") in str(error.value)
