"""The handout's diagrams in a real browser (`make test-page`): run by its name, as page.py is.

SHOTS=folder also takes screenshots, to be looked at.
"""

import io
import os
from pathlib import Path

import pytest
from handout_pages import PAGES
from PIL import Image
from playwright.sync_api import Browser, ViewportSize

from tensormark.release.page import html_of

from conftest import ROOT
from drawn import Drawn, width_of
from page import browser as browser

FILES = sorted((ROOT / "pictures").glob("*.svg"))
MODES = Drawn(FILES[0]).modes
WORDS = """[...document.querySelectorAll("text")].map(one => [one.textContent,
  Number(one.getAttribute("font-size")), one.getAttribute("class"), one.getComputedTextLength()])"""
DIAGRAM = "img[src^='data:image/svg']"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_words_are_not_wider_than_the_room_they_have(browser: Browser, path: Path) -> None:
    page = browser.new_page()
    page.goto(path.as_uri())

    found = page.evaluate(WORDS)

    assert found
    assert [words for words, size, look, w in found if w > width_of(words, size, look)] == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", [1280, 360])
def test_diagrams_of_the_handout_have_the_mode_of_their_reader_and_fit(
    browser: Browser, tmp_path: Path, width: int, mode: str
) -> None:
    handout = tmp_path / "handout.html"
    pages = (html_of(PAGES, page, ROOT) for page in PAGES)  # one after another: all diagrams
    handout.write_text("".join(pages), "utf-8")
    # higher than every diagram: Chromium 156 never takes one that does not fit
    size: ViewportSize = {"width": width, "height": 1000}
    page = browser.new_page(viewport=size, color_scheme=mode)  # type: ignore[arg-type]
    page.goto(handout.as_uri())

    diagrams = page.locator(DIAGRAM).all()

    assert len(diagrams) == len(FILES)
    for place, diagram in enumerate(diagrams):
        shot = Image.open(io.BytesIO(diagram.screenshot()))
        if folder := os.environ.get("SHOTS"):
            shot.save(Path(folder) / f"diagram-{place}-{width}-{mode}.png")
        assert shot.width <= width - 2 * 16
        assert shot.convert("RGB").getpixel((shot.width // 2, shot.height - 3)) == rgb(
            MODES[mode]["page"][0]
        )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def rgb(color: str) -> tuple[int, ...]:
    """Return red, green and blue, from 0 to 255."""
    return tuple(int(color[i : i + 2], 16) for i in (1, 3, 5))
