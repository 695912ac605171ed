"""The trial of one exercise, without running anything: its stand-ins, and what is observed."""

from dataclasses import replace

import pytest

from tensormark.exercise import Call
from tensormark.judging.checks import judge, needs_stand_ins, rounds
from tensormark.judging.fingerprints import observe
from tensormark.result import Outcome
from tensormark.sandbox.interface import Reply

from trials import (
    GIVEN,
    HOLE,
    LEVELS,
    OUT,
    OWN,
    RIGHT,
    VALUES,
    WRONG,
    exercise,
    finding,
    reply,
    trial,
)

# --- follow-through -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("replies", "failed", "outcome", "note"),
    [
        ([RIGHT], [], Outcome.PASSED, ""),
        ([WRONG], [], Outcome.FAILED, ""),
        ([WRONG, RIGHT], ["norm"], Outcome.PASSED, "right when given a correct norm"),
        ([RIGHT, WRONG], ["norm"], Outcome.PASSED, ""),
        ([WRONG, RIGHT], [], Outcome.FAILED, ""),
        ([WRONG, RIGHT], ["embed"], Outcome.FAILED, ""),
        ([WRONG, WRONG], ["norm"], Outcome.FAILED, ""),
        ([reply(None, "not written", "norm"), RIGHT], ["norm"], Outcome.PASSED,
         "right when given a correct norm"),
        ([HOLE], [], Outcome.NOT_WRITTEN, ""),
        ([HOLE, RIGHT], [], Outcome.NOT_WRITTEN, ""),
        ([reply(None, "not written", "", function="Layer.forward")], [], Outcome.NOT_WRITTEN, ""),
        ([reply(None, "not written", "norm")], ["norm"], Outcome.BLOCKED, "by norm"),
        ([reply(None, "not written", "norm"), reply(None, "not written", "embed")], [],
         Outcome.BLOCKED, "by embed, norm"),
        ([reply(None, "not written", "norm"), RIGHT], [], Outcome.FAILED, ""),
    ],
)  # fmt: skip
def test_stand_ins_decide_where_what_they_replace_has_failed(
    replies: list[Reply], failed: list[str], outcome: Outcome, note: str
) -> None:
    result = judge(trial(*replies, failed=failed))

    assert (result.outcome, result.note) == (outcome, note)


@pytest.mark.parametrize(
    ("replies", "failed", "needed"),
    [
        ([RIGHT], [], False),
        ([WRONG], [], True),
        ([WRONG, RIGHT], ["norm"], False),
        ([HOLE], [], False),
    ],
)
def test_further_stand_ins_are_needed_where_nothing_is_right_yet(
    replies: list[Reply], failed: list[str], needed: bool
) -> None:
    assert needs_stand_ins(trial(*replies, failed=failed)) is needed


OPTIONAL = replace(OWN, optional=("types",))
LACKS = reply(None, lacks=True)


@pytest.mark.parametrize(
    ("call", "lacks", "outcome"),
    [
        (OPTIONAL, True, Outcome.PASSED),
        (OPTIONAL, False, Outcome.FAILED),
        (OWN, True, Outcome.FAILED),
    ],
)
def test_a_function_may_lack_only_what_is_optional(
    call: Call, lacks: bool, outcome: Outcome
) -> None:
    of = exercise("layer", replace(VALUES, calls=(call,)))

    assert judge(trial(reply(None, lacks=lacks), of=of)).outcome is outcome


def test_a_call_that_was_not_made_says_nothing_of_the_mistake() -> None:
    of = exercise("layer", replace(VALUES, name="types", calls=(OPTIONAL,)), VALUES)

    assert finding(trial(LACKS, reply(2 * OUT), of=of)).mistake == "doubled"


@pytest.mark.parametrize(
    ("failed", "first"),
    [
        ([], [{1, 2, 3}]),
        (["norm"], [{1}, {2, 3}]),
        (["embed"], [{2}, {1, 3}]),
        (["norm", "embed"], [{1, 2, 3}]),
        (["unrelated"], [{1, 2, 3}]),
    ],
)
def test_calls_whose_stand_ins_can_decide_are_made_first(
    failed: list[str], first: list[set[int]]
) -> None:
    assert [set(places) for places in rounds(LEVELS, frozenset(failed))] == first


def test_where_no_call_stands_in_for_all_that_has_failed_all_are_made_at_once() -> None:
    apart = exercise("layer", replace(VALUES, calls=(OWN, GIVEN, replace(OWN, given=("embed",)))))

    assert [set(places) for places in rounds(apart, frozenset({"norm", "embed"}))] == [{1, 2}]


# --- what is observed ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failed", "given"),
    [([], [("norm",), ()]), (["norm"], [("norm",)]), (["embed"], [("norm",), ()])],
)
def test_calls_that_run_a_failed_exercise_are_not_observed(
    failed: list[str], given: list[tuple[str, ...]]
) -> None:
    tried = trial(WRONG, reply(2 * OUT), failed=failed)

    levels = list(tried.levels())

    own, stood_in = (observe(answered, tried.tolerance) for answered in tried.answered)
    expected = [stood_in if stand_ins else own for stand_ins in given]
    assert [level[0].got.tolist() for level in levels] == [seen.got.tolist() for seen in expected]


def test_a_probe_with_fewer_calls_is_observed_in_its_last_one() -> None:
    short = replace(VALUES, name="short", calls=(OWN,))
    tried = trial(WRONG, of=exercise("layer", VALUES, short, upstream=("norm",)))

    assert [len(level) for level in tried.levels()] == [2, 2]
    assert list(replace(tried, failed=frozenset(["norm"])).levels()) == []
