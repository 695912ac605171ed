"""The handout as a page: complete, self-contained, and with working links."""

import re

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.authoring.handout import heading
from tensormark.handout import slug
from tensormark.release.page import PageError, page_of

from conftest import ROOT
from formats import Tags

TEXT = (ROOT / "handout.md").read_text(encoding="utf-8")


class Page(Tags):
    def handle_comment(self, data: str) -> None:
        pass  # the handout's tables are between comments


@pytest.fixture(scope="module")
def page() -> str:
    return page_of(TEXT, ROOT)


def test_every_link_within_the_page_has_its_anchor(page: str) -> None:
    read = Page(page)
    anchors = {about["id"] for about in read.attributes if "id" in about}

    links = [link for link in read.links if link.startswith("#")]

    assert {slug(heading(TEXT, one)) for one in ASSIGNMENT.exercises} <= anchors
    assert len(links) > 50
    assert {link[1:] for link in links} <= anchors


def test_the_page_loads_nothing(page: str) -> None:
    read = Page(page)

    sources = {str(about["src"]) for about in read.attributes if "src" in about}
    assert {source.partition(":")[0] for source in sources} == {"data"}
    assert not {"script", "iframe", "object"} & {tag for tag, *_ in read.tags}
    assert "@import" not in page
    assert "url(" not in page
    assert len(page) < 1_500_000


def test_every_picture_is_in_the_page_with_words_for_it(page: str) -> None:
    words = [about["alt"] for about in Page(page).attributes if "alt" in about]

    assert len(words) == page.count("<img") == len(re.findall(r"^!\[", TEXT, re.M)) > 3
    assert all(words)


def test_equations_become_mathml() -> None:
    text = "# Title\n\n## One\n\nLet $x_i^2$ cost $5, and\n\n$$\\frac{a}{\\sqrt{d}}$$\n"

    made = page_of(text, ROOT)

    assert made.count("<math") == 2
    assert "<mfrac>" in made
    assert "cost $5" in made


def test_what_is_written_as_code_stays_code() -> None:
    made = page_of("# T\n\n## A\n\n`a < b $x$` & more\n", ROOT)

    assert "<code>a &lt; b $x$</code> &amp; more" in made


@pytest.mark.parametrize("source", ["pictures/none.png", "https://example.org/a.png", "../x.png"])
def test_a_picture_that_is_not_there_is_an_error(source: str) -> None:
    with pytest.raises(PageError, match="is not a picture of "):
        page_of(f"# T\n\n## A\n\n![words]({source})\n", ROOT)
