"""The walk: it shows the model's own numbers, as far as the functions are written."""

import html.parser
import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from walk_page import page

import observe
from bert import BertLayer, BertModel, BertSelfAttention
from conftest import ROOT
from small import raising, refusal, tiny_checkpoint
from tokenizer import BertTokenizer
from verdict import open_classifier
from visualize import main
from walk import BY_UNIT, PADS, Step, Walk, follow

SENTENCE = "harbor is not dull ."
HOLES = {
    "attention": (BertSelfAttention, "attention"),
    "add_norm": (BertLayer, "add_norm"),
    "layer": (BertLayer, "forward"),
    "embed": (BertModel, "embed"),
    "encode": (BertModel, "encode"),
}
NEVER_REACHED = {("add_norm", "layer", "embed", "encode"): {"add_norm"}, tuple(HOLES): {"add_norm"}}


@pytest.fixture(scope="module")
def tokenizer() -> BertTokenizer:
    return BertTokenizer.from_pretrained(ROOT / "checkpoint")


def walk_of(tokenizer: BertTokenizer) -> Walk:
    return follow(BertModel.from_pretrained(ROOT / "checkpoint"), None, tokenizer, SENTENCE)


def titles(walk: Walk, part: str) -> list[str]:
    return [step.title for step in walk.steps if step.part == part]


def unwritten(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    for name in names:
        monkeypatch.setattr(*HOLES[name], raising("bert.py", name))


def test_the_steps_of_every_layer_are_all_there_in_order(tokenizer: BertTokenizer) -> None:
    walk = walk_of(tokenizer)

    assert walk.tokens == ["[CLS]", *SENTENCE.split(), "[SEP]", "[PAD]", "[PAD]"]
    embedding = ["words", "positions", "token types", "the three, added up"]
    assert titles(walk, "embedding") == [*embedding, "the three, normalized"]
    first = ["query", "key", "value", "mask", "scores", "probabilities", "context", "projected"]
    second = ["widened", "activated", "narrowed", "feed-forward, added up"]
    for number in (1, 2, 3):
        norms = "attention, added up", "attention, normalized"
        assert titles(walk, f"layer {number}") == [
            *first,
            *norms,
            *second,
            "feed-forward, normalized",
        ]
    assert titles(walk, "verdict") == ["pooled"]


def test_the_numbers_are_those_of_the_model(tokenizer: BertTokenizer) -> None:
    model = BertModel.from_pretrained(ROOT / "checkpoint")
    batch = tokenizer([SENTENCE])
    alone = model(batch["input_ids"], batch["attention_mask"])
    maps = observe.attention_maps(model, batch["input_ids"], batch["attention_mask"])

    walk = follow(model, None, tokenizer, SENTENCE)
    named = {(step.part, step.title): step.tensor for step in walk.steps}

    T = len(walk.tokens) - PADS
    last = named["layer 3", "feed-forward, normalized"]
    torch.testing.assert_close(last[:, :T], alone["last_hidden_state"], rtol=0, atol=1e-4)
    shares = named["layer 2", "probabilities"]
    torch.testing.assert_close(shares[0, :, :T, :T], maps[1], rtol=0, atol=1e-4)
    assert shares[..., T:].abs().max() == 0.0
    scores = named["layer 2", "scores"]
    torch.testing.assert_close(scores.softmax(dim=-1), shares, rtol=0, atol=1e-4)
    torch.testing.assert_close(
        named["verdict", "pooled"], alone["pooler_output"], atol=1e-4, rtol=0
    )


def test_following_a_model_does_not_change_it(tokenizer: BertTokenizer) -> None:
    model = BertModel.from_pretrained(ROOT / "checkpoint")
    layer = model.bert_layers[0]
    before = layer.interm_af, set(vars(layer.self_attention)), len(layer.out_dense._forward_hooks)

    follow(model, None, tokenizer, SENTENCE)

    assert (layer.interm_af, set(vars(layer.self_attention)), 0) == before


@pytest.mark.parametrize(
    ("missing", "part", "reached"),
    [
        ([], "verdict", "pooled"),
        (["attention"], "layer 1", "mask"),
        (["add_norm"], "layer 1", "context"),
        (["layer"], "layer 1", "context"),
        (["encode"], "layer 1", "feed-forward, normalized"),
        (["embed"], "layer 3", "feed-forward, normalized"),
        (["embed", "encode"], "layer 1", "feed-forward, normalized"),
        (["layer", "embed", "encode"], "layer 1", "context"),
        (["add_norm", "layer", "embed", "encode"], "layer 1", "context"),
        (list(HOLES), "layer 1", "mask"),
    ],
)
def test_written_functions_are_shown_and_unwritten_ones_are_named(
    monkeypatch, tokenizer, missing: list[str], part: str, reached: str
) -> None:
    unwritten(monkeypatch, *missing)

    walk = walk_of(tokenizer)

    computed = [step for step in walk.steps if step.tensor is not None]
    assert (computed[-1].part, computed[-1].title) == (part, reached)
    text = " ".join(step.says for step in walk.steps if step.tensor is None)
    named = [name for name in HOLES if f"Problem ({name}) is not written yet" in text]
    assert set(named) == {*missing} - NEVER_REACHED.get(tuple(missing), set())
    assert ("Random numbers" in text) == ("embed" in missing)
    assert "Problem" in page(walk, SENTENCE, "x") or not missing


def test_a_function_that_fails_is_named_with_its_error(monkeypatch, tokenizer) -> None:
    names: dict[str, Any] = {}
    code = "def broken(self, key, query, value, attention_mask):\n    return query @ key"
    exec(compile(code, str(ROOT / "solution" / "bert.py"), "exec"), names)
    monkeypatch.setattr(BertSelfAttention, "attention", names["broken"])

    last = walk_of(tokenizer).steps[-1]

    assert (last.part, last.title) == ("layer 1", "it stops here")
    assert last.says.startswith("bert.py, line 2, in broken: RuntimeError: Expected size")


def test_attention_without_a_softmax_of_torch_has_no_scores(monkeypatch, tokenizer) -> None:
    def by_hand(self, key, query, value, attention_mask):
        B, H, T, d = query.shape
        weights = (query @ key.mT / d**0.5 + attention_mask).exp()
        context = weights / weights.sum(dim=-1, keepdim=True) @ value
        return context.transpose(1, 2).reshape(B, T, H * d)

    monkeypatch.setattr(BertSelfAttention, "attention", by_hand)

    names = titles(walk_of(tokenizer), "layer 1")

    assert "scores" not in names
    assert "probabilities" in names


@pytest.mark.parametrize("odd", [torch.tensor(2.0), torch.ones(3), torch.ones(2, 1, 1, 3, 9)])
def test_a_tensor_of_an_odd_shape_is_shown_as_well_as_it_can_be(odd: torch.Tensor) -> None:
    steps = [Step("layer 1", title, "odd", odd, BY_UNIT) for title in ("context", "words")]

    assert "odd" in page(Walk(["[CLS]", "a"], [2, 5], steps), "a", "x")


def test_numbers_that_are_not_finite_are_shown(tokenizer: BertTokenizer) -> None:
    values = torch.tensor([[[math.inf, -math.inf, math.nan, 1.0]]])
    step = Step("layer 1", "context", "", values, BY_UNIT)

    cells = re.findall(r'<td class="(\w+)">([^<]+)', page(Walk(["a"], [5], [step]), "a", "x"))

    assert cells[1:] == [("p5", "inf"), ("n5", "-inf"), ("z", "nan"), ("p5", "1.00")]


class Reader(html.parser.HTMLParser):
    """Collects the targets of a page's references, and counts its numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.count = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count += tag == "td"
        self.targets += [str(value) for name, value in attrs if name in ("src", "href")]


def test_the_page_refers_to_nothing_outside_and_has_the_models_numbers(tokenizer) -> None:
    walk = walk_of(tokenizer)
    reader = Reader()

    text = page(walk, SENTENCE, "here")
    reader.feed(text)

    assert all(target.startswith("#") for target in reader.targets)
    assert not re.search(r"https?:|@import|url\(", text)
    words = next(step for step in walk.steps if step.title == "words").tensor
    assert f"{words[0, 0, 0]:z.2f}</" in text or f">{words[0, 0, 0]:z.2f}<" in text
    assert reader.count > 1000
    assert "1 sentence, 9 tokens, 64 units; the first 8 are shown" in text
    assert "1 sentence, one for all heads, one for all tokens that look, 9 tokens" in text


def test_a_sentence_is_shown_as_text_and_not_as_markup(tokenizer: BertTokenizer) -> None:
    walk = walk_of(tokenizer)
    walk.tokens[1] = "<b>"

    text = page(walk, "<script>alert(1)</script>\x1b\u202e&", "</title>")

    assert "<script>alert" not in text
    assert "<b>" not in text
    assert "\\x1b\\u202e&amp;" in text
    assert text.count("</title>") == 1


def test_the_command_writes_a_page_and_says_how_far_it_came(monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.chdir(tmp_path)  # where no model has been fine-tuned

    assert main(["walk", "harbor is dull ."]) == 0

    output = capsys.readouterr().out
    assert output.startswith("51 steps; the last, pooled: ")
    assert "no verdict, as the model is not fine-tuned" in output
    written_page = (tmp_path / "runs" / "walk.html").read_text(encoding="utf-8")
    assert written_page.startswith("<!doctype html>")
    assert "With the weights of checkpoint." in written_page


def test_the_fine_tuned_model_is_followed_if_there_is_one(monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    tiny_checkpoint(tmp_path / "runs" / "tuned")

    assert main(["walk", "harbor is witty"]) == 0
    assert "the last, verdict: bad, with probability 0.500." in capsys.readouterr().out
    assert main(["walk", "harbor", "is", "--checkpoint", str(ROOT / "checkpoint")]) == 0
    assert "no verdict" in capsys.readouterr().out


def test_a_fine_tuned_model_is_followed_to_its_verdict(tmp_path: Path) -> None:
    head, words = open_classifier(tiny_checkpoint(tmp_path / "tuned"))

    walk = follow(head.bert, head, words, "harbor is witty")

    assert titles(walk, "verdict") == ["pooled", "logits", "verdict"]
    assert walk.steps[-1].says == "bad, with probability 0.500."
    assert "1 sentence, 2 classes" in page(walk, "harbor is witty", "x")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["walk", "good " * 30], "the sentence has 32 tokens; a page has room for 24"),
        (["walk", ""], "the sentence is empty"),
        (["walk", "good", "--out", "a.png"], "a.png: should end in .html"),
        (["walk", "good", "--tuned", "nowhere"], "nowhere: there is no fine-tuned model"),
        (["walk"], "required: sentence"),
    ],
)
def test_bad_input_is_one_line(monkeypatch, tmp_path, capsys, arguments, complaint) -> None:
    monkeypatch.chdir(tmp_path)

    assert complaint in refusal(main, arguments, capsys)
    assert not list(tmp_path.iterdir())
