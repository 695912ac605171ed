"""A failure says on which line it begins, and no line where that cannot be told.

The golden corpus has the lines of each kind of mistake, of helpers and of exceptions.
"""

import collections
import difflib
import json

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.reports.convert import main as convert
from tests.helpers import ROOT
from tests.helpers.known import VARIANTS

NO_MASK = ("scores + attention_mask", "scores")


def test_right_code_has_no_line_and_private_inputs_show_no_shape(submit, private):
    for_staff = submit(NO_MASK, options=("--references", str(private), "--tier", "process"))
    shown = submit(NO_MASK)

    assert {each["line"] for each in shown.result["exercises"] if each["score"]} == {None}
    (place,) = (each["place"] for each in for_staff.exercise("attention")["findings"][:1])
    assert place["line"] == shown.exercise("attention")["line"]
    assert place["shapes"] == []
    assert shown.exercise("attention")["findings"][0]["place"]["shapes"]


def test_the_terminal_has_a_path_and_github_an_annotation(submit, tmp_path, capsys):
    graded = submit(NO_MASK)
    line = graded.exercise("attention")["line"]
    result = tmp_path / "graded.json"
    result.write_text(json.dumps(graded.result | {"submission": "starter"}), "utf-8")

    convert(ROOT, "convert", ["annotations", str(result)])

    assert f"{tmp_path / 'bert.py'}:{line}: " in graded.output
    commands = capsys.readouterr().out.splitlines()
    assert [c.partition("::attention%3A ")[0] for c in commands] == [
        f"::error file=starter/bert.py,line={line},title=attention"
    ]


def changed_lines(variant):
    """Return a mistake's source, and its lines that the solution does not have, or what follows."""
    before = ASSIGNMENT.solution_sources[variant.module]
    after = variant.apply(before)
    matcher = difflib.SequenceMatcher(a=before.split("\n"), b=after.split("\n"), autojunk=False)
    changed = set()
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind != "equal":
            changed |= set(range(start + 1, max(end, start + 1) + 1))
    return after, changed


@pytest.mark.nightly
def test_the_line_of_a_known_mistake_is_a_changed_one_or_soon_after(bench):
    distances = collections.Counter()
    for variant in VARIANTS:
        source, changed = changed_lines(variant)
        results = bench.grade(source, module=variant.module)
        finding = results[variant.exercise].findings[:1]
        line = finding[0].place["line"] if finding and finding[0].place else None
        if line is None:
            distances["none"] += 1
        else:
            nearest = min(max(0, line - each) for each in changed)
            distances["there" if nearest == 0 else "soon" if nearest <= 8 else "elsewhere"] += 1

    total = distances.total()
    assert distances["there"] >= 0.75 * total, distances
    assert distances["none"] <= 0.06 * total, distances
    assert distances["elsewhere"] <= 0.02 * total, distances
