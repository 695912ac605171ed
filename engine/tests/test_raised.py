"""Which of several faults is shown, without running anything."""

from dataclasses import replace
from typing import Any

import pytest

from tensormark.exercise import Call, Probe
from tensormark.judging.compare import Mismatch
from tensormark.judging.fingerprints import Answered
from tensormark.judging.raised import most_telling
from tensormark.references import Recording
from tensormark.sandbox.interface import Reply

PROBE = Probe("output", "values", "it is wrong", (Call("Layer.forward", ("x",), "main"),))
VALUES = Mismatch("values", "output", ("some values differ",))
OWN = Answered(PROBE, PROBE.calls[0], Recording({}, {}, {}, None), Reply("ok"))
IN_WORDS = "Layer.add_norm() gets a LayerNorm as dropout, not a Dropout"


def raised(text: str, **message: Any) -> tuple[Answered, Mismatch]:
    """Return an answer that is an exception, and what it says."""
    answered = replace(OWN, reply=Reply("error", text, message))
    return answered, Mismatch("raised", PROBE.calls[0].target, (text,))


# where references are private, what a submission puts into words is left out of its replies
@pytest.mark.parametrize("message", [{"through": ["Layer.forward"]}, {}])
def test_an_exception_that_only_a_stand_in_causes_is_not_shown(message: dict[str, Any]) -> None:
    given = raised("raised TypeError: no (main.py, line 3)", **message)

    assert most_telling([(OWN, VALUES), given], OWN, [])[1] is VALUES


def test_how_a_function_is_called_wrongly_is_shown() -> None:
    given = raised(IN_WORDS)

    assert most_telling([(OWN, VALUES), given], OWN, [])[1] is given[1]


def test_a_students_own_exception_comes_first_and_the_wrong_call_below_it() -> None:
    own = raised("raised TypeError: no", through=["Attention.attention"])

    answered, fault, more = most_telling([own, raised(IN_WORDS)], own[0], [])

    assert (answered, fault, more) == (*own, [IN_WORDS])


def test_an_exception_in_a_wrong_function_upstream_is_not_shown() -> None:
    own = raised("raised TypeError: no", through=["Attention.attention"])

    shown = most_telling([own, raised(IN_WORDS)], own[0], ["Attention.attention"])

    assert shown[1].lines == (IN_WORDS,)
