"""The handout matches the grader, gives nothing away, and becomes pages that work by themselves."""

import ast
import itertools
import re
from posixpath import dirname, join, normpath

import pytest

from grader.assignment import ASSIGNMENT
from grader.sentiment import GateTraining
from tensormark.authoring.handout import with_tables
from tensormark.authoring.strip import MARKER
from tensormark.release.handout_html import html_of
from testkit.formats import Tags
from tests.helpers import ROOT
from tests.helpers.handout import PAGES, TEXT

PROBLEM = re.compile(
    r"^### Problem \((\w+)\): (.+) \((\d+) points, about \d+ minutes\)$", re.MULTILINE
)
TO_THE_LEFT = re.compile(r"^(return |[\w, ]+ = )")
MIN_SECRET = 20  # characters; shorter lines, such as `return x`, give nothing away


def squeezed(text):
    """Return a text without white space, to ignore its layout."""
    return re.sub(r"\s+", "", text)


def solution_lines():
    """Return the expressions in the solution's regions that would give answers away."""
    lines = []
    for path in sorted((ROOT / "solution").rglob("*.py")):
        inside = False
        for line in path.read_text("utf-8").splitlines():
            if MARKER.match(line):
                inside = "BEGIN" in line
            elif inside:
                lines.append(TO_THE_LEFT.sub("", line.split("  #")[0].strip()))
    return [line for line in lines if len(line) > MIN_SECRET and not line.startswith("#")]


def texts_of_the_grader():
    """Return all strings in the sources of messages, f-strings in pieces."""
    paths = [*ROOT.glob("grader/**/*.py"), *ROOT.glob("engine/src/**/*.py")]
    paths += [ROOT / "solution" / f"{name}.py" for name in ("classifier", "pretrain")]
    parsed = [ast.parse(path.read_text("utf-8")) for path in paths]
    nodes = itertools.chain.from_iterable(map(ast.walk, parsed))
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    for exercise in ASSIGNMENT.exercises:
        texts += [probe.says for probe in exercise.probes]
    # tensormark.toolkit.training puts these words before its own texts
    endings = [text for text in texts if text.startswith((":", " "))]
    words = (GateTraining.what, GateTraining.model)
    return texts + list(map("".join, itertools.product(words, endings)))


def quoted_messages():
    """Return the messages that the handout explains: quoted before the colon of a list item."""
    items = re.findall(r"^- (`(?:.|\n(?!\n|- ))+)", TEXT, re.MULTILINE)
    heads = [re.match(r"(?:`[^`]+`|[^`:])+", re.sub(r"\s+", " ", item)) for item in items]
    return re.findall(r"`([^`]+)`", "".join(head[0] for head in heads if head))


def test_problems_have_the_titles_points_and_order_of_the_report():
    problems = [(name, title, int(points)) for name, title, points in PROBLEM.findall(TEXT)]

    assert problems == [(e.id, e.title, e.max_score) for e in ASSIGNMENT.exercises]
    assert with_tables(PAGES, ASSIGNMENT) == PAGES


def test_no_line_of_a_solution_is_in_the_handout_or_the_starter():
    lines = solution_lines()
    starter = "".join(path.read_text("utf-8") for path in sorted((ROOT / "starter").rglob("*.py")))
    given = squeezed(TEXT + starter)
    assert len(lines) > 15

    assert [line for line in lines if squeezed(line) in given] == []
    # nor are calls that do the same
    for call in ("scaled_dot_product_attention", "F.cross_entropy(tokens", "word_embedding.T"):
        assert call not in starter


def test_every_explained_message_is_one_that_the_grader_gives():
    texts = texts_of_the_grader()
    # what Python or torch raised is passed on unchanged, so it is not in the grader's sources
    messages = [message for message in quoted_messages() if not message.startswith("raised ")]
    pieces = set(map(str.strip, "...".join(messages).split("...")))
    assert len(messages) > 40

    assert [piece for piece in sorted(pieces) if not any(piece in text for text in texts)] == []


# --- as pages -----------------------------------------------------------------------------------


class Page(Tags):
    def handle_comment(self, data):
        pass  # the handout's tables are between comments


HTML = {page.replace(".md", ".html"): html_of(PAGES, page, ROOT) for page in PAGES}
PARSED = {page: Page(text) for page, text in HTML.items()}
ANCHORS = {page: set(parsed.values("id")) for page, parsed in PARSED.items()}


@pytest.mark.parametrize("page", HTML)
def test_a_page_has_links_that_work_and_loads_nothing(page):
    parsed = PARSED[page]
    links = [
        link for link in parsed.values("href", "src") if not link.startswith(("https:", "data:"))
    ]
    assert len(links) > 5

    targets = {page}
    for link in links:
        name, _, anchor = link.partition("#")
        target = normpath(join(dirname(page), name)) if name else page
        targets.add(target)
        assert target in HTML or ((ROOT / target).exists() and target not in PAGES), link
        assert not anchor or anchor in ANCHORS[target], link
    assert targets >= HTML.keys()
    assert all(source.startswith("data:") for source in parsed.values("src"))
    assert not {"script", "iframe", "object"} & {name for name, *_ in parsed.tags}
    assert not re.search(r"@import|url\(", HTML[page])
    assert len(HTML[page]) < 1_500_000


def test_pictures_have_alternative_text_and_equations_become_mathml():
    for (source, text), page in zip(PAGES.items(), PARSED.values(), strict=True):
        words = page.values("alt")
        # Markdown removes a backslash before punctuation, and takes `<` for the start of a tag
        prose = re.sub(r"`[^`\n]+`|^    .*$", "", text, flags=re.M)
        equations = re.findall(r"\$\$.+?\$\$|\$[^$]+?\$", prose)

        assert len(words) == len(re.findall(r"^!\[", text, re.M)), source
        assert all(words)
        assert [one for one in equations if re.search(r"\\[^a-zA-Z]|<|\n", one)] == []
        assert sum(name == "math" for name, *_ in page.tags) == len(equations), source
