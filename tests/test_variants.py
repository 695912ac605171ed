"""The known wrong variants: complete, well worded, and explained in the handout."""

import ast
import re

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.authoring.variants import Variant
from tests.helpers import ROOT
from tests.helpers.handout import TEXT
from tests.helpers.known import COURSE, VARIANTS

SOLUTION = ROOT / "solution"
IDS = {variant.id for variant in VARIANTS}


def sections(exercise: str) -> set[str]:
    """Return the bold terms of a problem in the handout."""
    problem = TEXT.split(f"### Problem ({exercise})")[1].split("\n### ")[0]
    return set(re.findall(r"^\*\*([^*]+)\*\*", problem, re.MULTILINE))


def source_of(variant: Variant) -> str:
    return (SOLUTION / f"{variant.module}.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("exercise", [e.id for e in ASSIGNMENT.exercises if e.probes])
def test_every_mistake_has_a_place_in_the_handout(exercise: str) -> None:
    terms = {variant.section for variant in VARIANTS if variant.exercise == exercise}

    assert terms <= sections(exercise)


def test_what_the_handout_says_about_a_message_is_in_the_report() -> None:
    handout = ASSIGNMENT.handout
    quoted = [line for v in VARIANTS for line in handout.explanation(v.exercise, [v.says])]

    assert len(quoted) > 40
    # reports end with the section to read anyway
    assert [line for line in quoted if re.match(r"read \w+ \w+$", line)] == []


def tree_of(source: str, name: str) -> str:
    """Return the syntax tree of a source, which does not depend on spaces and comments."""
    return ast.dump(ast.parse(source, name))


def test_no_two_mistakes_are_the_same_and_none_is_the_solution() -> None:
    names = {
        tree_of(path.read_text("utf-8"), path.name): path.name for path in SOLUTION.glob("*.py")
    }
    duplicates = []
    for variant in VARIANTS:
        tree = tree_of(variant.apply(source_of(variant)), variant.id)
        duplicates += [(variant.id, names[tree])] if tree in names else []
        names[tree] = variant.id

    assert duplicates == []


def test_a_mistakes_message_is_one_line_without_code() -> None:
    code = re.compile(r"[=@\[\]\n]|self\.|torch\.|F\.|\.$")

    assert [v.id for v in VARIANTS if len(v.says) > 90 or code.search(v.says)] == []


def test_mistakes_belong_to_existing_exercises() -> None:
    assert {variant.exercise for variant in VARIANTS} == {
        e.id for e in ASSIGNMENT.exercises if e.probes
    }
    assert COURSE.staff.common | COURSE.staff.seen.keys() <= IDS


def test_a_mistake_is_in_the_file_of_its_exercise() -> None:
    assert [v.id for v in VARIANTS if v.file.name != f"{v.exercise}.py"] == []


@pytest.mark.parametrize("exercise", [e.id for e in ASSIGNMENT.exercises if e.extension])
def test_every_extension_has_enough_mistakes(exercise: str) -> None:
    assert len([variant for variant in VARIANTS if variant.exercise == exercise]) >= 8
