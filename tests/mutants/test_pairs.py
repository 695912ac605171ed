"""Two mistakes in two exercises: both fail, both are named, the others keep their points."""

import itertools

import pytest

from tensormark.authoring.variants import Variant
from tests.helpers.bench import Bench, lost, named
from tests.helpers.known import VARIANTS

EXERCISES = ("attention", "add_norm", "layer", "embed", "encode")
EACH = 5  # pairs of mistakes for each pair of exercises
STRIDE = 7  # spreads them over the tables of mistakes
# what a stand-in says of a mistake whose own exception differs where the layer is wrong as well
SAID = {
    "encode_mask_in_loop": "gets an attention_mask of shape (3, 1, 1, 1, 1, 7), not (3, 1, 1, 7)"
}


def pairs() -> list[tuple[Variant, Variant]]:
    """Return pairs of mistakes in different exercises, none of them in the given code."""
    known = {
        exercise: [v for v in VARIANTS if v.exercise == exercise and not v.everywhere]
        for exercise in EXERCISES
    }
    made = []
    for first, second in itertools.combinations(EXERCISES, 2):
        for _ in range(EACH):
            at = STRIDE * len(made)
            made.append(
                (known[first][at % len(known[first])], known[second][at % len(known[second])])
            )
    return made


def test_there_are_enough_pairs() -> None:
    assert len({(a.id, b.id) for a, b in pairs()}) >= 40


@pytest.mark.sampled(2)
@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: f"{pair[0].id}-{pair[1].id}")
def test_both_mistakes_are_found_and_named(bench: Bench, pair: tuple[Variant, Variant]) -> None:
    source = pair[1].apply(pair[0].apply(bench.source))

    results = bench.grade(source)

    assert lost(results) == {variant.exercise for variant in pair}
    for variant in pair:
        if not variant.unnamed:
            result = results[variant.exercise]
            said = variant.id in SAID and SAID[variant.id] in result.findings[0].headline
            assert said or variant.name in named(result)
