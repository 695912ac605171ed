"""Two mistakes in the same exercise, one of them a common one, are both named."""

import pytest
from bench import Bench, named

from instructor.references.variants import apply, variants

KNOWN = {variant.id: variant for variant in variants()}
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
]


@pytest.mark.parametrize("pair", TOGETHER, ids="+".join)
def test_two_mistakes_in_one_exercise_are_both_named(bench: Bench, pair: tuple[str, str]) -> None:
    first, second = (KNOWN[name] for name in pair)
    source = apply(second, apply(first, bench.source))

    result = bench.grade(source)[first.exercise]

    assert named(result) == ["+".join(pair)]
    assert f"{first.says}, and {second.says}" in result.as_json()["message"]
