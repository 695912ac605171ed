"""The handout as a page: complete, self-contained, and with working links."""

import re
from html.parser import HTMLParser

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.authoring.handout import heading
from tensormark.handout import slug
from tensormark.release.page import PageError, page_of

from conftest import ROOT

TEXT = (ROOT / "handout.md").read_text(encoding="utf-8")


class Reader(HTMLParser):
    """Collects a page's tags, and sees that each is closed where it should be."""

    EMPTY = frozenset("meta link br img hr input".split())

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert tag in self.EMPTY or tag == self.open.pop()

    def all(self, tag: str, attribute: str) -> list[str]:
        return [str(about[attribute]) for name, about in self.tags if name == tag and about]


@pytest.fixture(scope="module")
def page() -> str:
    return page_of(TEXT, ROOT)


def test_every_link_within_the_page_has_its_anchor(page: str) -> None:
    read = Reader(page)
    anchors = {about["id"] for _, about in read.tags if "id" in about}

    links = [link for link in read.all("a", "href") if link.startswith("#")]

    assert {slug(heading(TEXT, one)) for one in ASSIGNMENT.exercises} <= anchors
    assert len(links) > 50
    assert {link[1:] for link in links} <= anchors


def test_the_page_loads_nothing(page: str) -> None:
    read = Reader(page)

    assert {link.partition(":")[0] for link in read.all("img", "src")} == {"data"}
    assert not {"script", "iframe", "object"} & {tag for tag, _ in read.tags}
    assert "@import" not in page
    assert "url(" not in page
    assert len(page) < 1_500_000


def test_every_picture_is_in_the_page_with_words_for_it(page: str) -> None:
    shown = [about for tag, about in Reader(page).tags if tag == "img"]

    assert len(shown) == len(re.findall(r"^!\[", TEXT, re.M)) > 3
    assert all(about["alt"] for about in shown)


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
