"""The handout's diagrams in a real browser (`make test-page`); see page.py.

SHOTS=folder also saves screenshots to look at.
"""

import io
import itertools
from pathlib import Path

import pytest
from page import SIZES, look
from page import browser as browser
from PIL import Image, ImageColor
from playwright.sync_api import Browser, ViewportSize

from tensormark.release.page import html_of
from tests.helpers import ROOT
from tests.helpers.diagrams import WIDTH, Diagram
from tests.helpers.handout import PAGES

FILES = sorted((ROOT / "handout" / "pictures").glob("*.svg"))
BACKGROUNDS = dict(zip(("light", "dark"), Diagram(FILES[0]).backgrounds, strict=True))
# the box of each text without the room above and below its letters
WORDS = """[...document.querySelectorAll("text")].map(one => {
  const box = one.getBBox(), size = Number(one.getAttribute("font-size"));
  return [box.x, Number(one.getAttribute("y")) - 0.74 * size, box.width, 0.76 * size];
})"""
DIAGRAM = "img[src^='data:image/svg']"


def written(page: str, folder: Path) -> Path:
    """Write a page of the handout as the release has it."""
    path = folder / "page.html"
    path.write_text(html_of(PAGES, page, ROOT), "utf-8")
    return path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_words_are_inside_the_diagram_and_do_not_overlap(browser: Browser, path: Path) -> None:
    page = browser.new_page()
    page.goto(path.as_uri())

    boxes = page.evaluate(WORDS)

    edges = [(left, top, left + width, top + height) for left, top, width, height in boxes]
    assert edges
    assert all(left >= 0 and right <= WIDTH for left, _, right, _ in edges)
    for (left, top, right, bottom), other in itertools.combinations(edges, 2):
        beside = right <= other[0] or other[2] <= left
        assert beside or bottom <= other[1] or other[3] <= top, (left, top, other)


@pytest.mark.parametrize("mode", BACKGROUNDS)
@pytest.mark.parametrize("width", [1280, 360])
def test_diagrams_of_the_handout_have_the_mode_of_their_reader_and_fit(
    browser: Browser, tmp_path: Path, width: int, mode: str
) -> None:
    # higher than every diagram: Chromium 156 never takes a screenshot of one that does not fit
    size: ViewportSize = {"width": width, "height": 1000}
    view = browser.new_page(viewport=size, color_scheme=mode)  # type: ignore[arg-type]
    background = ImageColor.getrgb(BACKGROUNDS[mode])
    count = 0

    for name in PAGES:
        view.goto(written(name, tmp_path).as_uri())
        for diagram in view.locator(DIAGRAM).all():
            shot = Image.open(io.BytesIO(diagram.screenshot()))
            assert shot.width <= width - 2 * 16
            assert shot.convert("RGB").getpixel((shot.width // 2, shot.height - 3)) == background
            count += 1

    assert count == len(FILES)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_handout_is_quiet_fits_and_has_no_fault(
    browser: Browser, tmp_path: Path, name: str, size: str
) -> None:
    look(browser, written(name, tmp_path), size, "light")
