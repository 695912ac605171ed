"""The form of README and docs/first_assignment.md, whose blocks test_installed.py runs."""

import re
from pathlib import Path

import pytest
from pages import PAGE, README, blocks, pattern

MOST = 375  # lines of the page


@pytest.mark.parametrize("page", [PAGE, README], ids=lambda page: page.stem)
def test_every_block_is_one_that_is_run(page: Path) -> None:
    found = blocks(page)

    assert page.read_text("utf-8").count("```") == 2 * len(found)
    for block in found:
        if block.language == "console":
            assert block.text.startswith("$ ")
        else:
            assert block.kind in ("file", "function", "problem")


def test_it_is_short() -> None:
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
def test_what_is_printed_is_compared(output: str, printed: str, fits: bool) -> None:
    assert bool(re.fullmatch(pattern(output), printed)) is fits
