"""Up to three mistakes in the same exercise are named, dropout apart from values."""

import functools

import pytest

from tests.helpers.bench import Bench, named
from tests.helpers.known import VARIANTS

KNOWN = {variant.id: variant for variant in VARIANTS}
TOGETHER = [
    ("mask_ignored", "no_attention_dropout"),
    ("heads_not_transposed", "no_attention_dropout"),
    ("no_scale", "softmax_over_queries"),
    ("no_scale", "mask_ignored"),
    ("norm_missing", "add_norm_no_dropout"),
    ("residual_of_output", "add_norm_no_dropout"),
    ("gelu_missing", "second_residual_of_input"),
    ("layer_mask_dropped", "norms_exchanged"),
    ("positions_from_one", "embed_no_dropout"),
    ("no_positions", "token_types_of_one"),
    ("last_layer_left_out", "mask_of_ones"),
    ("scale_twice", "heads_not_transposed"),
    ("scale_after_softmax", "mask_hides_tokens_by_inf"),
    ("positions_detached", "embed_no_dropout"),
    ("scale_twice", "heads_not_transposed", "no_attention_dropout"),
    ("no_scale", "softmax_over_queries", "no_attention_dropout"),
    ("scale_after_softmax", "mask_hides_tokens_by_inf", "no_attention_dropout"),
    ("no_positions", "words_detached", "embed_no_dropout"),
]
DROPPED = {  # a mistake in training, and a text to scale by a number that nobody knows
    "attention": ("no_attention_dropout", "scores + attention_mask"),
    "add_norm": ("add_norm_no_dropout", "input + (dense"),
    "embed": ("embed_no_dropout", "words + positions"),
}
CALLS = {  # of dropout, and what to leave of the text before them
    "attention": ("self.dropout(", ""),
    "add_norm": (" dropout(", " "),
    "embed": ("self.embed_dropout(", ""),
}


@pytest.mark.parametrize("ids", TOGETHER, ids="+".join)
def test_mistakes_in_one_exercise_are_all_named(bench: Bench, ids: tuple[str, ...]) -> None:
    mistakes = [KNOWN[id] for id in ids]
    source = functools.reduce(lambda text, variant: variant.apply(text), mistakes, bench.source)

    exercise = mistakes[0].exercise
    result = bench.grade(source, exercise)[exercise]

    (name,) = named(result)
    assert sorted(name.split("+")) == sorted(ids)
    assert all(variant.says in result.as_json()["message"] for variant in mistakes)


@pytest.mark.parametrize("exercise", DROPPED)
def test_missing_dropout_is_named_next_to_values_that_are_wrong_in_an_unknown_way(
    bench: Bench, exercise: str
) -> None:
    mistake, text = DROPPED[exercise]
    source = KNOWN[mistake].apply(bench.source)
    assert source.count(text) == 1

    source = source.replace(text, f"1.37 * {text}")
    result = bench.grade(source, exercise)[exercise]

    assert [finding.mistake for finding in result.findings] == [None, mistake]
    assert result.findings[1].headline == KNOWN[mistake].says


@pytest.mark.parametrize("rate", ["0.1", "0.2", "0.37", "0.9"])
@pytest.mark.parametrize("exercise", ["attention", "add_norm", "embed"])
def test_dropout_in_eval_mode_is_named_whatever_its_rate(
    bench: Bench, exercise: str, rate: str
) -> None:
    call, before = CALLS[exercise]
    assert bench.source.count(call) == 1

    source = bench.source.replace(call, f"{before}F.dropout(p={rate}, input=")
    result = bench.grade(source, exercise)[exercise]

    assert "active in eval mode too" in result.as_json()["message"]
    assert len(named(result)) == 1
    assert named(result) != [""]
