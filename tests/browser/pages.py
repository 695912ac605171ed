"""Every kind of page in a real browser (`make test-page`); run by name, as it needs Chromium.

SHOTS=folder also saves screenshots to look at.
"""

import functools
import io
import itertools
import json
import os
import shutil
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image, ImageColor
from playwright.sync_api import sync_playwright

from grader.assignment import ASSIGNMENT
from tensormark.authoring.course import open_course
from tensormark.classroom import teach
from tensormark.classroom.counts import note_flags
from tensormark.classroom.gradebook import page as gradebook
from tensormark.release.handout_html import html_of
from tensormark.reports import html
from tensormark.viva import sheet_page as viva
from testkit import classes, sample
from testkit.payloads import PAYLOADS
from testkit.studies import small_sheet, with_text
from tests.helpers import ROOT
from tests.helpers.diagrams import WIDTH, Diagram
from tests.helpers.handout import PAGES

SCREENS = {"desktop": (1300, 900, "light"), "phone": (390, 740, "dark")}
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
NEXT = itertools.cycle(PAYLOADS)
MANY = 1000  # students
SCORE = 3  # its column


def with_payloads(text):
    return f"{next(NEXT)[:200]} {text}"


def class_page(size, written=str):
    """Write the gradebook's page of a class."""
    entries = []
    for number in range(size):
        name = written(f"s{number}")
        mistake = ("no_bias", "flipped", None)[number % 3]
        model = classes.result(mistake, name, [name] if number % 5 == 1 else [])
        shown = f"{'Ada Lovelace' if number % 2 else 'Alan Turing'} {name}"
        entry = classes.entry(name, model, name=shown, folder=str(number))
        entry.equal = ["s1"] * number if number % 7 == 0 else []
        entries.append(entry if number % 9 else classes.entry(name))
    note_flags(entries)
    return gradebook(entries, classes.SAYS, ["a flag that most have"] if size else [])


def teach_page():
    text = json.dumps(classes.result("mask_ignored", "x"))
    model = json.loads(text.replace('"conv"', '"attention"').replace('"detector"', '"layer"'))
    entries = [classes.entry(str(number), model) for number in range(9)]
    says = {("attention", "mask_ignored"): "the mask is ignored"}
    return teach.page(entries, says, open_course(ASSIGNMENT))


def sheets(name, write):
    hostile = with_text(small_sheet(), lambda text: f"{text} {' '.join(PAYLOADS)[:400]}")
    return {
        f"viva, {name}": functools.partial(write, small_sheet()),
        f"viva, {name} with payloads": functools.partial(write, hostile),
    }


WRITTEN = {
    "report": lambda: html.page(sample.model()),
    "largest report": lambda: html.page(sample.largest()),
    "report with payloads": lambda: html.page(sample.with_text(sample.model(), with_payloads)),
    "class": lambda: class_page(40),
    "class with payloads": lambda: class_page(60, with_payloads),
    "class of nobody": lambda: class_page(0),
    "teach": teach_page,
    **sheets("practice", viva.practice),
    **sheets("paper", lambda sheet: viva.paper(sheet, "Ada Lovelace")),
    **sheets("key", lambda sheet: viva.key(sheet, "Ada Lovelace")),
    **{name: functools.partial(html_of, PAGES, name, ROOT) for name in PAGES},
}


@pytest.fixture(scope="module")
def browser():
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    assert program, "there is no Chromium here; on Debian: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser, screen="desktop", **options):
    width, height, scheme = SCREENS[screen]
    size = {"width": width, "height": height}
    context = browser.new_context(viewport=size, color_scheme=scheme, **options)
    context.set_default_timeout(120_000)  # milliseconds: the machine may be busy
    return context.new_page()


def show(page, text, folder):
    """Open a page of this text; return its address."""
    path = folder / "page.html"
    path.write_text(text, "utf-8", errors="backslashreplace")
    page.goto(path.as_uri())
    return path.as_uri()


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_is_quiet_fits_and_has_no_fault(browser, tmp_path, name, screen):
    page = opened(browser, screen, bypass_csp=True)  # for axe
    said = []
    requests = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: requests.append(request.url))

    address = show(page, WRITTEN[name](), tmp_path)
    if "practice" in name:
        page.locator("#q1 label").nth(1).click()
    faults = Axe().run(page).response["violations"]
    folder = os.environ.get("SHOTS")
    if folder:
        shot = Path(folder) / f"{name.replace('/', '-')}, {screen}.png"
        page.screenshot(path=shot, full_page=True)

    assert [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in faults] == []
    assert (said, requests) == ([], [address])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_every_part_of_a_report_is_reached_with_the_keyboard_and_printed(browser, tmp_path):
    page = opened(browser)
    show(page, WRITTEN["report"](), tmp_path)
    shown = page.inner_text("body")
    reached = set()

    for _ in range(20):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
    page.emulate_media(media="print")

    assert {"A", "SUMMARY"} <= reached
    assert page.inner_text("body") == shown


# --- the gradebook ------------------------------------------------------------------------------

CELLS = """place => [...document.querySelectorAll("#students tbody tr:not([hidden])")]
    .map(row => row.cells[place].dataset.value ?? row.cells[place].textContent)"""


def test_a_class_is_sorted_both_ways_searched_and_printed_whole(browser, tmp_path):
    table = opened(browser)
    show(table, class_page(MANY), tmp_path)
    score = table.locator("#students thead th").nth(SCORE)
    columns = {}

    for order in ("ascending", "descending"):
        score.locator("button").click()
        assert score.get_attribute("aria-sort") == order
        columns[order] = table.evaluate(CELLS, SCORE)
    for place, of_whom in enumerate(("name", "id")):
        table.get_by_role("button", name=of_whom, exact=True).click()
        columns[of_whom] = table.evaluate(CELLS, place)
    table.fill("#search", "lovelace ADA")
    found = table.evaluate(CELLS, 0)
    said = table.inner_text("#shown")
    table.emulate_media(media="print")

    names = columns.pop("name")
    assert [name[:2] for name in (names[0], names[MANY // 2], names[-1])] == ["Ad", "Al", "s9"]
    assert columns.pop("id")[:11] == [f"s{number}" for number in range(11)]
    up, down = ([float(value) for value in column if value] for column in columns.values())
    assert up == sorted(up) == down[::-1]
    assert (len(columns["descending"]), columns["descending"][-1]) == (MANY, "")
    assert table.locator("#students [aria-sort]").count() == 1
    assert 0 < len(found) < MANY
    assert all("Ada Lovelace" in text for text in found)
    assert said == f"{len(found)} of {MANY} students"
    assert len(table.inner_text("#students tbody").split("\n")) > MANY


def test_a_wide_screen_shows_all_columns_and_a_row_is_higher_only_once_it_is_clicked(
    browser, tmp_path
):
    page = opened(browser)
    page.set_viewport_size({"width": 1900, "height": 900})
    show(page, class_page(180), tmp_path)
    row = page.locator("#students tbody tr", has_text="s1, s1, s1").last
    rows = "[...document.querySelectorAll('#students tbody tr')].map(row => row.offsetHeight)"

    heights = page.evaluate(rows)
    row.locator(".notes").last.click()

    assert page.evaluate("(s => s.scrollWidth <= s.clientWidth)(document.querySelector('.scroll'))")
    assert max(heights) < 60
    assert max(page.evaluate(rows)) > 100


# --- questions ----------------------------------------------------------------------------------


def test_an_answer_is_marked_once_and_the_keyboard_may_pass_options(browser, tmp_path):
    page = opened(browser)
    show(page, WRITTEN["viva, practice"](), tmp_path)

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


def test_answers_open_without_a_script(browser, tmp_path):
    page = opened(browser, java_script_enabled=False)
    show(page, WRITTEN["viva, practice"](), tmp_path)

    page.locator("#q2 summary").click()

    assert page.get_by_text("The answer is B.").is_visible()
    assert page.locator("#q2 button").is_hidden()


# --- diagrams -----------------------------------------------------------------------------------

FILES = sorted((ROOT / "handout" / "pictures").glob("*.svg"))
# the box of each text without the room above and below its letters
WORDS = """[...document.querySelectorAll("text")].map(one => {
  const box = one.getBBox(), size = Number(one.getAttribute("font-size"));
  return [box.x, Number(one.getAttribute("y")) - 0.74 * size, box.width, 0.76 * size];
})"""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_words_are_inside_the_diagram_and_do_not_overlap(browser, path):
    page = opened(browser)
    page.goto(path.as_uri())

    boxes = page.evaluate(WORDS)

    edges = [(left, top, left + width, top + height) for left, top, width, height in boxes]
    assert edges
    assert all(left >= 0 and right <= WIDTH for left, _, right, _ in edges)
    for (left, top, right, bottom), other in itertools.combinations(edges, 2):
        beside = right <= other[0] or other[2] <= left
        assert beside or bottom <= other[1] or other[3] <= top, (left, top, other)


@pytest.mark.parametrize("screen", SCREENS)
def test_diagrams_of_the_handout_have_the_mode_of_their_reader_and_fit(browser, tmp_path, screen):
    page = opened(browser, screen)
    width, _, mode = SCREENS[screen]
    # higher than every diagram: Chromium 156 never takes a screenshot of one that does not fit
    page.set_viewport_size({"width": width, "height": 1000})
    colors = dict(zip(("light", "dark"), Diagram(FILES[0]).backgrounds, strict=True))
    count = 0

    for name in PAGES:
        show(page, WRITTEN[name](), tmp_path)
        for diagram in page.locator("img[src^='data:image/svg']").all():
            shot = Image.open(io.BytesIO(diagram.screenshot()))
            pixel = shot.convert("RGB").getpixel((shot.width // 2, shot.height - 3))
            assert shot.width <= width - 2 * 16
            assert pixel == ImageColor.getrgb(colors[mode])
            count += 1
    assert count == len(FILES)
