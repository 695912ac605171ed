"""What a reply says was raised, and which of several mismatches is shown."""

from dataclasses import replace
from typing import Any

import pytest

from tensormark.exercise import Call, Probe
from tensormark.judging.compare import Mismatch
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.judging.replies import MAX_TEXTS, hole, mismatch_of, texts
from tensormark.judging.trial import most_telling
from tensormark.references import Recording
from tensormark.sandbox.interface import Reply
from testkit.trials import LAYER, NORM_CALL, assignment, make_exercise
from testkit.trials import VALUES as VALUES_PROBE

PROBE = Probe("output", "values", "it is wrong", (Call("Layer.forward", ("x",), "main"),))
VALUES = Mismatch("values", "output", ("some values differ",))
OWN = AnsweredCall(PROBE, PROBE.calls[0], Recording({}, {}, {}, None), Reply("ok"))
IN_WORDS = "Layer.add_norm() gets a LayerNorm as dropout, not a Dropout"


def raised(text: str, **message: Any) -> tuple[AnsweredCall, Mismatch]:
    answered = replace(OWN, reply=Reply("error", text, message))
    return answered, Mismatch("raised", PROBE.calls[0].target, (text,))


IN_UPSTREAM = {"through": ["Attention.attention"]}
OWN_RAISED = raised("raised TypeError: no", **IN_UPSTREAM)
WRONG = ["Attention.attention"]
LOST = replace(OWN, reply=Reply("lost", "Layer.forward took too long"))


@pytest.mark.parametrize(
    ("own", "other", "wrong", "shown"),
    [
        # where references are private, what a submission puts into words is left out of its replies
        ((OWN, VALUES), raised("raised TypeError: no (main.py, line 3)"), [], 0),
        (
            (OWN, VALUES),
            raised("raised TypeError: no (main.py, line 3)", through=["Layer.forward"]),
            [],
            0,
        ),
        ((OWN, VALUES), (LOST, Mismatch("raised", "Layer.forward", ("took too long",))), [], 0),
        ((OWN, VALUES), raised(IN_WORDS), [], 1),  # how a function is called wrongly
        ((OWN, VALUES), (replace(OWN), replace(VALUES, lines=("others differ",))), [], 0),
        ((OWN, VALUES), (replace(OWN), replace(VALUES, lines=("others differ",))), WRONG, 1),
        # an exception in a wrong function upstream is not shown, one of its own is
        (OWN_RAISED, raised(IN_WORDS), WRONG, 1),
        (OWN_RAISED, raised("raised ValueError: mine (main.py, line 3)"), WRONG, 1),
    ],
)
def test_the_most_telling_of_two_mismatches_is_shown(
    own: tuple[AnsweredCall, Mismatch],
    other: tuple[AnsweredCall, Mismatch],
    wrong: list[str],
    shown: int,
) -> None:
    judged = [own, other]

    assert most_telling(judged, own[0], wrong)[1] is judged[shown][1]


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
