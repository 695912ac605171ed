"""The handout matches the grader: problems, points, sections, messages, commands."""

import ast
import re

import pytest

from grader.assignment import ASSIGNMENT
from grader.sentiment import Gate
from tensormark.authoring.handout import with_tables
from tensormark.authoring.strip import MARKER
from tests.helpers import ROOT
from tests.helpers.handout import PAGES, TEXT

PROBLEM = re.compile(
    r"^### Problem \((\w+)\): (.+) \((\d+) points, about \d+ minutes\)$", re.MULTILINE
)
IDS = [exercise.id for exercise in ASSIGNMENT.exercises]
ALL_PARTS = ("Deliverable", "Shapes", "Run", "You are done when")
TO_THE_LEFT = re.compile(r"^(return |[\w, ]+ = )")
NEIGHBOUR = re.compile(  # what only a reader of the page, or of the whole report, can find
    r"^(the same|likewise|also|by|in|on)\b|\b(next|previous|last|rest of the) (line|item)"
    r"|\b(line|item)s? (below|above)|\b(see|as) (below|above)\b"
)
MIN_SECRET = 20  # characters; shorter lines, such as `return x`, give nothing away


def squeezed(text: str) -> str:
    """Return a text without white space, to ignore its layout."""
    return re.sub(r"\s+", "", text)


def prose(text: str) -> str:
    """Return a text on one line, since a sentence may be broken anywhere."""
    return re.sub(r"\s+", " ", text)


def block(problem: str) -> str:
    """Return the handout's block of a problem, up to the next heading of its level or above."""
    start = re.search(rf"^### Problem \({problem}\).*$", TEXT, re.MULTILINE)
    assert start is not None, f"there is no block for {problem}"
    end = re.search(r"^#{1,3} ", TEXT[start.end() :], re.MULTILINE)
    return TEXT[start.end() : start.end() + end.start() if end else len(TEXT)]


def solution_lines() -> list[str]:
    """Return the expressions in the solution's regions that would give answers away."""
    lines = []
    for path in sorted((ROOT / "solution").rglob("*.py")):
        inside = False
        for line in path.read_text("utf-8").splitlines():
            if marker := MARKER.match(line):
                inside = marker["kind"] == "BEGIN"
            elif inside:
                lines.append(TO_THE_LEFT.sub("", line.split("  #")[0].strip()))
    return [line for line in lines if len(line) > MIN_SECRET and not line.startswith("#")]


def texts_of_the_grader() -> list[str]:
    """Return all strings in the sources of messages, f-strings in pieces, and the probes' texts."""
    folders = [*ROOT.glob("grader/**/*.py"), *ROOT.glob("engine/src/**/*.py")]
    names = ("classifier", "pretrain")
    programs = [ROOT / "solution" / f"{name}.py" for name in names]
    trees = [ast.parse(p.read_text("utf-8")) for p in [*folders, *programs]]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return texts + [probe.says for exercise in ASSIGNMENT.exercises for probe in exercise.probes]


def quoted_messages() -> list[str]:
    """Return the messages that the handout explains: quoted before the colon of a list item."""
    items = re.findall(r"^- (`(?:.|\n(?!\n|- ))+)", TEXT, re.MULTILINE)
    heads = [re.match(r"(?:`[^`]+`|[^`:])+", prose(item)) for item in items]
    return [quote for head in heads if head for quote in re.findall(r"`([^`]+)`", head[0])]


def test_problems_have_the_titles_points_and_order_of_the_report() -> None:
    problems = [(name, title, int(points)) for name, title, points in PROBLEM.findall(TEXT)]

    assert problems == [(e.id, e.title, e.max_score) for e in ASSIGNMENT.exercises]
    assert with_tables(PAGES, ASSIGNMENT) == PAGES


@pytest.mark.parametrize("problem", IDS)
def test_every_problem_has_its_parts(problem: str) -> None:
    text = block(problem)

    parts = ("Deliverable", "Shapes") if ASSIGNMENT.exercise(problem).extension else ALL_PARTS
    assert [part for part in parts if f"**{part}**" not in text] == []
    assert "<details>" in text
    assert "<details><summary>If you see ...</summary>\n\n- `" in text


def test_no_line_of_a_solution_is_in_the_handout_or_the_starter() -> None:
    lines = solution_lines()
    starter = "".join(path.read_text("utf-8") for path in sorted((ROOT / "starter").rglob("*.py")))
    given = squeezed(TEXT + starter)
    assert len(lines) > 15

    assert [line for line in lines if squeezed(line) in given] == []
    # nor are calls that do the same
    for call in ("scaled_dot_product_attention", "F.cross_entropy(tokens", "word_embedding.T"):
        assert call not in starter


def test_every_explained_message_is_one_that_the_grader_gives() -> None:
    texts = texts_of_the_grader()
    messages = quoted_messages()
    # tensormark.toolkit.training puts these words before its own texts
    endings = [text for text in texts if text.startswith((":", " "))]
    texts += [word + text for word in (Gate.what, Gate.model) for text in endings]
    assert len(messages) > 40

    # what Python or torch raised is passed on unchanged, so it is not in the grader's sources
    grader_messages = [message for message in messages if not message.startswith("raised ")]
    pieces = {
        piece.strip()
        for message in grader_messages
        for piece in message.split("...")
        if piece.strip()
    }
    assert [piece for piece in sorted(pieces) if not any(piece in text for text in texts)] == []


def test_lines_that_reports_quote_make_sense_alone() -> None:
    explanations = ASSIGNMENT.handout.explanations.values()
    lines = {line for pairs in explanations for _, line in pairs}

    assert len(lines) > 80
    assert [line for line in sorted(lines) if NEIGHBOUR.search(line)] == []
