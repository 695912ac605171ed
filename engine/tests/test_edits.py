"""What cannot be read as a list of mistakes is an error."""

import pytest

from tensormark.authoring.variants import VariantError, mistakes

TEXT = """
## The windows

one: one is two
    - x = 1
    + x = 2
other = one
    - x = 1
    +
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    + x = 2\nother", "other", "one: each line of an old text must begin"),
        ("one is two\n    - x = 1\n", "\n", "conv: neither a section, a mistake nor a form"),
        ("other = one", "one: two", "conv: more than one mistake is named one"),
        ("one: ", "one ", "conv: neither a section, a mistake nor a form"),
        ("one: one is two", "one = two", "conv: neither a section, a mistake nor a form"),
    ],
)
def test_a_text_that_cannot_be_read_is_an_error(old, new, message):
    with pytest.raises(VariantError, match=message):
        mistakes("conv", TEXT.replace(old, new))
