"""The page to teach from in a real browser (`make test-page`); see page.py.

SHOTS=folder also saves screenshots to look at.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from grader.assignment import ASSIGNMENT
from tensormark.classroom.reports import teach
from tensormark.classroom.reports.lesson import lesson_of
from tensormark.references import References

import classes
from page import SCREENS, look, pages_of
from page import browser as browser

A4 = 794, 1123  # pixels


@pytest.fixture(scope="module", params=[90, 5])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a class with an earlier term, and of one too small for statistics."""
    entries = classes.a_class(request.param)
    for entry in entries:
        for exercise in entry.exercises:
            for finding in exercise["findings"]:
                if exercise["id"] == "attention":
                    finding["mistake"] = "mask_ignored|no_scale"
    recorded = References(ASSIGNMENT.references).manifest["exercises"]
    last = lesson_of(ASSIGNMENT, recorded, classes.a_class(90, seed=2)).term
    versions = {entry.hand_in.student: 1 + index % 3 for index, entry in enumerate(entries)}
    lesson = lesson_of(ASSIGNMENT, recorded, entries, classes.BEGAN, versions, last)
    path = tmp_path_factory.mktemp("teach") / f"teach-{request.param}.html"
    path.write_text(teach.page(lesson), encoding="utf-8")
    return path


@pytest.mark.parametrize(("size", "scheme"), SCREENS)
def test_the_page_is_quiet_fits_and_has_no_fault(
    browser: Browser, path: Path, size: str, scheme: str
) -> None:
    look(browser, path, size, scheme)


def test_an_exercise_has_a_screen_and_a_printed_page_to_itself(
    browser: Browser, path: Path
) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(path.as_uri())
    heights = "[...document.querySelectorAll('.screen')].map(one => one.offsetHeight)"

    projected = page.evaluate(heights)
    printed = page.pdf(format="A4")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": A4[0] - 76, "height": A4[1]})

    assert min(projected) >= 900
    assert max(page.evaluate(heights)) < A4[1] - 76
    assert pages_of(printed) == len(projected)
