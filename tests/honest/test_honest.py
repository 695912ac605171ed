"""Correct solutions that are written differently lose no points, and wrong ones do."""

from collections.abc import Iterator

import pytest

from tensormark.authoring.variants import Honest
from tensormark.settings import Settings
from testkit.tiers import NIGHTLY
from tests.helpers import ROOT
from tests.helpers.bench import Bench, lost
from tests.helpers.known import HONEST

# a wrong function that others call: in the text of the solution, and of many honest ones
UPSTREAM = {
    "attention": (("scores + attention_mask", "scores"),),
    "add_norm": (("return ln_layer(", "return 2.0 * ln_layer("),),
    "embed": (("return self.embed_dropout(", "return 2.0 * self.embed_dropout("),),
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


@pytest.fixture(scope="module")
def two_threads() -> Iterator[Bench]:
    with Bench(Settings.of(ROOT, threads=2)) as bench:
        yield bench


@pytest.mark.sampled(2)  # the golden corpus has them too
@pytest.mark.parametrize("one", HONEST, ids=lambda one: one.id)
def test_a_right_solution_passes_everything(bench: Bench, one: Honest) -> None:
    results = bench.grade(one.apply(bench.sources[one.module]), module=one.module)

    assert {name: r.findings for name, r in results.items() if r.findings} == {}
    assert not lost(results)
    assert results


@pytest.mark.sampled(6)  # two threads compute as one does, but for the order of sums
@pytest.mark.parametrize("one", HONEST, ids=lambda one: one.id)
def test_a_right_solution_passes_on_two_threads(two_threads: Bench, one: Honest) -> None:
    results = two_threads.grade(one.apply(two_threads.sources[one.module]), module=one.module)

    assert not lost(results)


def with_upstream(source: str, wrong: str) -> str:
    for old, new in UPSTREAM.get(wrong, ()):
        assert source.count(old) == 1
        source = source.replace(old, new)
    return source


@pytest.mark.parametrize("wrong", UPSTREAM)
def test_a_mistake_upstream_costs_right_code_nothing(bench: Bench, wrong: str) -> None:
    ((old, _),) = UPSTREAM[wrong]
    sources = {one.id: one.apply(bench.source) for one in HONEST if one.module == "bert"}
    chosen = {name: text for name, text in sources.items() if text.count(old) == 1}
    assert len(chosen) > 20

    sample = [*chosen.items()][:: 1 if NIGHTLY else 10]
    found = {name: lost(bench.grade(with_upstream(text, wrong))) for name, text in sample}

    assert {name: ids for name, ids in found.items() if ids != {wrong}} == {}


@pytest.mark.parametrize("upstream", ["", "attention"])
@pytest.mark.parametrize("wrong", WRONG)
def test_code_that_goes_its_own_way_and_is_wrong_costs_its_exercise(
    bench: Bench, wrong: str, upstream: str
) -> None:
    exercise, body, old, new = WRONG[wrong]
    assert body.count(old) == 1
    source = Honest("", {exercise: body.replace(old, new)}).apply(bench.source)

    assert lost(bench.grade(with_upstream(source, upstream))) == {exercise, *upstream.split()}
