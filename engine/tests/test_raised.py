"""Which of several mismatches is shown, and what is read from a reply."""

from dataclasses import replace
from typing import Any

import pytest

from tensormark.judging.compare import Mismatch
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.judging.replies import MAX_TEXTS, hole, texts
from tensormark.judging.trial import most_telling
from tensormark.references import Recording
from tensormark.sandbox.interface import Reply
from testkit.trials import OWN_CALL, VALUES

DIFFERS = Mismatch("values", "output", ("some values differ",))
OWN = AnsweredCall(VALUES, OWN_CALL, Recording({}, {}, {}, None), Reply("ok"))
IN_WORDS = "Layer.add_norm() gets a LayerNorm as dropout, not a Dropout"


def raised(text: str, status: str = "error", **message: Any) -> tuple[AnsweredCall, Mismatch]:
    answered = replace(OWN, reply=Reply(status, text, message))
    return answered, Mismatch("raised", OWN_CALL.target, (text,))


WRONG = ["Attention.attention"]
IN_UPSTREAM = raised("raised TypeError: no", through=WRONG)
OTHER_VALUES = (replace(OWN), replace(DIFFERS, lines=("others differ",)))


@pytest.mark.parametrize(
    ("own", "other", "wrong", "shown"),
    [
        # where references are private, what a submission puts into words is left out of its replies
        ((OWN, DIFFERS), raised("raised TypeError: no (main.py, line 3)"), [], 0),
        ((OWN, DIFFERS), raised("took too long", "lost"), [], 0),
        ((OWN, DIFFERS), raised(IN_WORDS), [], 1),  # how a function is called wrongly
        ((OWN, DIFFERS), OTHER_VALUES, [], 0),
        ((OWN, DIFFERS), OTHER_VALUES, WRONG, 1),
        # an exception in a wrong function upstream is not shown, one of its own is
        (IN_UPSTREAM, raised(IN_WORDS), WRONG, 1),
        (IN_UPSTREAM, raised("raised ValueError: mine (main.py, line 3)"), WRONG, 1),
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


@pytest.mark.parametrize(
    ("status", "text", "function", "name"),
    [
        ("not written", "layer", "", "layer"),
        ("not written", "", "norm", "scaled"),
        ("not written", "", ["norm"], None),
        ("not written", "of torch's own", "norm", None),
        ("error", "layer", "", None),
    ],
)
def test_a_hole_has_the_id_of_an_exercise_or_is_a_bare_one_in_its_function(
    status: str, text: str, function: object, name: str | None
) -> None:
    targets = {"Layer.forward": "layer", "norm": "scaled"}

    assert hole(Reply(status, text, {"function": function}), targets) == name


def test_only_the_first_texts_of_a_list_are_read() -> None:
    reply = Reply("error", "", {"through": ["a", 1, "b", *"c" * MAX_TEXTS], "imported": "a"})

    assert texts(reply, "through") == ["a", "b", *"c" * (MAX_TEXTS - 3)]
    assert texts(reply, "imported") == texts(reply, "missing") == []
