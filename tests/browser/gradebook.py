"""The gradebook's page in a real browser (`make test-page`); see page.py.

Prints how long sorting and filtering take. SHOTS=folder also saves screenshots.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from page import NEXT, SCREENS, faults, opened, quiet, shoot
from page import browser as browser
from playwright.sync_api import Browser, Page

import classes
from classes import result
from grader.assignment import ASSIGNMENT
from tensormark.authoring.course import open_course
from tensormark.classroom import teach
from tensormark.classroom.entry import note_flags
from tensormark.classroom.gradebook import page as drawn

MANY = 1000
MILLISECONDS = 1000  # ten times the goal, as the machine may be busy
CLICK = """place => {
    const button = document.querySelectorAll("#students thead button")[place];
    const began = performance.now();
    button.click();
    document.body.offsetHeight;
    return performance.now() - began;
}"""
TYPE = """text => {
    const field = document.getElementById("search");
    const began = performance.now();
    field.value = text;
    field.dispatchEvent(new Event("input"));
    document.body.offsetHeight;
    return performance.now() - began;
}"""
CELLS = """place => [...document.querySelectorAll("#students tbody tr:not([hidden])")]
    .map(row => row.cells[place].dataset.value ?? row.cells[place].textContent)"""
ACTIVE = "document.activeElement.id || document.activeElement.tagName"


def write(path: Path, size: int, hostile: bool) -> Path:
    entries = []
    for number in range(size):
        name = f"{next(NEXT)[:200]} {number}" if hostile else f"s{number}"
        mistake = ("no_bias", "flipped", None)[number % 3]
        model = result(mistake, name, [name] if number % 5 == 1 else [])
        entry = classes.entry(name, model, name=f"{name} Ada Lovelace", report=f"feedback/{number}")
        entry.equal = ["s1"] if number % 7 == 0 else []
        entries.append(entry if number % 9 else classes.entry(name))
    note_flags(entries)
    text = drawn(entries, classes.SAYS, ["a flag that most have"] if size else [])
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
    return path


def write_teach(path: Path) -> Path:
    text = json.dumps(result("mask_ignored", "x"))
    model = json.loads(text.replace('"conv"', '"attention"').replace('"detector"', '"layer"'))
    entries = [classes.entry(str(number), model) for number in range(9)]
    says = {("attention", "mask_ignored"): "the mask is ignored"}
    path.write_text(teach.page(entries, says, open_course(ASSIGNMENT)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("gradebooks")
    return {
        "many": write(folder / "many.html", MANY, False),
        "some": write(folder / "some.html", 40, False),
        "payloads": write(folder / "payloads.html", 60, True),
        "nobody": write(folder / "nobody.html", 0, False),
        "teach": write_teach(folder / "teach.html"),
    }


@pytest.fixture
def table(browser: Browser, files: dict[str, Path]) -> Iterator[Page]:
    page = opened(browser)
    page.goto(files["many"].as_uri())
    yield page
    page.close()


def values(page: Page, column: int) -> list[str]:
    return list(page.evaluate(CELLS, column))


@pytest.mark.parametrize(("size", "scheme"), SCREENS)
@pytest.mark.parametrize("name", ["many", "payloads", "nobody", "teach"])
def test_the_page_is_quiet_and_fits(browser: Browser, files, name, size, scheme) -> None:
    page = opened(browser, size, scheme)

    with quiet(page, files[name]):
        page.evaluate("() => new Promise(requestAnimationFrame)")
        for part in ("scores", "class", "problems"):
            page.evaluate(f"document.getElementById('{part}')?.scrollIntoView()")
            shoot(page, f"gradebook-{name}-{part}-{size}-{scheme}", whole=False)


@pytest.mark.parametrize(("size", "scheme"), SCREENS)
@pytest.mark.parametrize("name", ["some", "payloads", "teach"])  # a thousand rows take minutes
def test_axe_finds_no_fault(browser: Browser, files, name, size, scheme) -> None:
    page = opened(browser, size, scheme, bypass_csp=True)
    page.goto(files[name].as_uri())

    assert faults(page) == []


def test_a_thousand_rows_are_sorted_and_filtered_at_once(table: Page, capsys) -> None:
    sorts = [table.evaluate(CLICK, place) for place in (0, 1, 2, 3, 3, 5)]
    filters = [table.evaluate(TYPE, text) for text in ("a", "ad", "ada", "", "zzz", "")]

    with capsys.disabled():
        print(f"\n{MANY} rows: sorts {max(sorts):.0f} ms, filters {max(filters):.0f} ms at most")
    assert max(*sorts, *filters) < MILLISECONDS


def test_a_column_is_sorted_both_ways_and_says_so(table: Page) -> None:
    head = table.locator("#students thead th").nth(1)

    head.locator("button").click()
    up = [float(value) for value in values(table, 1) if value]
    assert head.get_attribute("aria-sort") == "ascending"
    head.locator("button").click()
    down = [float(value) for value in values(table, 1) if value]

    assert head.get_attribute("aria-sort") == "descending"
    assert up == sorted(up) == down[::-1]
    assert values(table, 1)[-1] == ""
    assert len(values(table, 1)) == MANY
    assert table.locator("#students [aria-sort]").count() == 1


def test_rows_are_searched_and_counted(table: Page) -> None:
    table.fill("#search", "lovelace ADA")

    shown = values(table, 0)
    assert 0 < len(shown) < MANY
    assert all("Ada Lovelace" in text for text in shown)
    assert table.inner_text("#shown") == f"{len(shown)} of {MANY} students"


def test_a_mistake_shows_who_made_it(table: Page) -> None:
    button = table.locator("#mistakes button").first
    count = int(table.locator("#mistakes .count").first.inner_text().split()[0])

    button.click()

    assert len(values(table, 0)) == count
    assert table.evaluate("document.activeElement.id") == "choice"


def test_all_of_it_can_be_reached_with_the_keyboard(table: Page) -> None:
    reached = []
    for _ in range(40):
        table.keyboard.press("Tab")
        reached.append(table.evaluate(ACTIVE))
    table.locator("#students thead button").nth(2).focus()
    table.keyboard.press("Enter")

    assert {"search", "choice", "BUTTON", "A", "DIV"} <= set(reached)
    assert table.locator("#students [aria-sort]").count() == 1


def test_the_printed_page_has_every_student(table: Page) -> None:
    table.emulate_media(media="print")

    assert len(table.inner_text("#students tbody").split("\n")) > MANY
    assert len(table.pdf()) > 100_000
