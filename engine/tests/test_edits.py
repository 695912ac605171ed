"""Mistakes and right code are edits of the solution, which must match it."""

import pytest

from tensormark.authoring.honest import Honest
from tensormark.authoring.variants import VariantError, mistakes


def test_a_mistake_that_no_longer_matches_the_solution_is_an_error() -> None:
    (variant,) = mistakes("conv", "The windows", {"gone": ("it is gone", "not there", "new")})
    source = "### BEGIN SOLUTION conv\npass\n### END SOLUTION conv\n"

    with pytest.raises(VariantError, match="gone finds 'not there' 0 times, not once in solution/"):
        variant.apply(source)


def test_a_mistake_is_applied_to_its_own_exercise_only() -> None:
    (variant,) = mistakes("conv", "The windows", {"one": ("one", "x = 1", "x = 2")})
    source = "x = 1\n### BEGIN SOLUTION conv\nx = 1\n### END SOLUTION conv\n"

    assert variant.apply(source).startswith("x = 1\n")
    assert "x = 2" in variant.apply(source)


def test_an_honest_variant_that_no_longer_matches_is_an_error() -> None:
    with pytest.raises(VariantError, match="old finds 'not there' 0 times"):
        Honest("old", edits=(("not there", "new"),)).apply("x = 1\n")
