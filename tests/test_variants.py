"""The known wrong variants: complete, and explained in the handout."""

import re
from collections import Counter

import pytest

from grader.assignment import ASSIGNMENT
from tests.helpers.handout import TEXT
from tests.helpers.known import COURSE, VARIANTS


@pytest.mark.parametrize("exercise", [e.id for e in ASSIGNMENT.exercises if e.probes])
def test_every_mistake_has_a_place_in_the_handout(exercise):
    problem = TEXT.split(f"### Problem ({exercise})")[1].split("\n### ")[0]
    terms = {variant.section for variant in VARIANTS if variant.exercise == exercise}

    assert terms <= set(re.findall(r"^\*\*([^*]+)\*\*", problem, re.MULTILINE))


def test_a_mistakes_message_is_one_line_without_code():
    code = re.compile(r"[=@\n]|self\.|torch\.|F\.|\.$")

    assert [v.id for v in VARIANTS if len(v.says) > 100 or code.search(v.says)] == []


def test_each_exercise_has_mistakes_and_each_mistake_the_file_of_its_exercise():
    counts = Counter(variant.exercise for variant in VARIANTS)

    assert counts.keys() == {e.id for e in ASSIGNMENT.exercises if e.probes}
    assert min(counts.values()) >= 8
    assert [v.id for v in VARIANTS if v.file.name != f"{v.exercise}.py"] == []
    assert COURSE.staff.common | COURSE.staff.seen.keys() <= {v.id for v in VARIANTS}
