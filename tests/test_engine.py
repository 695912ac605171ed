"""The grader is an engine: outside of grader/assignment/ nothing in it speaks of a subject."""

import ast
import re

from conftest import ROOT

GRADER = ROOT / "grader"
SUBJECT = re.compile(
    r"[\w-]*(?:bert|token|word.?piece|vocab|embed|attention|transformer|encoder|sentiment"
    r"|classifier|fine.?tun|pre.?train|corpus|film|movie|review)[\w-]*",
    re.IGNORECASE,
)
# this repository's assignment is what is graded where no other is given
EXCEPTIONS = {name: {"MINBERT"} for name in ("grading.py", "strictest.py", "submit.py")}


def engine() -> dict[str, str]:
    """Return the text of every module of the grader that is not of the assignment, by its path."""
    paths = [path for path in GRADER.rglob("*.py") if GRADER / "assignment" not in path.parents]
    return {str(path.relative_to(GRADER)): path.read_text(encoding="utf-8") for path in paths}


def of_assignment(text: str) -> set[str]:
    """Return the names that a module imports from grader/assignment/."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if "grader.assignment" in alias.name}
        elif isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            found |= {name for name in names if "grader.assignment" in f"{node.module}.{name}"}
    return found


def test_the_engine_has_no_word_of_a_subject_but_the_default_assignments_name() -> None:
    found = {path: set(SUBJECT.findall(text)) for path, text in engine().items()}

    assert {path: words for path, words in found.items() if words} == EXCEPTIONS


def test_the_engine_imports_nothing_of_the_assignment_but_the_default() -> None:
    found = {path: of_assignment(text) for path, text in engine().items()}

    assert {path: names for path, names in found.items() if names} == EXCEPTIONS


def test_words_are_found_in_comments_and_within_names() -> None:
    text = 'x = BertLayer(tokens)  # a fine tune\n"""Pre-training on film reviews."""\n'

    words = ["BertLayer", "tokens", "fine tune", "Pre-training", "film", "reviews"]
    assert SUBJECT.findall(text) == words
