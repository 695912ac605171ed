"""The report's page in a real browser (`make test-page`); run by name, as it needs Chromium.

SHOTS=folder also saves screenshots to look at.
"""

import contextlib
import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tensormark.reports import html
from testkit import sample
from testkit.payloads import PAYLOADS

SIZES = {"desktop": (1300, 900), "phone": (390, 740)}
SCHEMES = ("light", "dark")
SCREENS = [("desktop", "light"), ("phone", "dark")]  # where two of the four are enough
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
NEXT = itertools.cycle(PAYLOADS)
MODELS: dict[str, dict[str, Any]] = {
    "everything": sample.model(),
    "largest": sample.largest(),
    "payloads": sample.with_text(sample.model(), lambda text: f"{next(NEXT)[:200]} {text}"),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    assert program, "there is no Chromium here; on Debian: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=MODELS)
def page_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"{request.param}.html"
    path.write_text(html.page(MODELS[request.param]), encoding="utf-8")
    return path


def opened(browser: Browser, size: str = "desktop", scheme: str = "light", **options: Any) -> Page:
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,  # type: ignore[arg-type]
        **options,
    )
    context.set_default_timeout(120_000)  # milliseconds: the machine may be busy
    return context.new_page()


@contextlib.contextmanager
def quiet(page: Page, path: Path) -> Iterator[None]:
    """Open a page; in the end assert that it fits, and has said and requested nothing else."""
    said: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    yield
    assert said == []
    assert requests == [path.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def faults(page: Page) -> list[tuple[str, str]]:
    """Return what axe finds, each with its first place; the page's policy must be bypassed."""
    violations = Axe().run(page).response["violations"]
    return [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in violations]


def look(browser: Browser, path: Path, size: str, scheme: str, click: str = "") -> None:
    """Open a page and click on something; assert that it is quiet, fits and has no fault."""
    page = opened(browser, size, scheme, bypass_csp=True)
    with quiet(page, path):
        if click:
            page.locator(click).nth(1).click()
        assert faults(page) == []
        folder = os.environ.get("SHOTS")
        if folder:
            page.screenshot(path=Path(folder) / f"{path.stem}-{size}-{scheme}.png", full_page=True)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES)
def test_the_page_is_quiet_fits_and_has_no_fault(
    browser: Browser, page_file: Path, size: str, scheme: str
) -> None:
    look(browser, page_file, size, scheme)


@pytest.mark.parametrize("page_file", ["everything"], indirect=True)
def test_every_part_is_reached_with_the_keyboard_and_printed(
    browser: Browser, page_file: Path
) -> None:
    page = opened(browser)
    page.goto(page_file.as_uri())
    shown = page.inner_text("body")

    reached = set()
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
    page.emulate_media(media="print")

    assert {"A", "SUMMARY"} <= reached
    assert page.inner_text("body") == shown
