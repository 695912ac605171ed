"""visualize.py shows what the code computes; bad input and unwritten functions are one line."""

import math

import pytest
import torch
from matplotlib.image import imread

from bert import BertModel, BertSelfAttention
from support.observe import open_model, probabilities, recorded
from tests.helpers.tiny_model import CONFIG, raising, refusal, tiny_checkpoint
from visualize import draw_attention, main


@pytest.mark.parametrize("T", [1, 8, 19])  # less than the width of a head, and more
def test_probabilities_are_found_through_the_published_signature(T):
    torch.manual_seed(1)
    part = BertSelfAttention(CONFIG).eval()
    key, query = torch.randn(2, 1, 2, T, 8)
    mask = torch.zeros(1, 1, 1, T)
    mask[..., T // 2 + 1 :] = -10000.0

    actual = probabilities(part.attention, key, query, mask)

    expected = (query @ key.transpose(2, 3) / math.sqrt(8) + mask).softmax(dim=-1)
    torch.testing.assert_close(actual, expected)


def test_recording_shows_the_models_own_numbers_and_changes_none():
    model = BertModel(CONFIG).eval()
    ids = torch.tensor([[2, 7, 9, 8, 3]])
    mask = torch.ones_like(ids)
    before = model(ids, mask)["last_hidden_state"]

    with recorded(model) as steps:
        during = model(ids, mask)["last_hidden_state"]
    after = model(ids, mask)["last_hidden_state"]

    assert torch.equal(before, during)
    assert torch.equal(before, after)
    made = dict(steps)
    assert made["bert_layers.0.self_attention.attention"].shape == (1, 2, 5, 5)
    assert torch.equal(made["bert_layers.0.out_layer_norm"], before)
    assert all("attention" not in vars(layer.self_attention) for layer in model.bert_layers)


def test_a_walk_follows_one_token_to_the_label(tmp_path, capsys):
    folder = tiny_checkpoint(tmp_path / "tuned")  # it has a classifier

    assert main(["walk", "harbor is witty .", "--token", "2", "--checkpoint", str(folder)]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[CLS] harbor is witty . [SEP]: following harbor"
    model, tokenizer = open_model(folder)
    first = model.bert.word_embedding.weight[tokenizer.tokenizer.token_to_id("harbor")][0]
    assert lines[1].split()[:4] == ["bert.word_embedding", "16", "units", f"{first:.2f}"]
    assert sum("looks most at" in line for line in lines) == CONFIG.num_attention_heads
    assert lines[-1].startswith("label ")


def test_attention_is_drawn_with_a_panel_for_each_layer_and_head(monkeypatch, tmp_path, capsys):
    figure = draw_attention(torch.rand(3, 4, 5, 5), list("abcde"))
    monkeypatch.chdir(tmp_path)

    assert main(["attention", "good", "."]) == 0
    assert main(["fill-mask", "harbor is [MASK] at all dull ."]) == 0

    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == [f"layer {n // 4 + 1}, head {n % 4 + 1}" for n in range(12)]
    assert min(imread("runs/attention.png").shape[:2]) > 150
    assert capsys.readouterr().out.splitlines()[-5].split()[1] == "not"  # of five, the likeliest


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["fill-mask", "the film is dull ."], "should have one [MASK], in capitals, but has 0"),
        (["attention", "good " * 100], "the sentence has 102 tokens, the model 64 positions"),
        (["walk", "good", "--token", "4"], "--token 4: the sentence has only 3 tokens"),
        (["attention", "good", "--checkpoint", "nowhere"], "nowhere"),
        (["attention", "good", "--out", "a/b.png"], "a/b.png: no such file or directory"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_drawn(
    monkeypatch, tmp_path, capsys, arguments, complaint
):
    monkeypatch.chdir(tmp_path)

    assert complaint in refusal(main, arguments, capsys)
    assert not list(tmp_path.iterdir())


def test_a_hole_is_one_line_after_the_steps_before_it(monkeypatch, capsys):
    monkeypatch.setattr(BertSelfAttention, "attention", raising("bert.py", "attention"))

    assert main(["walk", "good"]) == 1

    output = capsys.readouterr()
    assert output.err == "bert.py: Problem (attention) is not written yet; see handout.md\n"
    assert "embed_layer_norm" in output.out
