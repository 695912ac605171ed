"""What is known of the solution is true: honest code passes, and each mistake is named.

A mistake costs its own exercise only. `make nightly` grades all of this code, `make test` a part.
"""

import pytest

from tensormark.authoring.prove import claims
from tensormark.authoring.variants import Honest
from testkit.tiers import NIGHTLY
from tests.helpers.known import COURSE, HONEST, VARIANTS
from tests.helpers.source_bench import lost

CLAIMS = [claim for claim in claims(COURSE) if not claim.tasks]


@pytest.mark.sampled(5)  # the golden corpus has many of them
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_honest_code_loses_nothing_and_a_mistake_its_exercise_by_its_name(bench, claim):
    ((module, source),) = claim.sources.items()

    results = bench.grade(source, module=module)

    assert results
    assert claim.fault(results) is None


# --- together -----------------------------------------------------------------------------------

# a wrong function that others call: in the text of the solution, and of many honest ones
UPSTREAM = {
    "attention": ("scores + attention_mask", "scores"),
    "add_norm": ("return ln_layer(", "return 2.0 * ln_layer("),
    "embed": ("return self.embed_dropout(", "return 2.0 * self.embed_dropout("),
}
INSIDE_OUT = """
part = self.self_attention
key = part.transform(hidden_states, part.key)
value = part.transform(hidden_states, part.value)
query = part.transform(hidden_states, part.query)
context = part.attention(key, query, value, attention_mask)
x = self.add_norm(hidden_states, context, self.attention_dense, self.attention_dropout,
                  self.attention_layer_norm)
y = self.interm_af(self.interm_dense(x))
return self.add_norm(x, y, self.out_dense, self.out_dropout, self.out_layer_norm)
"""
WRITTEN_OUT = """
mask = get_extended_attention_mask(attention_mask, self.dtype)
for m in self.bert_layers:
    attended = m.attention_dense(m.self_attention.forward(hidden_states, mask))
    x = m.attention_layer_norm(hidden_states + m.attention_dropout(attended))
    y = m.out_dense(F.gelu(m.interm_dense(x)))
    hidden_states = m.out_layer_norm(x + m.out_dropout(y))
return hidden_states
"""
WRONG = {  # the exercise, its body, and what is wrong in it
    "keys for values": ("layer", INSIDE_OUT, "(key, query, value", "(value, query, key"),
    "a mask of zeros": ("layer", INSIDE_OUT, "attention_mask)", "0 * attention_mask)"),
    "no GELU": ("layer", INSIDE_OUT, "self.interm_af(", "("),
    "no residual": ("encode", WRITTEN_OUT, "(x + m.out_dropout", "(m.out_dropout"),
    "one layer only": ("encode", WRITTEN_OUT, "bert_layers:", "bert_layers[:1]:"),
}
DROPPED = {  # a mistake in training, and a text to scale by a number that nobody knows
    "attention": ("no_attention_dropout", "scores + attention_mask"),
    "add_norm": ("add_norm_no_dropout", "input + (dense"),
    "embed": ("embed_no_dropout", "words + positions"),
}


@pytest.mark.parametrize("wrong", UPSTREAM)
def test_a_mistake_upstream_costs_right_code_nothing(bench, wrong):
    old, new = UPSTREAM[wrong]
    sources = {one.id: one.apply(bench.source) for one in HONEST if one.module == "bert"}
    chosen = {name: text for name, text in sources.items() if text.count(old) == 1}
    assert len(chosen) > 20

    sample = list(chosen.items())[:: 1 if NIGHTLY else 10]
    found = {name: lost(bench.grade(text.replace(old, new))) for name, text in sample}

    assert {name: ids for name, ids in found.items() if ids != {wrong}} == {}


@pytest.mark.parametrize("upstream", ["", "attention"])
@pytest.mark.parametrize("wrong", WRONG)
def test_code_that_goes_its_own_way_and_is_wrong_costs_its_exercise(bench, wrong, upstream):
    exercise, body, old, new = WRONG[wrong]
    assert body.count(old) == 1
    source = Honest("", {exercise: body.replace(old, new)}).apply(bench.source)
    if upstream:
        source = source.replace(*UPSTREAM[upstream])

    assert lost(bench.grade(source)) == {exercise, *upstream.split()}


@pytest.mark.parametrize("exercise", DROPPED)
def test_missing_dropout_is_named_next_to_values_that_are_wrong_in_an_unknown_way(bench, exercise):
    mistake, text = DROPPED[exercise]
    (variant,) = (variant for variant in VARIANTS if variant.id == mistake)
    source = variant.apply(bench.source).replace(text, f"1.37 * {text}")

    findings = bench.grade(source, exercise)[exercise].findings

    assert [finding.mistake for finding in findings] == [None, mistake]
