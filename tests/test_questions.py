"""Staff's answers to the written questions: every number is what the code and the data give."""

import math
import re

import torch

from bert import BertModel, BertSelfAttention
from config import BertConfig
from tests.helpers import ROOT
from tests.helpers.handout import PAGES, of_the_shipped_model
from tokenizer import BertTokenizer

QUESTIONS = PAGES["handout/questions.md"]
ANSWERS = (ROOT / "instructor" / "questions.md").read_text("utf-8")
PROSE = re.sub(r"\s+", " ", ANSWERS)
SHIPPED = BertConfig.from_json(ROOT / "checkpoint")
BASE = BertConfig()
BOTH = (SHIPPED, BASE)
SWEEP = re.findall(r"^\| (0\.\d+) \| (\d\.\d+) \| (\d\.\d+) \|$", ANSWERS, re.M)


def check(text: str) -> None:
    """Check that the answers say a text."""
    assert text in PROSE, f"the answers do not say: {text}"


def count(part: torch.nn.Module) -> int:
    return sum(p.numel() for p in part.parameters())


def weightless(config: BertConfig) -> BertModel:
    """Return a model whose weights take no memory."""
    with torch.device("meta"):
        return BertModel(config)


def test_parameters_are_counted_as_the_models_have_them() -> None:
    models = [weightless(config) for config in BOTH]
    embeddings = "word_embedding pos_embedding tk_type_embedding embed_layer_norm".split()
    rows = {
        "embeddings": [sum(count(getattr(m, name)) for name in embeddings) for m in models],
        "one layer": [count(m.bert_layers[0]) for m in models],
        "all layers": [count(m.bert_layers) for m in models],
        "pooler": [count(m.pooler_dense) for m in models],
        "together": [count(m) for m in models],
    }

    for name, (ours, base) in rows.items():
        check(f"| {name} | {ours:,} | {base:,} |")
    shares = [count(m.word_embedding) / count(m) for m in models]
    check(f"| share of the word embedding | {shares[0]:.1%} | {shares[1]:.1%} |")


@of_the_shipped_model
def test_without_a_mask_the_neighbours_change_a_sentence(monkeypatch) -> None:
    tokenizer = BertTokenizer.from_pretrained(ROOT / "checkpoint")
    model = BertModel.from_pretrained(ROOT / "checkpoint").double()
    sentences = (ROOT / "data" / "dev.txt").read_text("utf-8").splitlines()
    longest = max((line.split("||| ")[1] for line in sentences), key=lambda s: len(s.split()))
    alone, beside = (tokenizer(["the film is not dull .", *more]) for more in ([], [longest]))

    @torch.no_grad()
    def difference() -> float:
        first, other = (model(**batch)["pooler_output"][0] for batch in (alone, beside))
        return (first - other).abs().max().item()

    with_mask = difference()
    right = BertSelfAttention.attention
    unmasked = lambda self, k, q, v, mask: right(self, k, q, v, 0 * mask)  # noqa: E731
    monkeypatch.setattr(BertSelfAttention, "attention", unmasked)

    assert beside["input_ids"].shape[1] == 22
    assert with_mask < 1e-6
    check("by more than 0.000001")
    check(f"without the mask, one differs by {difference():.1f}")


@of_the_shipped_model
def test_numbers_of_the_data_are_those_of_the_data_and_their_card() -> None:
    card = (ROOT / "data" / "README.md").read_text("utf-8")
    lines = (ROOT / "data" / "dev.txt").read_text("utf-8").splitlines()
    numbers = [
        re.findall(rf"{name} \| ([\d.]+)", card)[0]
        for name in ("1-3-grams", "last linear layer", "right")
    ]
    contrasts = sum(bool(re.search(r"\b(but|yet|although|though)\b", line)) for line in lines)

    ngrams, frozen, full = numbers
    check(f"baseline has {ngrams}, the frozen encoder with a new layer {frozen}, the whole model")
    check(f"model {full}.")
    check(f"against {contrasts} of all {len(lines):,} dev sentences")


def test_the_sweep_is_that_of_the_question_and_fails_where_the_answer_says() -> None:
    (rates,) = re.findall(r"^    for lr in ([\d. ]+); do$", QUESTIONS, re.M)

    assert [rate for rate, *_ in SWEEP] == rates.split()
    check("0.001 and 0.002 differ by no more than two seeds do")
    check("From 0.01 on, training fails")
    for rate, *accuracies in SWEEP:
        for accuracy in map(float, accuracies):
            assert (accuracy < 0.51) == (float(rate) >= 0.01)
            assert (accuracy > 0.98) == (0.001 <= float(rate) <= 0.002)
    check(rf"$\ln 2 = {math.log(2):.3f}$")
