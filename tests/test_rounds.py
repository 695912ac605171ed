"""Which calls with stand-ins are made, and when: those that decide, and the rest only if needed."""

import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.exercise import Exercise
from tensormark.grading import Grading
from tensormark.judging.checks import rounds
from tensormark.session import GradingSession
from tensormark.settings import Settings

from conftest import ROOT

ENCODE = ASSIGNMENT.exercise("encode")
CORE = ("attention", "add_norm", "layer", "embed", "encode")


@pytest.mark.parametrize(
    ("failed", "first", "others"),
    [
        ({"attention"}, {1}, {2, 3}),
        ({"add_norm"}, {2}, {1, 3}),
        ({"attention", "add_norm"}, {1, 2}, {3}),
        ({"layer"}, {3}, {1, 2}),
        ({"embed"}, {1}, {2, 3}),
    ],
)
def test_calls_that_stand_in_for_what_has_failed_come_first(
    failed: set[str], first: set[int], others: set[int]
) -> None:
    assert [set(one) for one in rounds(ENCODE, frozenset(failed))] == [first, others]


def test_where_only_all_stand_ins_together_are_enough_there_is_one_round() -> None:
    assert [set(one) for one in rounds(ENCODE, frozenset({"attention", "layer"}))] == [{1, 2, 3}]


def test_without_a_failed_exercise_all_are_made_at_once() -> None:
    assert [set(one) for one in rounds(ENCODE, frozenset())] == [{1, 2, 3}]


def test_an_exercise_without_stand_ins_has_no_rounds() -> None:
    assert list(rounds(ASSIGNMENT.exercise("attention"), frozenset({"embed"}))) == []


def asked(monkeypatch: pytest.MonkeyPatch, *edits: tuple[str, str]) -> dict[str, list[set[int]]]:
    """Grade the solution with edits; return the places that were asked for, by exercise."""
    found: dict[str, list[set[int]]] = {}
    ask = GradingSession.ask

    def noted(self: Any, exercise: Exercise, places: Collection[int]) -> Any:
        found.setdefault(exercise.id, []).append(set(places))
        return ask(self, exercise, places)

    monkeypatch.setattr(GradingSession, "ask", noted)
    source = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bert.py"
        path.write_text(source, encoding="utf-8")
        Grading(Settings.of(ROOT), ASSIGNMENT).grade(str(path), check=True, only=",".join(CORE))
    return found


def test_no_more_calls_are_made_than_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    found = asked(monkeypatch, ("return ln_layer(", "return 1.01 * ln_layer("))

    assert found["add_norm"] == found["embed"] == [{0}]
    assert found["layer"] == [{0}, {2}]
    assert found["encode"] == [{0}, {2}]


def test_a_wrong_exercise_below_a_wrong_one_is_asked_for_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong_norm = ("return ln_layer(", "return 1.01 * ln_layer(")
    found = asked(monkeypatch, wrong_norm, ("hidden_states = layer(", "hidden_states = 2 * layer("))

    assert found["encode"] == [{0}, {2}, {1, 3}]
