"""Tests of the trial of one exercise: what its stand-ins decide, and what is observed of calls."""

from dataclasses import replace

import pytest

from tensormark.exercise import Call
from tensormark.judging.fingerprints import observe
from tensormark.result import Outcome
from tensormark.sandbox.interface import Reply
from trials import (
    CORRECT,
    NOT_WRITTEN,
    OUTPUT,
    OWN_CALL,
    VALUES,
    WRONG,
    failed_in_properties,
    finding,
    make_exercise,
    reply,
    trial,
)

# --- follow-through -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("replies", "failed", "outcome", "note"),
    [
        ([CORRECT], [], Outcome.PASSED, ""),
        ([WRONG], [], Outcome.FAILED, ""),
        ([WRONG, CORRECT], ["norm"], Outcome.PASSED, "right when given a correct norm"),
        ([CORRECT, WRONG], ["norm"], Outcome.PASSED, ""),
        ([WRONG, CORRECT], [], Outcome.FAILED, ""),
        ([WRONG, CORRECT], ["embed"], Outcome.FAILED, ""),
        ([WRONG, WRONG], ["norm"], Outcome.FAILED, ""),
        ([reply(None, "not written", "norm"), CORRECT], ["norm"], Outcome.PASSED,
         "right when given a correct norm"),
        ([NOT_WRITTEN], [], Outcome.NOT_WRITTEN, ""),
        ([NOT_WRITTEN, CORRECT], [], Outcome.NOT_WRITTEN, ""),
        ([reply(None, "not written", "", function="Layer.forward")], [], Outcome.NOT_WRITTEN, ""),
        ([reply(None, "not written", "norm")], ["norm"], Outcome.BLOCKED, "by norm"),
        ([reply(None, "not written", "norm"), reply(None, "not written", "embed")], [],
         Outcome.BLOCKED, "by embed, norm"),
        ([reply(None, "not written", "norm"), CORRECT], [], Outcome.FAILED, ""),
    ],
)  # fmt: skip
def test_stand_ins_decide_if_what_they_replace_has_failed(
    replies: list[Reply], failed: list[str], outcome: Outcome, note: str
) -> None:
    result = trial(*replies, failed=failed).result()

    assert (result.outcome, result.note) == (outcome, note)


@pytest.mark.parametrize(
    ("replies", "failed", "needed"),
    [
        ([CORRECT], [], False),
        ([WRONG], [], True),
        ([WRONG, CORRECT], ["norm"], False),
        ([NOT_WRITTEN], [], False),
    ],
)
def test_more_stand_ins_are_needed_until_a_reply_is_right(
    replies: list[Reply], failed: list[str], needed: bool
) -> None:
    assert trial(*replies, failed=failed).undecided is needed


OPTIONAL = replace(OWN_CALL, optional=("types",))
LACKS_OPTIONAL = reply(None, lacks=True)


@pytest.mark.parametrize(
    ("call", "lacks", "outcome"),
    [
        (OPTIONAL, True, Outcome.PASSED),
        (OPTIONAL, False, Outcome.FAILED),
        (OWN_CALL, True, Outcome.FAILED),
    ],
)
def test_a_function_may_lack_only_what_is_optional(
    call: Call, lacks: bool, outcome: Outcome
) -> None:
    layer = make_exercise("layer", replace(VALUES, calls=(call,)))

    assert trial(reply(None, lacks=lacks), exercise=layer).result().outcome is outcome


def test_a_mistake_is_recognized_without_calls_that_were_not_made() -> None:
    layer = make_exercise("layer", replace(VALUES, name="types", calls=(OPTIONAL,)), VALUES)

    assert finding(trial(LACKS_OPTIONAL, reply(2 * OUTPUT), exercise=layer)).mistake == "doubled"


# --- what is observed ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failed", "given"),
    [([], [("norm",), ()]), (["norm"], [("norm",)]), (["embed"], [("norm",), ()])],
)
def test_calls_that_run_a_failed_exercise_are_not_observed(
    failed: list[str], given: list[tuple[str, ...]]
) -> None:
    layer_trial = trial(WRONG, reply(2 * OUTPUT), failed=failed)

    levels = list(layer_trial.levels())

    own_observation, stand_in_observation = (
        observe(answered_call, layer_trial.tolerance) for answered_call in layer_trial.answered
    )
    expected = [
        stand_in_observation if given_exercises else own_observation for given_exercises in given
    ]
    assert [level[0].got.tolist() for level in levels] == [
        observation.got.tolist() for observation in expected
    ]


def test_a_probe_with_fewer_calls_is_observed_in_its_last_one() -> None:
    short_probe = replace(VALUES, name="short", calls=(OWN_CALL,))
    layer_trial = trial(
        WRONG, exercise=make_exercise("layer", VALUES, short_probe, upstream=("norm",))
    )

    assert [len(level) for level in layer_trial.levels()] == [2, 2]
    assert list(replace(layer_trial, results={"norm": failed_in_properties("norm")}).levels()) == []
