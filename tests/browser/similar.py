"""similar.html in a real browser (`make test-page`)."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser
from teach import SCREENS
from test_similar_page import LEFT, RIGHT, STARTER, entries

from tensormark.classroom.gradebook import SIMILAR, write_results

from page import browser as browser
from page import listen

MORE = "".join(f"\ndef g{n}(a):\n    b = a + {n}\n    return b * {n}\n" for n in range(40))


@pytest.mark.parametrize("screen", SCREENS)
def test_the_page_is_quiet_fits_and_has_no_fault(
    browser: Browser, tmp_path: Path, screen: str
) -> None:
    write_results(entries(LEFT + MORE, RIGHT + MORE, "x = 1"), tmp_path, starter=STARTER)
    width, height, scheme = SCREENS[screen]
    size = {"width": width, "height": height}
    page = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True).new_page()
    messages, _ = listen(page)

    page.goto((tmp_path / SIMILAR).as_uri())
    faults = Axe().run(page).response["violations"]

    assert [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in faults] == []
    assert messages == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert len(page.pdf(format="A4")) > 1000
