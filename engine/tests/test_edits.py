"""Mistakes and right code are edits of the solution, which must match it."""

import pytest

from tensormark.authoring.variants import Honest, Variant, VariantError, mistakes

SOURCE = "x = 1\n### BEGIN SOLUTION conv\nx = 1\n### END SOLUTION conv\n"
ONE = """
## The windows

one: one is two
    - x = 1
    + x = 2
"""


def one_of(text: str) -> Variant:
    (variant,) = mistakes("conv", text)
    return variant


def test_a_mistake_is_applied_to_its_own_exercise_only() -> None:
    wrong = one_of(ONE).apply(SOURCE)

    assert wrong == SOURCE.replace("\nx = 1", "\nx = 2")


def test_a_mistake_in_given_code_is_applied_to_the_whole_file() -> None:
    text = ONE.replace("one:", "one, in given code:").replace("x = 1", "x = 1\n    - ### BEGIN")

    assert one_of(text).apply(SOURCE).startswith("x = 2 SOLUTION conv\n")


def test_a_text_has_sections_mistakes_forms_and_several_edits() -> None:
    more = """
other = one
    - x = 1
    +
    - end
    + first
    +     second
"""

    one, other = mistakes("conv", ONE + more)

    assert (one.section, one.says, one.edits) == (
        "The windows",
        "one is two",
        (("x = 1", "x = 2"),),
    )
    assert (other.name, other.says) == ("one", "one is two")
    assert other.edits == (("x = 1", ""), ("end", "first\n    second"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    + x = 2\n", "", "one: lines `- old text` must each be followed"),
        ("    - x = 1\n", "", "one: lines `- old text` must each be followed"),
        ("one: ", "one ", "conv: neither a section, a mistake nor a form"),
        ("one: one is two", "one = two", "conv: neither a section, a mistake nor a form"),
    ],
)
def test_a_text_that_cannot_be_read_is_an_error(old: str, new: str, message: str) -> None:
    with pytest.raises(VariantError, match=message):
        mistakes("conv", ONE.replace(old, new))


def test_a_mistake_that_no_longer_matches_the_solution_is_an_error() -> None:
    gone = one_of(ONE.replace("x = 1", "not there"))

    with pytest.raises(VariantError, match="one finds 'not there' 0 times, not once in solution/"):
        gone.apply(SOURCE)


def test_an_honest_variant_that_no_longer_matches_is_an_error() -> None:
    with pytest.raises(VariantError, match="old finds 'not there' 0 times"):
        Honest("old", edits=(("not there", "new"),)).apply("x = 1\n")
