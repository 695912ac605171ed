"""The page that `make report` writes; the golden corpus has what it says."""

import re

import sample
from formats import Tags
from tensormark.reports import html


def test_the_page_asks_for_nothing_and_runs_nothing() -> None:
    page = html.page(sample.model())

    (policy,) = (a["content"] for _, a in Tags(page).elements if "http-equiv" in a)
    assert str(policy).startswith("default-src 'none'; style-src 'sha256-")
    assert not re.search(r"<(script|img|link|iframe|object|form)\b", page)
    assert not re.search(r"\b(src|on\w+|style)=", page)
    assert not re.search("https?://", page)


def test_the_largest_page_is_under_one_and_a_half_megabytes() -> None:
    assert len(html.page(sample.largest()).encode()) < 1_500_000


def test_links_lead_to_the_handout_that_is_there() -> None:
    model = sample.model()
    model["exercises"][0]["handout"][0]["page"] = "javascript:alert(1)"

    there = html.page(model, html.Handout("../", (".html",)))

    assert '<a href="../handout.html#the-mask">The mask</a></li>' in there
    assert "In the handout" not in html.page(model, html.NO_HANDOUT)
    assert "javascript" not in there
