"""The gradebook's page in a real browser (`make test-page`); see page.py.

SHOTS=folder also saves screenshots to look at.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from page import NEXT, SCREENS, look, opened
from page import browser as browser
from playwright.sync_api import Browser, Page

from grader.assignment import ASSIGNMENT
from tensormark.authoring.course import open_course
from tensormark.classroom import teach
from tensormark.classroom.counts import note_flags
from tensormark.classroom.gradebook import page as drawn
from testkit import classes
from testkit.classes import result

MANY = 1000
CELLS = """place => [...document.querySelectorAll("#students tbody tr:not([hidden])")]
    .map(row => row.cells[place].dataset.value ?? row.cells[place].textContent)"""


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
@pytest.mark.parametrize("name", ["some", "payloads", "nobody", "teach"])
def test_a_page_is_quiet_fits_and_has_no_fault(browser: Browser, files, name, size, scheme) -> None:
    look(browser, files[name], size, scheme)


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


def test_the_printed_page_has_every_student(table: Page) -> None:
    table.emulate_media(media="print")

    assert len(table.inner_text("#students tbody").split("\n")) > MANY
