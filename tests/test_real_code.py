"""Code in people's many spellings is judged fairly, even if the functions it calls are wrong."""

import pytest

from tensormark.authoring.variants import Honest
from tests.helpers.bench import Bench, lost
from tests.helpers.spellings import (
    ALL_WRITTEN_OUT,
    BY_HAND,
    BY_KEYWORD,
    CHAIN,
    INSIDE_OUT,
    LAYERS_WRITTEN_OUT,
    SPELLINGS,
    SUBLAYERS,
    chain,
)

NO_MASK = ("scores + attention_mask", "scores")
UPSTREAM = {
    "attention": (NO_MASK,),
    "add_norm embed": (
        ("return ln_layer(", "return 2.0 * ln_layer("),
        ("return norm(", "return 2.0 * norm("),
        ("return self.embed_dropout(", "return 2.0 * self.embed_dropout("),
    ),
}
INSIDES = "stand_in StandIn <locals> <lambda> harness grader worker replace_method functools part "


def apply_edits(source: str, edits: tuple[tuple[str, str], ...]) -> str:
    """Return a source with some edits applied, except for those whose text it lacks."""
    for old, new in edits:
        source = source.replace(old, new)
    return source


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.id)
def test_a_spelling_is_right_by_itself(bench: Bench, spelling: Honest) -> None:
    assert lost(bench.grade(spelling.apply(bench.source), "layer", "encode")) == set()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("wrong", UPSTREAM)
@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.id)
def test_a_mistake_upstream_costs_a_spelling_nothing(
    bench: Bench, spelling: Honest, wrong: str
) -> None:
    source = apply_edits(spelling.apply(bench.source), UPSTREAM[wrong])

    assert lost(bench.grade(source)) == {*wrong.split()}


WRONG = {
    "keys for values": ("layer", INSIDE_OUT.replace("(key, query, value", "(value, query, key")),
    "queries for keys": ("layer", BY_HAND.replace("key=k", "key=q")),
    "a mask of zeros": (
        "layer",
        INSIDE_OUT.replace("value, attention_mask", "value, 0 * attention_mask"),
    ),
    "one norm for both": (
        "layer",
        BY_KEYWORD.replace("self.out_layer_norm", "self.attention_layer_norm"),
    ),
    "no GELU": ("layer", BY_KEYWORD.replace("self.interm_af(", "(")),
    "layers not chained": (
        "encode",
        LAYERS_WRITTEN_OUT.replace(
            "layer.self_attention(x,", "layer.self_attention(hidden_states,"
        ),
    ),
    "no residual": ("encode", ALL_WRITTEN_OUT.replace("(x + m.out_dropout", "(m.out_dropout")),
    "one layer only": (
        "encode",
        LAYERS_WRITTEN_OUT.replace("self.bert_layers:", "self.bert_layers[:1]:"),
    ),
    "the 1/0 mask": (
        "encode",
        CHAIN.replace("CALL", "layer_module(hidden_states, attention_mask[:, None, None])"),
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("upstream", ["", "attention"])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_spelling_costs_its_exercise(bench: Bench, wrong: str, upstream: str) -> None:
    exercise, body = WRONG[wrong]
    body += "" if exercise == "encode" or "add_norm" in body else SUBLAYERS
    source = Honest("", {exercise: body}).apply(bench.source)

    results = bench.grade(apply_edits(source, UPSTREAM[upstream] if upstream else ()))

    assert lost(results) == {exercise, *upstream.split()}


IN_THE_LAYER = {  # the code, what replaces it, and the message
    "no mask": (
        ", attention_mask=attention_mask",
        "",
        "BertSelfAttention.forward() missing 1 required positional argument: 'attention_mask'",
    ),
    "self as well": (
        "self.add_norm(x, y",
        "self.add_norm(self, x, y",
        "BertLayer.add_norm() got multiple values for argument 'dropout'",
    ),
    "another name": (
        "ln_layer=self.out",
        "layer_norm=self.out",
        "BertLayer.add_norm() got an unexpected keyword argument 'layer_norm'",
    ),
    "a module too few": (
        "dropout=self.attention_dropout,",
        "",
        "BertLayer.add_norm() missing 1 required positional argument: 'dropout'",
    ),
    "attention for its module": (
        "self.self_attention(",
        "self.self_attention.attention(",
        "BertSelfAttention.attention() got an unexpected keyword argument 'hidden_states'",
    ),
    "modules in another order": (
        "ln_layer=self.out_layer_norm, dropout=self.out_dropout",
        "self.out_layer_norm, self.out_dropout",
        "BertLayer.add_norm() gets a LayerNorm as dropout, not a Dropout; its arguments are input, "
        "output, dense_layer, dropout, ln_layer",
    ),
}
CALLS = {
    name: ("layer", BY_KEYWORD.replace(old, new), message)
    for name, (old, new, message) in IN_THE_LAYER.items()
} | {
    "a layer without mask": (
        "encode",
        chain("layer_module(hidden_states)")["encode"],
        "BertLayer.forward() missing 1 required positional argument: 'attention_mask'",
    ),
    "the mask as it came": (
        "encode",
        chain("layer_module(hidden_states, attention_mask)")["encode"],
        "gets an attention_mask of shape (3, 7), not (3, 1, 1, 7)",
    ),
    "the mask extended twice": (
        "encode",
        CHAIN.replace("CALL", "layer_module(hidden_states, mask)").replace(
            "mask = get_extended_attention_mask(attention_mask",
            "mask = get_extended_attention_mask(\n    get_extended_attention_mask("
            "attention_mask, self.dtype)",
        ),
        "gets an attention_mask of shape (3, 1, 1, 1, 1, 7), not (3, 1, 1, 7)",
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("upstream", ["", "attention"])
@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_call_is_explained_in_terms_of_the_students_code(
    bench: Bench, call: str, upstream: str
) -> None:
    exercise, body, message = CALLS[call]
    source = Honest("", {exercise: body}).apply(bench.source)

    results = bench.grade(apply_edits(source, UPSTREAM[upstream] if upstream else ()))

    (finding,) = results[exercise].findings
    text = "\n".join([finding.headline, *finding.details])
    assert message in text
    assert not [word for word in INSIDES.split() if word in text]
    assert finding.details[-1].startswith(f"read: handout.md, Problem ({exercise})")
    assert lost(results) == {exercise, *upstream.split()}


def test_an_exception_that_only_a_stand_in_raises_is_not_shown(bench: Bench) -> None:
    body = "x = self.add_norm.__func__  # a method has one, and a function has not\n" + BY_KEYWORD
    body = body.replace("return self.add_norm(", "return 3.0 * self.add_norm(")
    source = Honest("", {"layer": body}).apply(bench.source)

    results = bench.grade(apply_edits(source, (NO_MASK,)))

    text = str(results["layer"].findings)
    assert "the layer gives a wrong output" in text
    assert "__func__" not in text


def test_an_exception_of_a_wrong_function_upstream_is_not_blamed_on_its_caller(
    bench: Bench,
) -> None:
    raising = apply_edits(
        bench.source, (("scores + attention_mask", "scores + attention_mask.t()"),)
    )
    source = apply_edits(raising, (("self.interm_af(self.interm", "(self.interm"),))

    results = bench.grade(source)

    assert "raised RuntimeError" in results["attention"].findings[0].headline
    assert results["layer"].findings[0].mistake == "gelu_missing"


@pytest.mark.parametrize("name", ["tuples_between_layers", "outputs_between_layers"])
def test_a_wrong_layer_that_returns_a_tuple_costs_encode_nothing(bench: Bench, name: str) -> None:
    (spelling,) = [candidate for candidate in SPELLINGS if candidate.id == name]
    source = apply_edits(
        spelling.apply(bench.source), (("self.interm_af(self.interm", "(self.interm"),)
    )

    assert lost(bench.grade(source)) == {"layer"}
