"""The handout as a page: complete, self-contained, and with working links."""

import re
from posixpath import dirname, join, normpath

import pytest

from formats import Tags
from grader.assignment import ASSIGNMENT
from tensormark.handout import MAIN
from tensormark.release.page import html_of
from tensormark.usage import UserError
from tests.helpers import ROOT
from tests.helpers.handout import PAGES


class Page(Tags):
    def handle_comment(self, data: str) -> None:
        pass  # the handout's tables are between comments


HTML = {page.replace(".md", ".html"): html_of(PAGES, page, ROOT) for page in PAGES}
PARSED = {page: Page(text) for page, text in HTML.items()}
ANCHORS = {
    page: {tag["id"] for tag in parsed.attributes if "id" in tag} for page, parsed in PARSED.items()
}


@pytest.mark.parametrize("page", HTML)
def test_every_link_to_a_page_has_its_anchor(page: str) -> None:
    links = [link for link in PARSED[page].links if not link.startswith(("https:", "data:"))]
    assert len(links) > 5

    for link in links:
        name, _, anchor = link.partition("#")
        target = normpath(join(dirname(page), name)) if name else page
        assert target in HTML or (ROOT / target).exists(), link
        assert not anchor or anchor in ANCHORS[target], link
        assert target.replace(".md", ".html") == target or target not in PAGES, link


def test_every_problem_has_its_anchor() -> None:
    for exercise in ASSIGNMENT.exercises:
        ((_, page, anchor),) = ASSIGNMENT.handout.sections(exercise.id, [])
        assert anchor in ANCHORS[page.replace(".md", ".html")]


@pytest.mark.parametrize("page", HTML)
def test_the_page_begins_with_its_title_and_has_the_contents_behind_the_text(page: str) -> None:
    order = [tag for tag, *_ in PARSED[page].tags if tag in ("h1", "main", "nav", "p")]

    assert order[:2] == ["main", "h1"]
    assert order.index("nav") > order.index("p")


@pytest.mark.parametrize("page", HTML)
def test_the_page_loads_nothing(page: str) -> None:
    parsed = PARSED[page]
    text = HTML[page]

    sources = {str(tag["src"]) for tag in parsed.attributes if "src" in tag}
    assert {source.partition(":")[0] for source in sources} <= {"data"}
    assert not {"script", "iframe", "object"} & {name for name, *_ in parsed.tags}
    assert "@import" not in text
    assert "url(" not in text
    assert len(text) < 1_500_000


def test_every_picture_is_in_its_page_with_alternative_text() -> None:
    for (source, text), page in zip(PAGES.items(), PARSED.values(), strict=True):
        words = [tag["alt"] for tag in page.attributes if "alt" in tag]

        assert len(words) == len(re.findall(r"^!\[", text, re.M)), source
        assert all(words)


def test_equations_become_mathml() -> None:
    text = "# Title\n\n## One\n\nLet $x_i^2$ cost $5, and\n\n$$\\frac{a}{\\sqrt{d}}$$\n"

    html = html_of({MAIN: text}, MAIN, ROOT)

    assert html.count("<math") == 2
    assert "<mfrac>" in html
    assert "cost $5" in html


def test_text_in_backticks_stays_code() -> None:
    html = html_of({MAIN: "# T\n\n## A\n\n`a < b $x$` & more\n"}, MAIN, ROOT)

    assert "<code>a &lt; b $x$</code> &amp; more" in html


@pytest.mark.parametrize("source", ["pictures/none.png", "https://example.org/a.png", "../x.png"])
def test_a_picture_that_is_missing_or_elsewhere_is_an_error(source: str) -> None:
    with pytest.raises(UserError, match="is not a picture in "):
        html_of({MAIN: f"# T\n\n## A\n\n![words]({source})\n"}, MAIN, ROOT)
