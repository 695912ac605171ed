"""The frozen checkpoint is intact and has transformers' names; damaged ones are refused.

tests/test_huggingface.py compares it with what Hugging Face transformers computes.
"""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from base_bert import CheckpointError
from bert import BertModel
from config import BertConfig
from instructor.pretraining.pretrain import main as pretrain
from tests.helpers import ROOT

CHECKPOINT = ROOT / "checkpoint"


def test_the_committed_files_are_those_that_pre_training_wrote():
    assert pretrain(["--check"]) == 0


def test_all_mismatches_are_named_at_once(tmp_path):
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


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hidden_act", "relu"),
        ("hidden_act", "gelu_new"),
        ("is_decoder", True),
        ("model_type", "roberta"),
        ("position_embedding_type", "relative_key"),
    ],
)
def test_a_config_of_another_kind_of_model_is_refused_by_its_key(tmp_path, key, value):
    path = tmp_path / "config.json"
    values = json.loads((CHECKPOINT / "config.json").read_text("utf-8"))
    path.write_text(json.dumps(values | {key: value}), "utf-8")

    with pytest.raises(ValueError, match=f"config.json: not a BERT config: {key} is") as caught:
        BertConfig.from_json(tmp_path)

    assert "\n" not in str(caught.value)
