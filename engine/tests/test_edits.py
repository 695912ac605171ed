"""Mistakes and right code are edits of the solution, which must match it."""

import pytest

from tensormark.authoring.variants import VariantError, mistakes

SOURCE = "x = 1\n### BEGIN SOLUTION conv\nx = 1\n### END SOLUTION conv\n"
TEXT = """
## The windows

one: one is two
    - x = 1
    + x = 2
other = one
    - x = 1
    +
    - end
    + first
    +     second
given, in given code: it is wrong everywhere
    - x = 1
    - ### BEGIN
    + x = 2
"""


def test_a_text_has_sections_mistakes_forms_and_several_edits() -> None:
    one, other, given = mistakes("conv", TEXT)

    assert (one.section, one.name, one.says) == ("The windows", "one", "one is two")
    assert (other.name, other.says) == ("one", "one is two")
    assert other.edits == (("x = 1", ""), ("end", "first\n    second"))
    assert one.apply(SOURCE) == SOURCE.replace("\nx = 1", "\nx = 2")
    assert given.apply(SOURCE).startswith("x = 2 SOLUTION conv\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    + x = 2\nother", "other", "one: lines `- old text` must each be followed"),
        ("one is two\n    - x = 1\n", "\n", "conv: neither a section, a mistake nor a form"),
        ("one: ", "one ", "conv: neither a section, a mistake nor a form"),
        ("one: one is two", "one = two", "conv: neither a section, a mistake nor a form"),
    ],
)
def test_a_text_that_cannot_be_read_is_an_error(old: str, new: str, message: str) -> None:
    with pytest.raises(VariantError, match=message):
        mistakes("conv", TEXT.replace(old, new))
