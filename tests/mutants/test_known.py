"""Every known wrong variant fails where it should, costs nothing else, and gets its name."""

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.authoring.variants import Variant
from testkit.tiers import NIGHTLY
from tests.helpers.bench import Bench, lost, named
from tests.helpers.known import VARIANTS

# Between these nothing decides, so that both names are given: a constant that is added to a token
# vanishes in the norm.
UNDECIDED = [{"no_words", "ids_added"}]
SAMPLE = frozenset(variant.id for variant in VARIANTS[::6])


def answers(variant: Variant) -> set[str]:
    """Return the names of which at least the variant's own is to be given, and no other."""
    return next((group for group in UNDECIDED if variant.name in group), {variant.name})


def graded_with(variant: Variant) -> list[str]:
    """Return the exercises that show what a mistake costs: its own and, of each sixth, those that
    run it, too; in `make nightly` all of its file, for which there are none.
    """
    if NIGHTLY or variant.everywhere:
        return []
    if variant.id not in SAMPLE:
        return [variant.exercise]
    runs = [e.id for e in ASSIGNMENT.exercises if variant.exercise in e.upstream]
    return [variant.exercise, *runs]


@pytest.mark.sampled(3)  # the golden corpus has them too
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.id)
def test_a_mistake_costs_its_own_exercise_only_and_is_named(bench: Bench, variant: Variant) -> None:
    source = variant.apply(bench.sources[variant.module])

    results = bench.grade(source, *graded_with(variant), module=variant.module)

    assert lost(results) == {variant.exercise}
    result = results[variant.exercise]
    if variant.section == "Dropout" and "always" not in variant.id:  # all values are right
        assert result.score == pytest.approx(0.8 * result.max_score)
    found = set(named(result))
    if variant.unnamed:
        assert found == {""}
    else:
        assert variant.name in found
        assert found <= answers(variant)


def test_nearly_all_mistakes_have_a_name() -> None:
    core = [v for v in VARIANTS if not ASSIGNMENT.exercise(v.exercise).extension]

    assert len(core) >= 240
    assert len([v for v in VARIANTS if v.unnamed]) <= 0.02 * len(core)
