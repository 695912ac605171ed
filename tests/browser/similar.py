"""similar.html in a real browser (`make test-page`)."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from test_similar_page import LEFT, RIGHT, STARTER, entries

from tensormark.classroom.reports.gradebook import SIMILAR, write_results

from page import SCREENS, look
from page import browser as browser

MORE = "".join(f"\ndef g{n}(a):\n    b = a + {n}\n    return b * {n}\n" for n in range(40))


@pytest.mark.parametrize(("size", "scheme"), SCREENS)
def test_the_page_is_quiet_fits_and_has_no_fault(
    browser: Browser, tmp_path: Path, size: str, scheme: str
) -> None:
    write_results(entries(LEFT + MORE, RIGHT + MORE, "x = 1"), tmp_path, starter=STARTER)

    page = look(browser, tmp_path / SIMILAR, size, scheme)

    assert len(page.pdf(format="A4")) > 1000
