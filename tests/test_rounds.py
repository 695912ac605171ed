"""Which calls with stand-ins are made, and when: those that decide, and the others if needed."""

from collections.abc import Collection
from typing import Any

import pytest

from tensormark.calling import Calling
from tensormark.exercise import Exercise

from conftest import Grade

CORE = ("--only", "attention,add_norm,layer,embed,encode")
WRONG_NORM = ("return ln_layer(", "return 1.01 * ln_layer(")


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[set[int]]]:
    """The places that gradings ask for, by exercise."""
    places_asked: dict[str, list[set[int]]] = {}
    ask = Calling.ask

    def record_and_ask(self: Any, exercise: Exercise, places: Collection[int]) -> Any:
        places_asked.setdefault(exercise.id, []).append(set(places))
        return ask(self, exercise, places)

    monkeypatch.setattr(Calling, "ask", record_and_ask)
    return places_asked


def test_only_the_calls_that_decide_are_made(submit: Grade, places) -> None:
    submit(WRONG_NORM, options=CORE)

    assert places["add_norm"] == places["embed"] == [{0}]
    assert places["layer"] == [{0}, {2}]
    assert places["encode"] == [{0}, {2}]


def test_a_wrong_exercise_below_a_wrong_one_gets_all_its_calls(submit: Grade, places) -> None:
    submit(WRONG_NORM, ("hidden_states = layer(", "hidden_states = 2 * layer("), options=CORE)

    assert places["encode"] == [{0}, {2}, {1, 3}]
