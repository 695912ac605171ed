"""Numbers in the handout, and in staff's answers, are those of code, data and checkpoint."""

import re

import pytest
import torch

import classifier
from bert import BertModel
from config import BertConfig
from grader.assignment import ASSIGNMENT
from grader.model import MAIN, OTHER
from pretraining import mask_tokens
from support.sentences import Split
from tests.helpers import ROOT
from tests.helpers.handout import TEXT
from tokenizer import BertTokenizer

PROSE = re.sub(r"\s+", " ", TEXT)
ANSWERS = re.sub(r"\s+", " ", (ROOT / "instructor" / "questions.md").read_text("utf-8"))
SHIPPED = BertConfig.from_json(ROOT / "checkpoint")


@pytest.fixture(scope="module")
def tokenizer():
    return BertTokenizer.from_pretrained(ROOT / "checkpoint")


def find(pattern):
    """Find a pattern in the handout, wherever its lines break."""
    match = re.search(pattern, PROSE)
    assert match is not None, f"the handout does not say {pattern}"
    return match


@pytest.mark.parametrize(
    ("target", "kind", "extension", "bonus"),
    [
        ("#the-problems", "Problem", False, ""),
        ("handout/extensions.md", "Problem", True, " bonus"),
        ("handout/questions.md", "Question", None, ""),
    ],
)
def test_times_and_points_are_the_sums_of_the_headings(target, kind, extension, bonus):
    pattern = rf"^##+ {kind} \((\w+)\): .+ \((\d+) points, about (\d+) minutes\)$"
    ids = {e.id for e in ASSIGNMENT.exercises if e.extension is extension}
    headings = [h for h in re.findall(pattern, TEXT, re.M) if not ids or h[0] in ids]

    points = sum(int(points) for _, points, _ in headings)
    hours = round(sum(int(time) for *_, time in headings) / 60)
    find(rf"\({target}\) \|[^|]*\| {hours} hours \| {points}{bonus} \|")


def test_the_accuracy_that_is_needed_and_the_usual_one_are_those_of_the_gate():
    data = (ROOT / "data" / "README.md").read_text("utf-8")
    measured = re.search(
        r"threshold of (\S+): \d+ honest fine-tunes have a mean of (0\.\d\d)", data
    )

    find(f"{measured[1]} is needed; a finished solution usually reaches {measured[2]}")


def test_the_table_of_sizes_has_the_sizes_of_the_models():
    def column(config):
        d = config.hidden_size // config.num_attention_heads
        numbers = (config.hidden_size, config.num_attention_heads, d, config.intermediate_size)
        all_numbers = (*numbers, config.vocab_size, config.num_hidden_layers)
        return [f"at most {config.max_position_embeddings}", *(f"{n:,}" for n in all_numbers)]

    table = TEXT[TEXT.index("| letter | meaning") :].split("\n\n")[0].splitlines()[3:]
    rows = [[cell.strip() for cell in row.split("|")[3:5]] for row in table]

    assert [row[0] for row in rows] == column(SHIPPED)
    assert [row[1] for row in rows] == column(BertConfig())


def test_messages_are_explained_with_the_graders_sizes():
    s = MAIN

    find(f"B is {s.B}, T is {s.T}, H is {s.H}, d is {s.d}, D is {s.D} and F is {s.F}")
    find("a call for the properties has other sizes")
    assert s != OTHER
    find(f"{s.B} sentences of 4, 1 and 7 tokens, padded to {s.T}")
    assert s.lengths == (4, 1, 7)
    find(f"{s.T} tokens, but all {s.positions} positions")


def test_the_length_of_the_reviews_is_right(tokenizer):
    longest = max(
        Split(ROOT / "data" / f"{name}.txt", tokenizer, 64).input_ids.shape[1]
        for name in ("train", "dev", "test")
    )

    find(f"has {longest} of the {SHIPPED.max_position_embeddings} tokens that fit")
    find(f"has {SHIPPED.vocab_size} pieces")
    find("one of 8 tokens and one of 22")


def test_the_recipe_in_the_handout_is_the_programs():
    recipe = classifier.Recipe()
    rates = classifier.learning_rates(classifier.Recipe(), 64, 500)

    assert (recipe.epochs, SHIPPED.hidden_dropout_prob) == (1, 0.0)
    find(f"weight decay of {recipe.weight_decay}, one epoch in batches of {recipe.batch_size}")
    find("and no dropout, since the model sees each")
    assert SHIPPED.attention_probs_dropout_prob == SHIPPED.hidden_dropout_prob
    find(f"rises to {max(rates)} over the first {recipe.warmup:.0%} of the steps")
    find(f"norm is above {recipe.clip:g} is scaled down to {recipe.clip:g}")
    find("This trains for one epoch")


def test_mask_tokens_has_the_rates_that_the_handout_states():
    find(r"with `probability` \(0.15 by default")
    assert mask_tokens.__defaults__ == (0.15,)


# --- answers ------------------------------------------------------------------------------------


def check(text):
    """Check that the answers say a text."""
    assert text in ANSWERS, f"the answers do not say: {text}"


def count(part):
    return sum(p.numel() for p in part.parameters())


def weightless(config):
    """Return a model whose weights take no memory."""
    with torch.device("meta"):
        return BertModel(config)


def test_parameters_are_counted_as_the_models_have_them():
    models = [weightless(config) for config in (SHIPPED, BertConfig())]
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
