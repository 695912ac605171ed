"""The pictures: they show what the code computes, they open, and bad input is one line."""

import json
import math
import sys
import types
import xml.etree.ElementTree
from pathlib import Path

import pytest
import torch

import observe
from bert import BertModel, BertSelfAttention
from config import BertConfig
from conftest import ROOT
from observe import attention_maps, probabilities
from small import raising, refusal
from tokenizer import BertTokenizer
from typed import encode
from vectors import project
from visualize import main

SVG = "{http://www.w3.org/2000/svg}"
CONFIG = BertConfig(
    vocab_size=20,
    hidden_size=6,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=10,
    max_position_embeddings=12,
)


@pytest.fixture
def curve(tmp_path: Path) -> Path:
    path = tmp_path / "curve.json"
    values = {
        "loss of each step": [0.7, 0.5, 0.4, 0.3],
        "dev accuracy after a step": [[1, 0.5], [2, 0.6], [3, 0.8], [4, 0.9]],
        "epochs": 2,
    }
    path.write_text(json.dumps(values), encoding="utf-8")
    return path


def texts(path: Path) -> list[str]:
    root = xml.etree.ElementTree.parse(path).getroot()
    return ["".join(node.itertext()).strip() for node in root.iter(f"{SVG}text")]


def shades(path: Path) -> int:
    """Open a PNG and count its colours."""
    from matplotlib.image import imread

    pixels = torch.tensor(imread(path))
    assert min(pixels.shape[:2]) > 150
    return len(pixels.flatten(0, 1).unique(dim=0))


@pytest.mark.parametrize("T", [1, 3, 7])  # heads of width 3: less than a strip, one, and several
def test_probabilities_are_found_through_the_published_signature(T: int) -> None:
    torch.manual_seed(1)
    part = BertSelfAttention(CONFIG).eval()
    key, query = torch.randn(2, 1, 2, T, 3)
    mask = torch.zeros(1, 1, 1, T)
    mask[..., T // 2 + 1 :] = -10000.0

    actual = probabilities(part.attention, key, query, mask)

    expected = (query @ key.transpose(2, 3) / math.sqrt(3) + mask).softmax(dim=-1)
    torch.testing.assert_close(actual, expected)


def test_the_picture_shows_the_models_own_attention(monkeypatch) -> None:
    def uniform(self, key, query, value, attention_mask):
        B, H, T, d = value.shape
        mean = value.mean(dim=2, keepdim=True).expand(B, H, T, d)
        return mean.transpose(1, 2).reshape(B, T, H * d)

    monkeypatch.setattr(BertSelfAttention, "attention", uniform)
    model, ids = BertModel(CONFIG).eval(), torch.tensor([[2, 7, 9, 8, 3]])

    maps = attention_maps(model, ids, torch.ones_like(ids))

    torch.testing.assert_close(maps, torch.full((2, 2, 5, 5), 0.2))


def test_watching_a_model_does_not_change_its_output() -> None:
    model, ids = BertModel(CONFIG).eval(), torch.tensor([[2, 7, 9, 8, 3]])
    mask = torch.ones_like(ids)
    before = model(ids, mask)["last_hidden_state"]

    with observe.watched(model) as maps:
        during = model(ids, mask)["last_hidden_state"]

    assert len(maps) == 2
    assert torch.equal(before, during)
    assert all("attention" not in vars(layer.self_attention) for layer in model.bert_layers)


def test_attention_of_a_wrong_shape_is_reported(monkeypatch, tmp_path, capsys) -> None:
    wrong = lambda self, key, query, value, attention_mask: value  # noqa: E731
    monkeypatch.setattr(BertSelfAttention, "attention", wrong)

    assert main(["attention", "good", "--out", str(tmp_path / "a.png")]) == 2

    expected = "visualize.py: attention should return shape (1, 3, 64), got (1, 4, 3, 16)\n"
    assert capsys.readouterr().err == expected


def test_attention_has_a_panel_per_head_and_tokens_on_both_axes(tmp_path: Path) -> None:
    out = tmp_path / "attention.svg"

    assert main(["attention", "the film is not dull .", "--out", str(out)]) == 0

    labels = texts(out)
    assert [title for title in labels if title.startswith("layer ")] == [
        f"layer {layer}, head {head}" for layer in (1, 2, 3) for head in (1, 2, 3, 4)
    ]
    assert labels.count("dull") == 3 + 4  # along the left column and the bottom row
    assert len(list(xml.etree.ElementTree.parse(out).getroot().iter(f"{SVG}image"))) >= 12


def test_one_layer_can_be_drawn_alone(tmp_path: Path) -> None:
    out = tmp_path / "layer.svg"

    assert main(["attention", "good .", "--layer", "2", "--out", str(out)]) == 0

    assert {title[:7] for title in texts(out) if title.startswith("layer ")} == {"layer 2"}


def test_fill_mask_prints_and_draws_five_likely_tokens(tmp_path: Path, capsys) -> None:
    out = tmp_path / "guesses.svg"

    assert main(["fill-mask", "harbor is [MASK] at all dull .", "--out", str(out)]) == 0

    lines = [line.split() for line in capsys.readouterr().out.splitlines()[:5]]
    shares = [float(share) for share, _ in lines]
    assert lines[0][1] == "not"
    assert shares == sorted(shares, reverse=True)
    assert 0.5 < sum(shares) <= 1.001
    assert {token for _, token in lines} <= set(texts(out))
    assert {share for share, _ in lines} <= set(texts(out))


def test_embeddings_show_sentences_before_and_after(tmp_path: Path) -> None:
    out = tmp_path / "points.png"
    options = ["--tuned", str(ROOT / "checkpoint"), "--count", "40", "--out", str(out)]

    assert main(["embeddings", *options]) == 0

    assert shades(out) > 10


def test_sinusoidal_positions_are_drawn_next_to_learned_ones(tmp_path, monkeypatch) -> None:
    sizes = []

    def sinusoidal_positions(length: int, width: int) -> torch.Tensor:
        sizes.append((length, width))
        return torch.sin(torch.arange(1.0, length * width + 1).view(length, width))

    module = types.SimpleNamespace(sinusoidal_positions=sinusoidal_positions)
    monkeypatch.setitem(sys.modules, "transformer", module)
    out = tmp_path / "positions.svg"

    assert main(["positions", "--out", str(out)]) == 0

    assert sizes == [(64, 64)]
    titles = {"sinusoidal positions", "cosines, sinusoidal", "cosines, learned"}
    assert titles <= set(texts(out))


def test_a_missing_module_of_exercises_is_reported(monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "transformer", None)

    assert main(["positions"]) == 2

    expected = "visualize.py: this picture needs transformer.py, which is missing\n"
    assert capsys.readouterr().err == expected


def test_two_groups_stay_two_groups_when_projected() -> None:
    torch.manual_seed(2)
    centre = 5 * torch.randn(16)
    vectors = torch.cat([torch.randn(30, 16) + centre, torch.randn(30, 16) - centre])

    points, share = project(vectors)

    assert points.shape == (60, 2)
    assert (points[:30, 0].sign() != points[30:, 0].sign()).all()
    assert 0.5 < share < 1.0


def test_a_training_is_drawn_from_its_curve(tmp_path: Path, curve: Path) -> None:
    for out in (tmp_path / "training.png", tmp_path / "training.svg"):
        assert main(["training", str(curve), "--out", str(out)]) == 0

    assert {"training loss", "dev accuracy", "0.900"} <= set(texts(tmp_path / "training.svg"))
    assert shades(tmp_path / "training.png") > 10


def test_equal_input_gives_equal_files(tmp_path: Path, curve: Path) -> None:
    for kind in ("png", "svg"):
        files = [tmp_path / f"{name}.{kind}" for name in ("one", "two")]
        for out in files:
            main(["training", str(curve), "--out", str(out)])
        assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["fill-mask", "the film is dull ."], "should have one [MASK], in capitals, but has 0"),
        (["fill-mask", "[mask] is good ."], "should have one [MASK], in capitals, but has 0"),
        (["fill-mask", "[MASK] is [MASK] ."], "should have one [MASK], in capitals, but has 2"),
        (["attention", "good " * 100], "the sentence has 102 tokens, the model 64 positions"),
        (["attention", ""], "the sentence is empty"),
        (["attention", " \t"], "the sentence is empty"),
        (["fill-mask", ""], "the sentence is empty"),
        (["attention", "\u2603 \u96fb"], "the model knows none of these words"),
        (["fill-mask", "[MASK] \u2603"], "the model knows none of these words"),
        (["attention", "good", "--layer", "4"], "--layer 4: the model has layers 1 to 3"),
        (["attention", "good", "--checkpoint", "nowhere"], "nowhere"),
        (["attention", "good", "--out", "picture.gif"], "picture.gif: should end in .png or .svg"),
        (["attention", "good", "--out", "a/b.png"], "there is no folder a; make it first: mkdir"),
        (
            ["embeddings"],
            "runs/tuned: there is no fine-tuned model; make one: python classifier.py",
        ),
        (["similarity", "good"], "runs/tuned: there is no fine-tuned model; make one: python"),
        (["attention", "good" * 501], "the sentence has more than 2000 characters"),
        (["attention", "\udcff"], "the sentence is not UTF-8 text"),
        (["training", "nowhere.json"], "nowhere.json: no such file"),
        (["training", str(ROOT / "checkpoint" / "config.json")], "not a training curve"),
        (["dance"], "invalid choice"),
        ([], "required: picture; see --help"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_drawn(
    monkeypatch, tmp_path, capsys, arguments, complaint
) -> None:
    monkeypatch.chdir(tmp_path)

    output = refusal(main, arguments, capsys)

    assert output.startswith("visualize.py: ")
    assert complaint in output
    assert not list(tmp_path.iterdir())


def test_the_name_of_a_folder_is_refused_as_that_of_a_picture(tmp_path: Path, capsys) -> None:
    (tmp_path / "a.png").mkdir()

    error = refusal(main, ["attention", "good", "--out", str(tmp_path / "a.png")], capsys)

    assert error.endswith("a.png: is a folder; give the name of a file in it\n")


def test_without_out_the_picture_goes_into_runs(monkeypatch, tmp_path: Path, curve: Path) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["training", str(curve)]) == 0

    assert shades(tmp_path / "runs" / "training.png") > 10


def test_words_that_are_not_in_the_vocabulary_are_named(tmp_path: Path, capsys) -> None:
    out = str(tmp_path / "a.svg")

    assert main(["attention", "THE Matrix is \u2603 .", "--out", out]) == 0
    assert capsys.readouterr().err == (
        "not in the vocabulary: Matrix (read as m ##a ##t ##r ##i ##x), "
        "\u2603 (read as [UNK]); capitals make no difference\n"
    )
    assert main(["fill-mask", "the qq is [MASK]", "--out", out]) == 0
    assert "qq (read as q ##q)" in capsys.readouterr().err
    assert main(["fill-mask", "The FILM is [MASK]", "--out", out]) == 0
    assert capsys.readouterr().err == ""


def test_a_sentence_needs_no_quotes_and_may_have_dollar_signs(tmp_path: Path) -> None:
    out = tmp_path / "a.svg"
    sentence = r"the $film is $\nothing [MASK]"

    assert main(["fill-mask", *sentence.split(), "--out", str(out)]) == 0

    assert sentence in texts(out)


def test_without_matplotlib_the_message_says_how_to_install_it(monkeypatch, capsys) -> None:
    for name in ("drawing", "pictures"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    assert main(["attention", "good"]) == 2

    pinned = next(
        line.split()[0]
        for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines()
        if line.startswith("matplotlib==")
    )
    expected = f"visualize.py: matplotlib is not installed; pip install {pinned}\n"
    assert capsys.readouterr().err == expected


def test_a_hole_is_one_line_and_no_traceback(monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.setattr(BertSelfAttention, "attention", raising("bert.py", "attention"))

    assert main(["attention", "good", "--out", str(tmp_path / "a.png")]) == 1

    assert capsys.readouterr().err == "bert.py: Problem (attention) is not written yet\n"


def test_the_pictures_of_the_handout_open_and_are_small() -> None:
    pictures = sorted((ROOT / "pictures").glob("*.png"))

    assert len(pictures) >= 4
    assert all(shades(path) > 10 for path in pictures)
    assert sum(path.stat().st_size for path in pictures) < 400_000


def test_tokens_of_a_sentence_have_their_names() -> None:
    tokenizer = BertTokenizer.from_pretrained(ROOT / "checkpoint")

    _, tokens = encode("Not [MASK] qq", tokenizer, 64)

    assert tokens == ["[CLS]", "not", "[MASK]", "q", "##q", "[SEP]"]
