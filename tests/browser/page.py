"""The report's page in a real browser (`make test-page`); run by name, as it needs Chromium.

SHOTS=folder also saves screenshots to look at.
"""

import itertools
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tensormark.reports import html

import sample
from test_payloads import PAYLOADS

SIZES = {"desktop": (1280, 900), "phone": (360, 740)}
SCHEMES = ("light", "dark")
SECONDS = 1.0  # of processor time, which a busy machine does not lengthen, until the page is drawn
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


def opened(browser: Browser, size: str, scheme: str, **options: Any) -> Page:
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,  # type: ignore[arg-type]
        **options,
    )
    context.set_default_timeout(120_000)  # milliseconds: the machine may be busy
    return context.new_page()


def listen(page: Page) -> tuple[list[str], list[str]]:
    """Return two lists that grow: messages, errors and dialogs of a page, and what it requests."""
    messages: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: messages.append(dialog.message))
    return messages, requests


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES)
def test_the_page_is_quiet_fits_and_is_drawn_soon(
    browser: Browser, page_file: Path, size: str, scheme: str
) -> None:
    page = opened(browser, size, scheme)
    messages, requests = listen(page)

    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(page_file.as_uri())
    page.evaluate("() => new Promise(requestAnimationFrame)")
    metrics = session.send("Performance.getMetrics")["metrics"]
    seconds = next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")
    wide, inner = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")

    if (folder := os.environ.get("SHOTS")) and page_file.stem != "largest":
        shot = Path(folder) / f"{page_file.stem}-{size}-{scheme}.png"
        page.screenshot(path=shot, full_page=True)
    assert messages == []
    assert requests == [page_file.as_uri()]
    assert wide <= inner
    assert seconds < SECONDS


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_no_fault(browser: Browser, page_file: Path, size: str, scheme: str) -> None:
    # the page's policy would keep axe itself from running
    page = opened(browser, size, scheme, bypass_csp=True)
    page.goto(page_file.as_uri())

    faults = Axe().run(page).response["violations"]

    serious = [fault for fault in faults if fault["impact"] in ("serious", "critical")]
    assert [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in serious] == []


def test_every_part_can_be_reached_with_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(html.page(MODELS["everything"]), encoding="utf-8")
    page = opened(browser, "desktop", "light")
    page.goto(path.as_uri())

    reached = []
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.tagName"))

    assert {"A", "SUMMARY"} <= set(reached)


def test_the_printed_page_has_all_that_the_screen_has(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(html.page(MODELS["everything"]), encoding="utf-8")
    page = opened(browser, "desktop", "light")
    page.goto(path.as_uri())

    shown = page.inner_text("body")
    page.emulate_media(media="print")

    assert page.inner_text("body") == shown
    assert len(page.pdf()) > 10_000


def test_the_largest_page_is_no_slower_to_make_than_to_draw() -> None:
    began = time.process_time()
    html.page(MODELS["largest"])

    assert time.process_time() - began < SECONDS
