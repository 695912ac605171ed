"""Which calls with stand-ins are made, and when: those that decide, and the rest only if needed."""

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
