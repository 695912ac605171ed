"""The handout as a page: complete, self-contained, and with working links."""

import re
from posixpath import dirname, join, normpath

import pytest

from formats import Tags
from grader.assignment import ASSIGNMENT
from tensormark.release.page import html_of
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
def test_the_page_loads_nothing(page: str) -> None:
    parsed = PARSED[page]

    sources = {str(tag["src"]) for tag in parsed.attributes if "src" in tag}
    assert {source.partition(":")[0] for source in sources} <= {"data"}
    assert not {"script", "iframe", "object"} & {name for name, *_ in parsed.tags}
    assert not re.search(r"@import|url\(", HTML[page])
    assert len(HTML[page]) < 1_500_000


def test_pictures_have_alternative_text_and_equations_become_mathml() -> None:
    for (source, text), page in zip(PAGES.items(), PARSED.values(), strict=True):
        words = [tag["alt"] for tag in page.attributes if "alt" in tag]
        # Markdown removes a backslash before punctuation, and takes `<` for the start of a tag
        prose = re.sub(r"`[^`\n]+`|^    .*$", "", text, flags=re.M)
        equations = re.findall(r"\$\$.+?\$\$|\$[^$]+?\$", prose)

        assert len(words) == len(re.findall(r"^!\[", text, re.M)), source
        assert all(words)
        assert [one for one in equations if re.search(r"\\[^a-zA-Z]|<|\n", one)] == []
        assert sum(name == "math" for name, *_ in page.tags) == len(equations), source
