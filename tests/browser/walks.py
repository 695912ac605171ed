"""The page of `visualize.py walk` in a real browser (`make test-page`); see page.py.

SHOTS=folder also saves screenshots to look at.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from conftest import ROOT
from page import SCREENS, look, opened
from page import browser as browser
from visualize import main

STARTER, WHOLE = "starter", "whole"


@pytest.fixture(scope="module", params=[WHOLE, STARTER])
def walk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a finished model, and of one in which nothing is written."""
    path = tmp_path_factory.mktemp("walks") / f"walk-{request.param}.html"
    sentence = "<b> is dull"
    with pytest.MonkeyPatch.context() as patch:
        if request.param == STARTER:
            from test_walk import HOLES, unwritten

            unwritten(patch, *HOLES)
        checkpoint = str(ROOT / "checkpoint")
        assert main(["walk", sentence, "--checkpoint", checkpoint, "--out", str(path)]) == 0
    return path


@pytest.mark.parametrize(("size", "scheme"), SCREENS)
def test_the_walk_is_quiet_fits_and_has_no_fault(
    browser: Browser, walk: Path, size: str, scheme: str
) -> None:
    look(browser, walk, size, scheme)


@pytest.mark.parametrize("walk", [WHOLE], indirect=True)
def test_a_token_shows_where_it_looks_by_pointer_and_by_keyboard(browser, walk: Path) -> None:
    page = opened(browser)
    page.goto(walk.as_uri())
    section = page.locator("#layer-1")
    tokens, said = section.locator(".look button"), section.locator(".said")

    tokens.nth(3).hover()
    pointed = said.text_content()
    tokens.nth(5).focus()
    page.keyboard.press("Tab")
    reached = said.text_content()
    section.locator("select").select_option("3")

    row = section.locator("table.shares:visible tbody tr").nth(6)
    assert pointed != reached != said.text_content()
    assert tokens.nth(6).get_attribute("aria-pressed") == "true"
    shares = [share.text_content() for share in row.locator("td").all()]
    assert [token.get_attribute("data-share") for token in tokens.all()] == shares


@pytest.mark.parametrize("walk", [WHOLE], indirect=True)
def test_a_printed_walk_has_the_tables_of_all_heads(browser: Browser, walk: Path) -> None:
    page = opened(browser)
    page.goto(walk.as_uri())
    tables = page.locator("#layer-2 table.shares")

    shown = sum(table.is_visible() for table in tables.all())
    page.emulate_media(media="print")

    assert (shown, sum(table.is_visible() for table in tables.all())) == (1, 4)
    assert len(page.pdf()) > 50_000
