"""Models fine-tuned by solution/, saved for Hugging Face transformers and reopened."""

import json

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


def test_a_fine_tuned_model_opens_in_transformers(tmp_path, capsys):
    pytest.importorskip("transformers")
    saved, tokenizer = tmp_path / "saved", BertTokenizer.from_pretrained(CHECKPOINT)
    saved.mkdir()
    torch.manual_seed(3)
    bert = BertModel.from_pretrained(CHECKPOINT)
    model = classifier.BertSentimentClassifier(bert, 5)
    classifier.save_model(model, tokenizer, saved)

    assert export_main([str(saved), str(tmp_path / "out")]) == 0

    assert "logits differ by at most" in capsys.readouterr().out
    config = json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))
    assert config["architectures"] == ["BertForSequenceClassification"]
    assert len(config["id2label"]) == 5


def test_what_was_fine_tuned_is_a_checkpoint_like_any_other(tmp_path, monkeypatch):
    monkeypatch.setattr(second_opinion, "transformers", lambda: None)
    saved = tmp_path / "saved"
    saved.mkdir()
    bert = BertModel.from_pretrained(CHECKPOINT)
    tokenizer = BertTokenizer.from_pretrained(CHECKPOINT)
    classifier.save_model(classifier.BertSentimentClassifier(bert, 2), tokenizer, saved)

    again = BertModel.from_pretrained(saved)

    weights = again.state_dict()
    assert all(torch.equal(tensor, weights[name]) for name, tensor in bert.state_dict().items())
    assert import_main([str(saved), str(tmp_path / "out")]) == 0


def test_a_classifier_that_transformers_computes_differently_is_not_written(
    tmp_path, capsys, monkeypatch
):
    pytest.importorskip("transformers")
    monkeypatch.setattr(second_opinion, "ALLOWED", {torch.float32: 0.0})
    saved = tmp_path / "saved"
    saved.mkdir()
    model = classifier.BertSentimentClassifier(BertModel.from_pretrained(CHECKPOINT), 2)
    torch.nn.init.normal_(model.classifier.weight)  # otherwise every score is 0
    classifier.save_model(model, BertTokenizer.from_pretrained(CHECKPOINT), saved)

    assert export_main([str(saved), str(tmp_path / "out")]) == 2

    assert "logits differ by" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]
