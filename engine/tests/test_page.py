"""The form of README and docs/first_assignment.md, whose blocks test_installed.py runs."""

import re
from pathlib import Path

import pytest

from pages import PAGE, README, blocks, pattern

MOST = 400  # lines of the page


@pytest.mark.parametrize("page", [PAGE, README], ids=lambda page: page.stem)
def test_every_block_has_a_form_that_can_be_run(page: Path) -> None:
    page_blocks = blocks(page)

    assert page.read_text("utf-8").count("```") == 2 * len(page_blocks)
    for block in page_blocks:
        if block.language == "console":
            assert block.text.startswith("$ ")
        else:
            assert block.kind in ("file", "function", "problem")


def test_the_page_is_short() -> None:
    assert len(PAGE.read_text("utf-8").splitlines()) <= MOST


@pytest.mark.parametrize(
    ("output", "printed", "fits"),
    [
        ("a\n", "a\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n...\n", "a\nb\nc\n", True),
        ("...\nb\n", "a\nb\n", True),
        ("a ... c\n", "a b c\n", True),
        ("a ... c\n", "a b\n", False),
        ("", "", True),
    ],
)
def test_printed_output_is_compared_with_the_page(output: str, printed: str, fits: bool) -> None:
    assert bool(re.fullmatch(pattern(output), printed)) is fits
