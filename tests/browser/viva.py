"""The pages with questions about a student's own code in a real browser (`make test-page`).

SHOTS=folder also saves screenshots to look at.
"""

from pathlib import Path

import pytest
from page import SCHEMES, SIZES, look, opened
from page import browser as browser
from playwright.sync_api import Browser

from tensormark.viva import page as pages
from testkit.payloads import PAYLOADS
from testkit.studies import small_sheet, with_text

SHEETS = {
    "sample": small_sheet(),
    "hostile": with_text(small_sheet(), lambda text: f"{text} {' '.join(PAYLOADS)[:400]}"),
}


MADE = {
    "practice": pages.practice,
    "paper": lambda sheet: pages.paper(sheet, "Ada Lovelace"),
    "key": lambda sheet: pages.key(sheet, "Ada Lovelace"),
}


def written(folder: Path, name: str, sheet: str) -> Path:
    path = folder / f"viva-{name}-{sheet}.html"
    path.write_text(MADE[name](SHEETS[sheet]), encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("sheet", SHEETS)
@pytest.mark.parametrize("name", MADE)
def test_a_page_is_quiet_fits_and_has_no_fault(
    browser: Browser, tmp_path: Path, name: str, sheet: str, size: str, scheme: str
) -> None:
    click = "#q1 label" if name == "practice" else ""
    look(browser, written(tmp_path, name, sheet), size, scheme, click)


def test_an_answer_is_marked_once_and_the_keyboard_may_pass_options(
    browser: Browser, tmp_path: Path
) -> None:
    page = opened(browser)
    page.goto(written(tmp_path, "practice", "sample").as_uri())

    page.locator("#q1 label").nth(3).click()
    page.locator("#q1 label").nth(0).click(force=True)
    shown = page.locator(".lines .now").get_attribute("value")
    page.locator("#q2 input").nth(0).focus()
    page.keyboard.press("ArrowDown")
    before = page.locator("#count").text_content()
    page.keyboard.press("Enter")

    assert page.locator("#q1 .verdict").text_content() == "✗ Not right: you chose D."
    assert page.locator("#q1 label.correct input").get_attribute("value") == "A"
    assert (shown, before) == ("5", "0 of 1 right, 1 to go")
    assert page.locator("#count").text_content() == "1 of 2 right, that was the last one"


def test_answers_open_without_a_script(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(written(tmp_path, "practice", "sample").as_uri())

    page.locator("#q2 summary").click()

    assert page.get_by_text("The answer is B.").is_visible()
    assert page.locator("#q2 button").is_hidden()
