"""The known wrong variants: complete, all different, and explained in the handout."""

import ast
import re
from collections import Counter

import pytest

from grader.assignment import ASSIGNMENT
from tests.helpers import ROOT
from tests.helpers.handout import TEXT
from tests.helpers.known import COURSE, VARIANTS

SOLUTION = ROOT / "solution"


@pytest.mark.parametrize("exercise", [e.id for e in ASSIGNMENT.exercises if e.probes])
def test_every_mistake_has_a_place_in_the_handout(exercise):
    problem = TEXT.split(f"### Problem ({exercise})")[1].split("\n### ")[0]
    terms = {variant.section for variant in VARIANTS if variant.exercise == exercise}

    assert terms <= set(re.findall(r"^\*\*([^*]+)\*\*", problem, re.MULTILINE))


def tree_of(source):
    """Return the syntax tree of a source, which does not depend on spaces and comments."""
    return ast.dump(ast.parse(source))


def test_no_two_mistakes_are_the_same_and_none_is_the_solution():
    sources = {path.stem: path.read_text("utf-8") for path in SOLUTION.glob("*.py")}
    names = {tree_of(source): module for module, source in sources.items()}
    duplicates = []
    for variant in VARIANTS:
        tree = tree_of(variant.apply(sources[variant.module]))
        duplicates += [(variant.id, names[tree])] if tree in names else []
        names[tree] = variant.id

    assert duplicates == []


def test_a_mistakes_message_is_one_line_without_code():
    code = re.compile(r"[=@\n]|self\.|torch\.|F\.|\.$")

    assert [v.id for v in VARIANTS if len(v.says) > 100 or code.search(v.says)] == []


def test_each_exercise_has_mistakes_and_each_mistake_the_file_of_its_exercise():
    counts = Counter(variant.exercise for variant in VARIANTS)

    assert counts.keys() == {e.id for e in ASSIGNMENT.exercises if e.probes}
    assert min(counts.values()) >= 8
    assert [v.id for v in VARIANTS if v.file.name != f"{v.exercise}.py"] == []
    assert COURSE.staff.common | COURSE.staff.seen.keys() <= {v.id for v in VARIANTS}
