"""What questions say of minBERT's functions is true: checked with torch alone.

Each changed line is put into the file as the question shows it, and called with sizes and numbers
of this test's own.
"""

import re
import types

import pytest
import torch

from config import BertConfig
from grader.viva import SUBJECTS
from tensormark.viva.study import SAME_IN_TRAINING, TRAINING
from testkit.studies import check_words, sheet_of, study_of
from testkit.texts import blocks
from tests.helpers import ROOT

NAMES = ("key", "query", "value", "attention_mask")
REAL = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 1]]).bool()  # tokens; others: padding


def case():
    """Return inputs of attention."""
    torch.manual_seed(5)
    states = {name: torch.randn(3, 2, 4, 5, dtype=torch.double) for name in NAMES[:3]}
    return states | {"attention_mask": -1e4 * (~REAL[:, None, None, :]).double()}


def attend(text, inputs, rate=None):
    """Call the attention of a text of bert.py; in training if a rate of dropout is given."""
    module = types.ModuleType("viva_bert")
    exec(compile(text, "viva_bert.py", "exec"), module.__dict__)
    _, H, _, d = inputs["query"].shape
    attention = module.BertSelfAttention(BertConfig(hidden_size=H * d, num_attention_heads=H))
    attention.train(rate is not None)
    attention.dropout.p = rate or 0.0
    torch.manual_seed(6)
    return attention.attention(*inputs.values())


def differ(first, second):
    """Return where results differ, with one True if their shapes do."""
    if first.shape != second.shape:
        return torch.ones(1, dtype=torch.bool)
    return (first - second).abs() > 1e-4


def changed(index, *names):
    """Return inputs with other numbers at an index."""
    inputs = case()
    for name in names or NAMES[:3]:
        inputs[name][index] = 1.0 - inputs[name][index]
    return inputs


def rolled():
    """Return inputs whose tokens have moved by one."""
    return {n: value.roll(1, 3 if n == "attention_mask" else 2) for n, value in case().items()}


ALL = slice(None)
PADDING = torch.where(REAL, 0.0, 1.0).double()[:, None, :, None]
PADDED = {n: v if n == NAMES[3] else v + PADDING for n, v in case().items()}
# how statements begin: other inputs, and whether results differ if they are true
FACTS = {
    "The content of padding": (PADDED, lambda a, b: differ(a, b)[REAL].any(), True),
    "The position of a token": (rolled(), lambda a, b: differ(a.roll(1, 1), b).any(), True),
    "A token's result": (changed((0, ALL, 0)), lambda a, b: differ(a, b)[0, 1:].any(), False),
    "Sentences of a batch": (changed((0,)), lambda a, b: differ(a, b)[1:].any(), True),
    "What one head": (changed((ALL, 0)), lambda a, b: differ(a, b).sum() > 3 * 4 * 5, True),
    "Results are no longer 1": (
        case() | {"value": torch.ones(3, 2, 4, 5).double()},
        lambda a, b: differ(b, torch.ones(3, 4, 10)).any(),
        True,
    ),
    "The queries": (changed((...,), "query"), lambda a, b: differ(a, b).any(), False),
    "The keys": (changed((...,), "key"), lambda a, b: differ(a, b).any(), False),
}


def is_true(statement, text, copy):
    """Return whether a statement is true of a changed copy."""
    before = attend(text, case())
    after = attend(copy, case())
    pairs = [[attend(each, case(), rate) for each in (text, copy)] for rate in (0.0, 0.5, 1.0)]
    changes = differ(before, after).any()
    trained = any(differ(*pair).any() for pair in pairs)
    general = {SAME_IN_TRAINING: not (changes or trained), TRAINING: trained and not changes}
    if statement in general:
        return bool(general[statement])
    (fact,) = (FACTS[begins] for begins in FACTS if statement.startswith(begins))
    inputs, shows, shown = fact
    return bool(shows(after, attend(copy, inputs))) is shown


def right_options(text, question):
    """Return which options of a question about effects are right."""
    lines = text.split("\n")
    lines[question.line - 1] = "        " + re.sub("[«»]", "", question.code)
    return [is_true(option, text, "\n".join(lines)) for option in question.options]


@pytest.mark.parametrize("seed", ["7", *(pytest.param(s, marks=pytest.mark.nightly) for s in "89")])
def test_keys_are_right_and_no_other_option_is(solution_source, seed):
    sheet = sheet_of(ROOT, {"bert": solution_source}, seed, number=20, right=["attention"])

    about_effects = [one for one in sheet.questions if one.family == "effect"]
    assert len({question.family for question in sheet.questions}) == 2
    assert len(about_effects) >= 3
    topics = [
        (one.line, one.code.find("«"), one.family == "line" and one.prompt)
        for one in sheet.questions
    ]
    assert len(set(topics)) == len(topics)
    for question in about_effects:
        right = [place == question.key for place in range(len(question.options))]
        assert right_options(solution_source, question) == right, question


# which statement is the first to compute with something, worked out by hand
FIRST = """
attention
    the numbers in `key`: scores = query @ key
    the numbers in `query`: scores = query @ key
    the numbers in `attention_mask`: probs = self.dropout(
    the random numbers of dropout, in training: probs = self.dropout(
    the numbers in `value`: context = probs @ value
embed
    the numbers in `self.word_embedding.weight`: words = self.word_embedding(
    the numbers in `self.pos_embedding.weight`: positions = self.pos_embedding(
    the numbers in `self.tk_type_embedding.weight`: token_types = self.tk_type_embedding(
    the numbers in `self.embed_layer_norm.bias`: return self.embed_dropout(
    the random numbers of dropout, in training: return self.embed_dropout(
layer
    the numbers in `attention_mask`: x, context = hidden_states, self.self_attention(
    the numbers in `self.attention_dense.weight`: x = self.add_norm(x, context
    the numbers in `self.interm_dense.bias`: interm = self.interm_af(
    the numbers in `self.out_layer_norm.weight`: return self.add_norm(x, interm
add_norm
    the numbers in `dense_layer.weight`: return ln_layer(
"""


@pytest.mark.parametrize("case", blocks(FIRST), ids=lambda case: case[0])
def test_the_first_statement_that_computes_with_something_is_the_one_worked_out_by_hand(
    solution_source, case
):
    exercise, *facts = case
    with study_of(ROOT, solution_source, exercise) as study:
        first = study.first_statements(study.changeable())
        found = {study.phrase(name): at for name, at in first.items()}

    assert not any("key.bias" in name for name in found)  # softmax is the same whatever it is
    lines = solution_source.split("\n")
    for fact in facts:
        name, text = fact.split(": ")
        statement, reason = found[name]
        assert text in lines[statement.first - 1], name
        assert f"no value before line {statement.first} changes" in reason


@pytest.mark.parametrize("exercise", [subject.exercise for subject in SUBJECTS])
def test_what_is_stated_about_subjects_can_be_true(solution_source, exercise):
    with study_of(ROOT, solution_source, exercise) as study:
        check_words(study)
