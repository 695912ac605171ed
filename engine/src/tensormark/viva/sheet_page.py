"""Sheets of questions as pages: to practise with, for a student to fill in, and for staff.

A printed sheet is made without the answers, so it cannot hold one.
"""

import dataclasses
import re
from pathlib import Path

from markupsafe import Markup, escape

from tensormark.reports import pages
from tensormark.reports.text import visible
from tensormark.viva.question import LETTERS, Sheet

TEMPLATES = Path(__file__).with_name("templates")


def code(text: str) -> Markup:
    """Return code as markup, with what is changed marked."""
    return Markup(re.sub("«(.*?)»", r"<mark>\1</mark>", str(escape(visible(text)))))


def marked(text: str) -> Markup:
    """Return a text as markup: what stands between backticks is code."""
    parts = [
        Markup("<code>{}</code>").format(code(part)) if place % 2 else escape(visible(part))
        for place, part in enumerate(text.split("`"))
    ]
    return Markup("").join(parts)


def _page(kind: str, sheet: Sheet, name: str) -> str:
    """Return a page of one of the kinds that the template knows."""
    return pages.page(
        f"{sheet.assignment}: questions for {name}",
        TEMPLATES / "viva.html.j2",
        TEMPLATES / "viva.css",
        TEMPLATES / "viva.js" if kind == "practice" else None,
        kind=kind,
        assignment=sheet.assignment,
        listings=sheet.listings,
        about=sheet.about,
        questions=sheet.questions,
        name=name,
        seed=sheet.seed if kind == "practice" else "",
        letters=LETTERS,
        code=code,
        marked=marked,
    )


def practice(sheet: Sheet) -> str:
    """Return the page to practise with: a script marks answers; without it, explanations open."""
    return _page("practice", sheet, sheet.submission)


def paper(sheet: Sheet, name: str) -> str:
    """Return a student's sheet, to print and fill in by hand; it holds no answer."""
    asked = [dataclasses.replace(each, key=-1, reason="", ask_next="") for each in sheet.questions]
    return _page("paper", dataclasses.replace(sheet, questions=tuple(asked)), name)


def key(sheet: Sheet, name: str) -> str:
    """Return the questions for staff, with the answers and what to ask next."""
    return _page("key", sheet, name)
