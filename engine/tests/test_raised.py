"""What a reply says was raised, and which of several mismatches is shown."""

from dataclasses import replace
from typing import Any

import pytest

from tensormark.exercise import SIZES_PROBE, Call, Probe
from tensormark.judging.compare import Mismatch
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.judging.replies import MAX_TEXTS, hole, mismatch_of, texts
from tensormark.judging.trial import most_telling
from tensormark.references import Recording
from tensormark.sandbox.interface import Reply
from trials import LAYER, NORM_CALL, assignment, make_exercise
from trials import VALUES as VALUES_PROBE

PROBE = Probe("output", "values", "it is wrong", (Call("Layer.forward", ("x",), "main"),))
VALUES = Mismatch("values", "output", ("some values differ",))
OWN = AnsweredCall(PROBE, PROBE.calls[0], Recording({}, {}, {}, None), Reply("ok"))
IN_WORDS = "Layer.add_norm() gets a LayerNorm as dropout, not a Dropout"


def raised(text: str, **message: Any) -> tuple[AnsweredCall, Mismatch]:
    answered = replace(OWN, reply=Reply("error", text, message))
    return answered, Mismatch("raised", PROBE.calls[0].target, (text,))


# where references are private, what a submission puts into words is left out of its replies
@pytest.mark.parametrize("message", [{"through": ["Layer.forward"]}, {}])
def test_an_exception_that_only_a_stand_in_causes_is_not_shown(message: dict[str, Any]) -> None:
    stand_in_call = raised("raised TypeError: no (main.py, line 3)", **message)

    assert most_telling([(OWN, VALUES), stand_in_call], OWN, [])[1] is VALUES


@pytest.mark.parametrize(("wrong", "shown"), [([], 0), (["Attention.attention"], 1)])
def test_wrong_values_are_those_that_count(wrong: list[str], shown: int) -> None:
    judged = [(OWN, VALUES), (replace(OWN), replace(VALUES, lines=("others differ",)))]

    assert most_telling(judged, OWN, wrong)[1] is judged[shown][1]


@pytest.mark.parametrize(
    ("name", "dtype", "start"),
    [
        (SIZES_PROBE, "float32", ["this call has other sizes: look for a hard-coded size, and"]),
        (SIZES_PROBE, "float64", ["this call has other sizes, and is in float64: look for a hard"]),
        ("output", "float64", ["this call is in float64"]),
        ("output", "float32", []),
    ],
)
def test_an_exception_comes_with_what_is_unusual_in_its_call(
    name: str, dtype: str, start: list[str]
) -> None:
    answered, _ = raised("raised RuntimeError: no")
    call = replace(PROBE.calls[0], dtype=dtype)
    unusual = replace(answered, probe=replace(PROBE, name=name), call=call)

    lines = mismatch_of(unusual, ASSIGNMENT).lines[1:]

    assert [line[: len(text)] for line, text in zip(lines, start, strict=True)] == start


def test_how_a_function_is_called_wrongly_is_shown() -> None:
    stand_in_call = raised(IN_WORDS)

    assert most_telling([(OWN, VALUES), stand_in_call], OWN, [])[1] is stand_in_call[1]


def test_an_exception_in_a_wrong_function_upstream_is_not_shown() -> None:
    own_call = raised("raised TypeError: no", through=["Attention.attention"])

    chosen = most_telling([own_call, raised(IN_WORDS)], own_call[0], ["Attention.attention"])

    assert chosen[1].lines == (IN_WORDS,)


def test_below_a_wrong_function_that_raises_an_exception_of_its_own_is_shown() -> None:
    own_call = raised("raised TypeError: no", through=["Attention.attention"])
    stand_in_call = raised("raised ValueError: mine (main.py, line 3)")

    chosen = most_telling([own_call, stand_in_call], own_call[0], ["Attention.attention"])

    assert chosen[1] is stand_in_call[1]


def test_a_lost_answer_to_a_call_with_a_stand_in_is_not_shown() -> None:
    lost = replace(OWN, reply=Reply("lost", "Layer.forward took too long"))
    stand_in_call = lost, Mismatch("raised", "Layer.forward", ("Layer.forward took too long",))

    assert most_telling([(OWN, VALUES), stand_in_call], OWN, [])[1] is VALUES


ASSIGNMENT = assignment(LAYER, make_exercise("scaled", replace(VALUES_PROBE, calls=(NORM_CALL,))))


@pytest.mark.parametrize(
    ("status", "text", "message", "name"),
    [
        ("not written", "layer", {}, "layer"),
        ("not written", "", {"function": "norm"}, "scaled"),
        ("not written", "", {"function": ["norm"]}, None),
        ("not written", "of torch's own", {"function": "norm"}, None),
        ("error", "layer", {}, None),
    ],
)
def test_a_hole_has_the_id_of_an_exercise_or_is_a_bare_one_in_its_function(
    status: str, text: str, message: dict[str, Any], name: str | None
) -> None:
    assert hole(Reply(status, text, message), ASSIGNMENT.targets) == name


@pytest.mark.parametrize(
    ("reply", "kind", "lines"),
    [
        (Reply("not written", "scaled"), "blocked", ("Problem (scaled) is not written yet",)),
        (
            Reply("not written", "", {"where": " (main.py, line 3)"}),
            "raised",
            ("raised NotImplementedError (main.py, line 3)",),
        ),
        (
            Reply("not written", "later", {"where": 3}),
            "raised",
            ("raised NotImplementedError: later",),
        ),
        (Reply("error"), "raised", ("failed without a message",)),
    ],
)
def test_an_answer_that_is_not_ok_says_why(reply: Reply, kind: str, lines: tuple[str, ...]) -> None:
    mismatch = mismatch_of(replace(OWN, reply=reply), ASSIGNMENT)

    assert (mismatch.kind, mismatch.lines) == (kind, lines)


def test_only_the_first_texts_of_a_list_are_read() -> None:
    reply = Reply("error", "", {"through": ["a", 1, "b", *"c" * MAX_TEXTS], "imported": "a"})

    assert texts(reply, "through") == ["a", "b", *"c" * (MAX_TEXTS - 3)]
    assert texts(reply, "imported") == texts(reply, "missing") == []
