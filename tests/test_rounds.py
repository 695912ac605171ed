"""Which calls with stand-ins are made, and when: those that decide, and the others if needed."""

import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.exercise import Exercise
from tensormark.grading import Grading
from tensormark.session import GradingSession
from tensormark.settings import Settings

from conftest import ROOT

CORE = ("attention", "add_norm", "layer", "embed", "encode")


def grade_and_record(
    monkeypatch: pytest.MonkeyPatch, *edits: tuple[str, str]
) -> dict[str, list[set[int]]]:
    """Grade the solution with edits; return the places that were asked for, by exercise."""
    places_asked: dict[str, list[set[int]]] = {}
    ask = GradingSession.ask

    def record_and_ask(self: Any, exercise: Exercise, places: Collection[int]) -> Any:
        places_asked.setdefault(exercise.id, []).append(set(places))
        return ask(self, exercise, places)

    monkeypatch.setattr(GradingSession, "ask", record_and_ask)
    source = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bert.py"
        path.write_text(source, encoding="utf-8")
        Grading(Settings.of(ROOT), ASSIGNMENT).grade(str(path), check=True, only=",".join(CORE))
    return places_asked


def test_only_the_calls_that_decide_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    places = grade_and_record(monkeypatch, ("return ln_layer(", "return 1.01 * ln_layer("))

    assert places["add_norm"] == places["embed"] == [{0}]
    assert places["layer"] == [{0}, {2}]
    assert places["encode"] == [{0}, {2}]


def test_a_wrong_exercise_below_a_wrong_one_gets_all_its_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong_norm = ("return ln_layer(", "return 1.01 * ln_layer(")
    places = grade_and_record(
        monkeypatch, wrong_norm, ("hidden_states = layer(", "hidden_states = 2 * layer(")
    )

    assert places["encode"] == [{0}, {2}, {1, 3}]
