"""The pages with questions about a student's own code in a real browser (`make test-page`).

SHOTS=folder also saves screenshots to look at.
"""

import dataclasses
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tensormark.classroom.entry import Entry
from tensormark.classroom.hand_in import HandIn
from tensormark.classroom.sheets import index
from tensormark.viva import page as pages
from tensormark.viva.question import Mark, Sheet, labelled

import vivas
from page import SCREENS, faults, opened, pages_of, quiet, shoot
from page import browser as browser
from payloads import PAYLOADS

LONG = "        weights = self.dropout(F.softmax(scores + attention_mask, dim=-1))"
MARKED = (
    "self.dropout(F.softmax(scores + attention_mask, dim=-1))",
    "F.softmax(scores + attention_mask, dim=-1)",
    "scores + attention_mask",
    "dim=-1",
)


def long_sheet() -> Sheet:
    """Return the sample's questions on functions of 25 lines, with marks that nest."""
    source = "\n".join(["    def f(self, x):", *[LONG] * 24])
    listings = tuple(vivas.listing(each.name, 1, source) for each in vivas.LISTINGS)
    spans = [(LONG.index(code), LONG.index(code) + len(code)) for code in MARKED]
    questions = tuple(
        dataclasses.replace(
            each, line=25 - place % 3, marks=tuple(Mark(each.function, 2, *span) for span in spans)
        )
        for place, each in enumerate(vivas.QUESTIONS)
    )
    return labelled(dataclasses.replace(vivas.sheet(), listings=listings, questions=questions))


SHEETS = {
    "sample": vivas.sheet(),
    "long": long_sheet(),
    "hostile": vivas.with_text(vivas.sheet(), lambda text: f"{text} {' '.join(PAYLOADS)[:400]}"),
}


def listed(sheet: Sheet) -> str:
    """Return the page that lists who has which sheet, with one who has none."""
    note = "; ".join(sheet.notes)
    ada = Entry(HandIn(sheet.submission, "Ada Lovelace"), sheet=sheet, sheet_note=note)
    bob = Entry(HandIn(f"{sheet.submission}2", "Bob"), sheet_note=note)
    return index([("ada", ada), ("bob", bob)])


MADE = {
    "practice": pages.practice,
    "paper": lambda sheet: pages.paper(sheet.for_students(), "Ada Lovelace"),
    "key": lambda sheet: pages.key(sheet, "Ada Lovelace"),
    "keys": listed,
}


def written(folder: Path, name: str, sheet: str) -> Path:
    path = folder / f"viva-{name}-{sheet}.html"
    path.write_text(MADE[name](SHEETS[sheet]), encoding="utf-8")
    return path


@pytest.mark.parametrize(("size", "scheme"), SCREENS)
@pytest.mark.parametrize("sheet", ["long", "hostile"])
@pytest.mark.parametrize("name", MADE)
def test_a_page_is_quiet_fits_and_has_no_fault(
    browser: Browser, tmp_path: Path, name: str, sheet: str, size: str, scheme: str
) -> None:
    page = opened(browser, size, scheme, bypass_csp=True)

    with quiet(page, written(tmp_path, name, sheet)):
        if name == "practice":  # one answer of each kind
            page.locator("#q1 label").nth(0).click()
            page.locator("#q3 label").nth(0).click()
        assert faults(page) == []
        shoot(page, f"viva-{name}-{sheet}-{size}-{scheme}")


@pytest.fixture
def practice(browser: Browser, tmp_path: Path) -> Page:
    """The page to practise with, under the policy that it has."""
    page = opened(browser)
    page.goto(written(tmp_path, "practice", "sample").as_uri())
    return page


def test_an_answer_is_marked_explained_and_counted_as_soon_as_it_is_given(practice: Page) -> None:
    practice.locator("#q1 label").nth(0).click()
    practice.locator("#q2 label").nth(3).click()

    assert practice.locator("#q1 .verdict").text_content() == "✓ Right."
    assert practice.locator("#q2 .verdict").text_content() == "✗ Not right: you chose D."
    assert practice.locator("#q1 details").get_attribute("open") is not None
    assert practice.locator("#q2 label.correct input").get_attribute("value") == "A"
    assert practice.locator("#q2 label.missed input").get_attribute("value") == "D"
    assert practice.locator("#count").text_content() == "1 of 2 right, 3 to go"
    assert practice.locator("#q3 .verdict").is_hidden()


def test_an_answer_stays_as_it_was_given(practice: Page) -> None:
    practice.locator("#q2 label").nth(3).click()

    practice.locator("#q2 label").nth(0).click(force=True)

    assert practice.locator("#count").text_content() == "0 of 1 right, 4 to go"
    assert practice.locator("#q2 input:checked").get_attribute("value") == "D"


def test_the_keyboard_may_pass_options_before_it_answers(practice: Page) -> None:
    practice.locator("#q2 input").nth(0).focus()

    practice.keyboard.press("ArrowDown")
    practice.keyboard.press("ArrowUp")
    before = practice.locator("#count").text_content()
    practice.keyboard.press("Enter")

    assert before == "5 questions"
    assert practice.locator("#count").text_content() == "1 of 1 right, 4 to go"
    assert practice.evaluate("document.activeElement.className") == "verdict"


def test_the_line_that_a_question_is_about_is_shown(practice: Page) -> None:
    practice.locator("#q3 input").nth(0).focus()

    assert practice.locator(".lines .now").get_attribute("value") == "130"
    assert practice.locator(".lines .now").is_visible()
    practice.locator("#q1 h2 a").click()
    assert practice.url.endswith("#f0-67")


def test_the_marks_that_a_question_names_stand_out(practice: Page) -> None:
    practice.locator("#q1 input").nth(0).focus()
    named = practice.locator(".lines .named").evaluate_all("all => all.map(m => m.dataset.label)")
    practice.locator("#q2 input").nth(0).focus()

    assert named == ["3", "4", "5", "6", "7"]
    assert practice.locator(".lines .named").count() == 0


def test_marks_are_heard_but_not_copied(practice: Page) -> None:
    listing = practice.locator(".lines").first

    heard = " ".join(re.findall(r"(?:text|mark): (.*)", listing.aria_snapshot()))
    listing.locator("li[value='67'] code").select_text()

    assert "mark 5 mark 6 scores end of mark 6 + mask end of mark 5" in heard
    copied = practice.evaluate("getSelection().toString()")
    assert copied.strip() == "probs = self.dropout(F.softmax(scores + mask, dim=-1))"


def test_answers_open_without_a_script(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(written(tmp_path, "practice", "sample").as_uri())

    page.locator("#q1 summary").click()

    assert page.get_by_text("The first row sums to 1.734.").is_visible()
    assert page.locator("#q1 button").is_hidden()
    assert page.locator("#count").is_hidden()


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("sheet", ["sample", "long"])
def test_a_paper_is_one_page(browser: Browser, tmp_path: Path, sheet: str, paper: str) -> None:
    page = browser.new_page()
    page.goto(written(tmp_path, "paper", sheet).as_uri())

    printed = page.pdf(format=paper)

    page.emulate_media(media="print")
    page.set_viewport_size({"width": 711, "height": 1040})  # of A4 between its margins
    shoot(page, f"viva-print-{sheet}")
    assert pages_of(printed) == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
