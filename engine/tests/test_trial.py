"""The trial of one exercise: what its stand-ins decide, and what students are told of it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tensormark.exercise import Call
from tensormark.judging.diagnose import Diagnosis
from tensormark.policy import Policy
from tensormark.result import Outcome
from tensormark.sandbox.interface import Reply
from testkit.trials import (
    CALL_GIVEN_BOTH,
    CALL_GIVEN_NORM,
    CORRECT,
    LAYER,
    OUTPUT,
    OWN_CALL,
    RAISED,
    VALUES,
    WRONG,
    finding,
    make_exercise,
    reply,
    trial,
)

# --- follow-through -----------------------------------------------------------------------------

NOT_WRITTEN = reply(None, "not written", "layer")
NORM_IS_NOT = reply(None, "not written", "norm")
EMBED_IS_NOT = reply(None, "not written", "embed")
BARE = reply(None, "not written", "", function="Layer.forward")
HELPED = "right when given a correct norm"


@pytest.mark.parametrize(
    ("replies", "failed", "outcome", "note"),
    [
        ([CORRECT], [], Outcome.PASSED, ""),
        ([WRONG], [], Outcome.FAILED, ""),
        ([WRONG, CORRECT], ["norm"], Outcome.PASSED, HELPED),
        ([CORRECT, WRONG], ["norm"], Outcome.PASSED, ""),
        ([WRONG, CORRECT], [], Outcome.FAILED, ""),
        ([WRONG, CORRECT], ["embed"], Outcome.FAILED, ""),
        ([WRONG, WRONG], ["norm"], Outcome.FAILED, ""),
        ([NORM_IS_NOT, CORRECT], ["norm"], Outcome.PASSED, HELPED),
        ([NOT_WRITTEN, CORRECT], [], Outcome.NOT_WRITTEN, ""),
        ([BARE], [], Outcome.NOT_WRITTEN, ""),
        ([NORM_IS_NOT], ["norm"], Outcome.BLOCKED, "by norm"),
        ([NORM_IS_NOT, EMBED_IS_NOT], [], Outcome.BLOCKED, "by embed, norm"),
        ([NORM_IS_NOT, CORRECT], [], Outcome.FAILED, ""),
        ([WRONG, NORM_IS_NOT], ["norm"], Outcome.FAILED, ""),
    ],
)
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


@pytest.mark.parametrize(
    ("policy", "forbidden"),
    [
        (Policy(forbidden=("torch.nn.Linear",)), ()),
        (Policy(given_only=("torch.nn.Linear",)), ()),
        (Policy(), ("torch.nn.Linear",)),
    ],
    ids=["forbidden", "given only", "by the exercise"],
)
def test_forbidden_code_costs_all_points(policy: Policy, forbidden: tuple[str, ...]) -> None:
    answer = reply(None, "error", "stopped", forbidden="nn.Linear")

    layer = replace(LAYER, forbidden=forbidden)
    result = trial(answer, exercise=layer, fields={"policy": policy}).result()

    assert (result.score, result.lost) == (0, {"values"})
    assert [problem.mistake for problem in result.findings] == ["forbidden"]


def test_a_worker_cannot_make_up_what_is_forbidden() -> None:
    answer = reply(None, "error", "raised ValueError", forbidden="nn.Linear")

    assert finding(trial(answer)).headline == "raised ValueError"


# --- what is observed ---------------------------------------------------------------------------

SHIFTED = reply(OUTPUT + 5)
DOUBLED = reply(2 * OUTPUT)


@pytest.mark.parametrize(
    ("replies", "failed", "mistake"),
    [
        ([SHIFTED, DOUBLED], [], "shifted"),
        ([WRONG, DOUBLED], [], None),
        ([DOUBLED, DOUBLED], [], "doubled"),
        ([SHIFTED, DOUBLED], ["norm"], "doubled"),
        ([SHIFTED, DOUBLED], ["embed"], "shifted"),
    ],
)
def test_a_mistake_explains_a_students_own_calls_unless_they_run_a_failed_exercise(
    replies: list[Reply], failed: list[str], mistake: str | None
) -> None:
    assert finding(trial(*replies, failed=failed)).mistake == mistake


def test_a_mistake_is_recognized_without_calls_that_were_not_made() -> None:
    layer = make_exercise("layer", replace(VALUES, name="types", calls=(OPTIONAL,)), VALUES)

    assert finding(trial(reply(None, lacks=True), DOUBLED, exercise=layer)).mistake == "doubled"


# --- what is said -------------------------------------------------------------------------------


@pytest.mark.parametrize("public", [True, False])
def test_values_of_a_reference_are_shown_only_if_they_are_public(public: bool) -> None:
    problem = finding(trial(WRONG, public=public))

    shown = [line for line in problem.details if line.startswith("expected 1.0000, got 2.0000")]
    assert (bool(shown), problem.excerpt is not None) == (public, public)


@pytest.mark.parametrize(
    ("output", "part", "is_located"),
    [
        (OUTPUT[:1], "values", True),
        (OUTPUT + 1, "values", True),
        (OUTPUT + 1, "properties", False),
        (np.full((2, 3), np.nan), "values", False),
        (2 * OUTPUT, "values", False),
    ],
    ids=["shape", "values", "properties", "nan", "named"],
)
def test_wrong_shapes_and_values_without_a_name_have_a_place(
    output: np.ndarray, part: str, is_located: bool
) -> None:
    layer = make_exercise("layer", replace(VALUES, part=part))
    fields = {"locate": lambda *_: "somewhere"}

    problem = finding(trial(reply(output), exercise=layer, fields=fields))

    assert ("somewhere" in problem.details) is is_located


ALL_CALLS = (OWN_CALL, CALL_GIVEN_NORM, replace(OWN_CALL, given=("embed",)), CALL_GIVEN_BOTH)


@pytest.mark.parametrize(
    ("replies", "calls", "names"),
    [
        ([WRONG, CORRECT], VALUES.calls, "layer and norm"),
        ([WRONG, WRONG, WRONG, CORRECT], ALL_CALLS, "layer, norm and embed"),
        ([WRONG], VALUES.calls, ""),
    ],
)
def test_a_message_names_all_that_had_to_be_replaced(
    replies: list[Reply], calls: tuple[Call, ...], names: str
) -> None:
    layer = make_exercise("layer", replace(VALUES, calls=calls))

    details = finding(trial(*replies, exercise=layer)).details

    together = [line for line in details if line.endswith("pass alone, but not together")]
    assert [line.partition(" pass")[0] for line in together] == ([names] if names else [])


def test_a_students_exception_is_followed_by_how_a_stand_in_was_miscalled() -> None:
    problem = finding(trial(RAISED, reply(None, "error", "norm() gets no weights")))

    assert (problem.headline, problem.details[0]) == (RAISED.text, "norm() gets no weights")


@pytest.mark.parametrize(
    ("part", "diagnosis", "mistake"),
    [
        ("training", Diagnosis((), "doubled"), "doubled"),
        ("training", Diagnosis(("shifted+doubled",), "doubled"), "shifted+doubled"),
        ("training", Diagnosis(), None),
        ("values", Diagnosis((), "doubled"), None),
    ],
)
def test_a_mistake_in_training_is_named_by_the_probes_of_that_part(
    part: str, diagnosis: Diagnosis, mistake: str | None
) -> None:
    layer_trial = trial(WRONG, exercise=make_exercise("layer", replace(VALUES, part=part)))
    layer_trial.diagnosis = diagnosis

    assert finding(layer_trial).mistake == mistake


@pytest.mark.parametrize("part", ["evidence.observe", "findings._place", "findings._excerpt"])
def test_a_description_that_breaks_is_left_out_and_noted(
    monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(f"tensormark.judging.{part}", broken)
    layer_trial = trial(WRONG, public=True)

    assert finding(layer_trial).headline == "the output is wrong"
    assert layer_trial.troubles[0].startswith("ZeroDivisionError")


RANDOM: dict[str, Any] = {"drew": True, "causes": ["dropout"]}


@pytest.mark.parametrize(
    ("answer", "call", "failed", "mistake"),
    [
        (reply(OUTPUT + 1, **RANDOM), OWN_CALL, [], "dropout_in_eval"),
        (reply(2 * OUTPUT, **RANDOM), OWN_CALL, [], "doubled"),
        (reply(OUTPUT[:1], **RANDOM), OWN_CALL, [], None),
        (reply(OUTPUT + 1, causes=["dropout"]), OWN_CALL, [], None),
        (reply(OUTPUT + 1, **RANDOM), OWN_CALL, ["norm"], None),
        (reply(OUTPUT + 1, **RANDOM), replace(OWN_CALL, train=True), [], None),
        (reply(OUTPUT + 1, **RANDOM), replace(OWN_CALL, args=("x", "*generator")), [], None),
    ],
    ids=["random", "known", "shape", "not random", "maybe upstream", "training", "its generator"],
)
def test_random_numbers_in_eval_mode_explain_wrong_values_without_a_name(
    answer: Reply, call: Call, failed: list[str], mistake: str | None
) -> None:
    layer = make_exercise("layer", replace(VALUES, calls=(call,)), upstream=("norm",))

    assert finding(trial(answer, exercise=layer, failed=failed)).mistake == mistake
