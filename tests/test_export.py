"""Models fine-tuned by solution/, saved for Hugging Face transformers and reopened."""

import json
from pathlib import Path

import pytest
import torch

from instructor.huggingface import second_opinion
from instructor.huggingface.export_checkpoint import main as export_main
from instructor.huggingface.import_checkpoint import main as import_main

import classifier
from bert import BertModel
from conftest import ROOT
from tokenizer import BertTokenizer

CHECKPOINT = ROOT / "checkpoint"


def saved_classifier(folder: Path, labels: int = 2) -> Path:
    """Save a classifier as a fine-tune does."""
    torch.manual_seed(3)
    model = classifier.BertSentimentClassifier(BertModel.from_pretrained(CHECKPOINT), labels)
    torch.nn.init.normal_(model.classifier.weight)  # otherwise every score is 0
    (folder / "saved").mkdir()
    classifier.save_model(model, BertTokenizer.from_pretrained(CHECKPOINT), folder / "saved")
    return folder / "saved"


def test_a_fine_tuned_model_opens_in_transformers(tmp_path, capsys):
    pytest.importorskip("transformers")
    folder = saved_classifier(tmp_path, labels=5)

    assert export_main([str(folder), str(tmp_path / "out")]) == 0

    assert "logits differ by at most" in capsys.readouterr().out
    config = json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))
    assert config["architectures"] == ["BertForSequenceClassification"]
    assert len(config["id2label"]) == 5


def test_a_fine_tuned_model_is_a_checkpoint_like_any_other(tmp_path, monkeypatch):
    monkeypatch.setattr(second_opinion, "transformers", lambda: None)
    folder = saved_classifier(tmp_path)

    weights, before = (BertModel.from_pretrained(f).state_dict() for f in (folder, CHECKPOINT))

    assert all(torch.equal(tensor, weights[name]) for name, tensor in before.items())
    assert import_main([str(folder), str(tmp_path / "out")]) == 0


def test_a_classifier_that_transformers_computes_differently_is_not_written(
    tmp_path, capsys, monkeypatch
):
    pytest.importorskip("transformers")
    monkeypatch.setattr(second_opinion, "ALLOWED", {torch.float32: -1.0})

    assert export_main([str(saved_classifier(tmp_path)), str(tmp_path / "out")]) == 2

    assert "logits differ by" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]
