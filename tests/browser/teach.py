"""The page to teach from in a real browser (`make test-page`); see page.py.

SHOTS=folder also saves screenshots to look at.
"""

import os
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from grader.assignment import ASSIGNMENT
from tensormark.classroom import teach
from tensormark.classroom.lesson import lesson_of
from tensormark.references import References

import classes
from page import browser as browser
from page import listen

SCREENS = {"projector": (1440, 900, "light"), "phone": (390, 844, "dark")}
A4 = 794, 1123  # pixels
PAGE = re.compile(rb"/Type\s*/Page\b")


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


@pytest.mark.parametrize("screen", SCREENS)
def test_the_page_is_quiet_fits_and_has_no_fault(browser: Browser, path: Path, screen: str) -> None:
    width, height, scheme = SCREENS[screen]
    size = {"width": width, "height": height}
    context = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    messages, requests = listen(page)

    page.goto(path.as_uri())
    faults = Axe().run(page).response["violations"]
    wide, inner = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")

    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=Path(folder) / f"{path.stem}-{screen}.png", full_page=True)
    assert [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in faults] == []
    assert (messages, requests) == ([], [path.as_uri()])
    assert wide <= inner


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
    assert len(PAGE.findall(printed)) == len(projected)
