"""The known wrong variants: complete, and in plain words."""

import re
from collections import Counter

from grader.assignment import ASSIGNMENT
from tests.helpers.known import COURSE, VARIANTS


def test_a_mistakes_message_is_one_line_without_code():
    code = re.compile(r"[=@\n]|self\.|torch\.|F\.|\.$")

    assert [v.id for v in VARIANTS if len(v.says) > 100 or code.search(v.says)] == []


def test_each_exercise_has_mistakes_and_each_mistake_the_file_of_its_exercise():
    counts = Counter(variant.exercise for variant in VARIANTS)

    assert counts.keys() == {e.id for e in ASSIGNMENT.exercises if e.probes}
    assert min(counts.values()) >= 8
    assert [v.id for v in VARIANTS if v.file.name != f"{v.exercise}.py"] == []
    assert COURSE.staff.common | COURSE.staff.seen.keys() <= {v.id for v in VARIANTS}
