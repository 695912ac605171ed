"""The message of an exercise: its headline, its mistake, and the lines below."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tensormark.exercise import Call
from tensormark.judging.checks import judge
from tensormark.judging.diagnose import Diagnosis
from tensormark.policy import Policy
from tensormark.sandbox.interface import Reply

from trials import (
    LAYER,
    LEVELS,
    OUT,
    OWN,
    RAISES,
    RIGHT,
    VALUES,
    WRONG,
    exercise,
    finding,
    reply,
    trial,
)


@pytest.mark.parametrize(
    ("output", "mistake", "headline", "read"),
    [
        (2 * OUT, "doubled", "it is doubled", 'Problem (layer), "The scale"'),
        (OUT + 5, "shifted", "it is shifted", 'Problem (layer), "The bias"'),
        (2 * OUT + 5, "doubled+shifted", "it is doubled, and it is shifted",
         'Problem (layer), "The scale" and "The bias"'),
        (OUT / 2, None, "the output is wrong", "Problem (layer)"),
    ],
)  # fmt: skip
def test_a_recognized_mistake_is_named_with_where_the_handout_explains_it(
    output: np.ndarray, mistake: str | None, headline: str, read: str
) -> None:
    found = finding(trial(reply(output)))

    assert (found.mistake, found.headline) == (mistake, headline)
    assert found.details[-1] == f"read: handout.md, {read}"


def test_mistakes_that_look_the_same_are_both_named_the_more_frequent_first() -> None:
    tried = trial(reply(2 * OUT))
    for answered in tried.answered:
        answered.recording.wrong[2] = answered.recording.wrong[1]

    found = finding(tried)

    assert found.mistake == "shifted|doubled"
    assert found.headline == "either it is shifted or it is doubled"


@pytest.mark.parametrize("public", [True, False])
def test_values_of_a_reference_are_shown_only_if_they_are_public(public: bool) -> None:
    found = finding(trial(WRONG, public=public))

    numbers = [line for line in found.details if line.startswith("expected 1.0000, got 2.0000")]
    assert bool(numbers) is public
    assert (found.excerpt is not None) is public


@pytest.mark.parametrize("answer", [RAISES, reply(None)], ids=["raised", "missing"])
def test_where_there_are_no_values_a_public_reference_adds_nothing(answer: Reply) -> None:
    tried = trial(answer, public=True)

    assert finding(tried) == finding(trial(answer))
    assert tried.troubles == []


def test_a_wrong_place_is_described_only_where_the_mistake_has_no_name() -> None:
    fields = {"locate": lambda got, expected, inputs: f"wrong by {(got - expected).max()}"}

    lines = [finding(trial(reply(out), fields=fields)).details for out in (OUT + 1, OUT + 5)]

    assert ["wrong by 1.0" in lines[0], "wrong by 5.0" in lines[1]] == [True, False]


@pytest.mark.parametrize(
    ("output", "part", "described"),
    [
        (OUT[:1], "values", True),
        (OUT + 1, "values", True),
        (OUT + 1, "properties", False),
        (np.full((2, 3), np.nan), "values", False),
    ],
    ids=["shape", "values", "properties", "nan"],
)
def test_a_place_is_said_of_wrong_shapes_and_values_only(
    output: np.ndarray, part: str, described: bool
) -> None:
    of = exercise("layer", replace(VALUES, part=part))

    found = finding(trial(reply(output), of=of, fields={"locate": lambda *_: "somewhere"}))

    assert ("somewhere" in found.details) is described


def test_an_exercise_may_have_places_and_axes_of_its_own() -> None:
    fields = {"locate": lambda *_: "elsewhere", "axes": {2: ("batch", "token")}}
    of = replace(LAYER, locate=lambda *_: "here", axes={2: ("row", "column")})

    found = finding(trial(WRONG, of=of, fields=fields))

    assert "6 of 6 values of output differ, worst at (row 0, column 0)" in found.details
    assert "here" in found.details


def test_numbers_that_overflow_can_be_described() -> None:
    fields = {"locate": lambda got, expected, inputs: f"wrong by {(got * got).sum()}"}

    assert "wrong by inf" in finding(trial(reply(OUT * 1e37), fields=fields)).details


def test_what_could_not_be_described_changes_nothing_else_and_is_noted() -> None:
    def broken(*_: Any) -> str:
        raise ZeroDivisionError

    tried = trial(WRONG, fields={"locate": broken})

    assert finding(tried).headline == "the output is wrong"
    assert tried.troubles[0].startswith("ZeroDivisionError")


def test_where_a_stand_in_would_help_the_message_says_so() -> None:
    helped, wrong = finding(trial(WRONG, RIGHT)), finding(trial(WRONG))

    assert "layer and norm pass alone, but not together" in helped.details
    assert not any("pass alone" in line for line in wrong.details)


def test_the_message_names_all_that_had_to_be_replaced() -> None:
    found = finding(trial(WRONG, WRONG, WRONG, RIGHT, of=LEVELS))

    assert "layer, norm and embed pass alone, but not together" in found.details


def test_an_exception_is_its_own_headline() -> None:
    found = finding(trial(RAISES))

    assert found.headline == "raised ValueError: no (main.py, line 3)"
    assert found.details == ("read: handout.md, Problem (layer)",)


@pytest.mark.parametrize(("failed", "own"), [([], True), (["norm"], False)])
def test_an_exception_in_another_exercises_function_is_shown_unless_that_has_failed(
    failed: list[str], own: bool
) -> None:
    through = replace(RAISES, message={"through": ["norm"]})

    found = finding(trial(through, WRONG, failed=failed))

    assert (found.headline == RAISES.text) is own


def test_below_a_students_own_exception_is_how_a_stand_in_was_called_wrongly() -> None:
    found = finding(trial(RAISES, reply(None, "error", "norm() gets no weights")))

    assert (found.headline, found.details[0]) == (RAISES.text, "norm() gets no weights")


def test_a_wrong_answer_is_shown_though_others_are_blocked() -> None:
    found = finding(trial(WRONG, reply(None, "not written", "norm"), failed=["norm"]))

    assert found.headline == "the output is wrong"
    assert found.details[0] == "6 of 6 values of output differ, worst at (index (0, 0))"


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
    tried = trial(WRONG, of=exercise("layer", replace(VALUES, part=part)))
    tried.diagnosis = diagnosis  # type: ignore[misc]

    assert finding(tried).mistake == mistake


def test_a_file_that_cannot_be_imported_is_the_whole_message() -> None:
    found = finding(trial(replace(RAISES, unimportable="main.py", advice="look")))

    assert found.headline == "main.py cannot be imported"
    assert found.details == (RAISES.text, "look")


FORBIDDEN = "nn.Linear is not allowed in this assignment: it is what you are asked to write"


def test_forbidden_code_without_a_place_is_named_too() -> None:
    answer = reply(None, "error", "stopped", forbidden="nn.Linear")

    found = finding(trial(answer, of=replace(LAYER, forbidden=("torch.nn.Linear",))))

    assert found.headline == FORBIDDEN


@pytest.mark.parametrize(
    ("policy", "own"),
    [
        (Policy(forbidden=("torch.nn.Linear",), section="Rules"), ()),
        (Policy(given_only=("torch.nn.Linear",), section="Rules"), ()),
        (Policy(section="Rules"), ("torch.nn.Linear",)),
    ],
    ids=["forbidden", "given only", "by the exercise"],
)
def test_forbidden_code_costs_all_points(policy: Policy, own: tuple[str, ...]) -> None:
    answer = reply(None, "error", "stopped (main.py, line 3)", forbidden="nn.Linear")

    result = judge(trial(answer, of=replace(LAYER, forbidden=own), fields={"policy": policy}))

    assert (result.score, result.lost) == (0, {"values"})
    (found,) = result.findings
    assert (found.mistake, found.headline) == ("forbidden", f"{FORBIDDEN} (main.py, line 3)")
    assert found.details == ('read: handout.md, "Rules"',)


def test_a_worker_cannot_make_up_what_is_forbidden() -> None:
    answer = reply(None, "error", "raised ValueError", forbidden="nn.Linear")

    assert finding(trial(answer)).headline == "raised ValueError"


@pytest.mark.parametrize(
    ("call", "drew", "failed", "named"),
    [
        (OWN, True, [], True),
        (OWN, False, [], False),
        (OWN, True, ["norm"], False),
        (replace(OWN, train=True), True, [], False),
        (replace(OWN, args=("x", "*generator")), True, [], False),
    ],
    ids=["random", "not random", "maybe upstream", "training", "its generator"],
)
def test_random_numbers_in_eval_mode_are_a_mistake_with_a_name(
    call: Call, drew: bool, failed: list[str], named: bool
) -> None:
    of = exercise("layer", replace(VALUES, calls=(call,)), upstream=("norm",))

    weights = ["dropout", "new weights"], "new_weights_in_call"
    for causes, name in ([], None), (["dropout"], "dropout_in_eval"), weights:
        found = finding(trial(reply(OUT + 1, drew=drew, causes=causes), of=of, failed=failed))

        assert found.mistake == (name if named else None)
        lines = [found.headline, *found.details]
        assert any("draws random numbers in eval" in line for line in lines) is named


def test_a_mistake_of_the_exercise_counts_before_one_that_any_function_can_have() -> None:
    assert finding(trial(reply(2 * OUT, drew=True, causes=["dropout"]))).mistake == "doubled"


def test_random_numbers_do_not_explain_another_shape() -> None:
    found = finding(trial(reply(OUT[:1], drew=True, causes=["dropout"])))
    assert (found.mistake, found.headline) == (None, VALUES.says)
