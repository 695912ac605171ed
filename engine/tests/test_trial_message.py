"""Tests of the message on an exercise: its headline, its mistake, and the lines below it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tensormark.exercise import Call
from tensormark.judging.diagnose import Diagnosis
from tensormark.policy import Policy
from tensormark.sandbox.interface import Reply
from trials import (
    CORRECT,
    LAYER,
    LEVELS,
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


@pytest.mark.parametrize(
    ("output", "mistake", "headline", "section"),
    [
        (2 * OUTPUT, "doubled", "it is doubled", 'Problem (layer), "The scale"'),
        (OUTPUT + 5, "shifted", "it is shifted", 'Problem (layer), "The bias"'),
        (2 * OUTPUT + 5, "doubled+shifted", "it is doubled, and it is shifted",
         'Problem (layer), "The scale" and "The bias"'),
        (OUTPUT / 2, None, "the output is wrong", "Problem (layer)"),
    ],
)  # fmt: skip
def test_a_recognized_mistake_is_named_with_where_the_handout_explains_it(
    output: np.ndarray, mistake: str | None, headline: str, section: str
) -> None:
    problem = finding(trial(reply(output)))

    assert (problem.mistake, problem.headline) == (mistake, headline)
    assert problem.details[-1] == f"read: handout.md, {section}"


def test_indistinguishable_mistakes_are_all_named_the_most_frequent_first() -> None:
    layer_trial = trial(reply(2 * OUTPUT))
    for answered in layer_trial.answered:
        answered.recording.wrong[2] = answered.recording.wrong[1]

    problem = finding(layer_trial)

    assert problem.mistake == "shifted|doubled"
    assert problem.headline == "either it is shifted or it is doubled"


@pytest.mark.parametrize("public", [True, False])
def test_values_of_a_reference_are_shown_only_if_they_are_public(public: bool) -> None:
    problem = finding(trial(WRONG, public=public))

    numbers = [line for line in problem.details if line.startswith("expected 1.0000, got 2.0000")]
    assert bool(numbers) is public
    assert (problem.excerpt is not None) is public


@pytest.mark.parametrize("answer", [RAISED, reply(None)], ids=["raised", "missing"])
def test_a_public_reference_adds_nothing_if_there_are_no_values(answer: Reply) -> None:
    layer_trial = trial(answer, public=True)

    assert finding(layer_trial) == finding(trial(answer))
    assert layer_trial.troubles == []


def test_a_wrong_place_is_described_only_where_the_mistake_has_no_name() -> None:
    fields = {"locate": lambda got, expected, inputs: f"wrong by {(got - expected).max()}"}

    details = [
        finding(trial(reply(out), fields=fields)).details for out in (OUTPUT + 1, OUTPUT + 5)
    ]

    assert ["wrong by 1.0" in details[0], "wrong by 5.0" in details[1]] == [True, False]


@pytest.mark.parametrize(
    ("output", "part", "is_described"),
    [
        (OUTPUT[:1], "values", True),
        (OUTPUT + 1, "values", True),
        (OUTPUT + 1, "properties", False),
        (np.full((2, 3), np.nan), "values", False),
    ],
    ids=["shape", "values", "properties", "nan"],
)
def test_only_wrong_shapes_and_values_have_a_place(
    output: np.ndarray, part: str, is_described: bool
) -> None:
    layer = make_exercise("layer", replace(VALUES, part=part))

    problem = finding(
        trial(reply(output), exercise=layer, fields={"locate": lambda *_: "somewhere"})
    )

    assert ("somewhere" in problem.details) is is_described


def test_an_exercise_may_describe_places_and_axes_itself() -> None:
    fields = {"locate": lambda *_: "elsewhere", "axes": {2: ("batch", "token")}}
    layer = replace(LAYER, locate=lambda *_: "here", axes={2: ("row", "column")})

    problem = finding(trial(WRONG, exercise=layer, fields=fields))

    assert "6 of 6 values of output differ, worst at (row 0, column 0)" in problem.details
    assert "here" in problem.details


def test_numbers_that_overflow_can_be_described() -> None:
    fields = {"locate": lambda got, expected, inputs: f"wrong by {(got * got).sum()}"}

    assert "wrong by inf" in finding(trial(reply(OUTPUT * 1e37), fields=fields)).details


def test_an_error_while_describing_a_place_is_only_noted() -> None:
    def broken(*_: Any) -> str:
        raise ZeroDivisionError

    layer_trial = trial(WRONG, fields={"locate": broken})

    assert finding(layer_trial).headline == "the output is wrong"
    assert layer_trial.troubles[0].startswith("ZeroDivisionError")


def test_a_message_says_if_a_stand_in_helps() -> None:
    helped_problem = finding(trial(WRONG, CORRECT))
    wrong = finding(trial(WRONG))

    assert "layer and norm pass alone, but not together" in helped_problem.details
    assert not any("pass alone" in line for line in wrong.details)


def test_the_message_names_all_that_had_to_be_replaced() -> None:
    problem = finding(trial(WRONG, WRONG, WRONG, CORRECT, exercise=LEVELS))

    assert "layer, norm and embed pass alone, but not together" in problem.details


def test_an_exception_is_its_own_headline() -> None:
    problem = finding(trial(RAISED))

    assert problem.headline == "raised ValueError: no (main.py, line 3)"
    assert problem.details == ("read: handout.md, Problem (layer)",)


@pytest.mark.parametrize(("failed", "is_shown"), [([], True), (["norm"], False)])
def test_an_exception_in_another_exercises_function_is_shown_unless_that_has_failed(
    failed: list[str], is_shown: bool
) -> None:
    raised_in_norm = replace(RAISED, message={"through": ["norm"]})

    problem = finding(trial(raised_in_norm, WRONG, failed=failed))

    assert (problem.headline == RAISED.text) is is_shown


def test_a_students_exception_is_followed_by_how_a_stand_in_was_miscalled() -> None:
    problem = finding(trial(RAISED, reply(None, "error", "norm() gets no weights")))

    assert (problem.headline, problem.details[0]) == (RAISED.text, "norm() gets no weights")


def test_a_wrong_answer_is_shown_even_if_others_are_blocked() -> None:
    problem = finding(trial(WRONG, reply(None, "not written", "norm"), failed=["norm"]))

    assert problem.headline == "the output is wrong"
    assert problem.details[0] == "6 of 6 values of output differ, worst at index (0, 0)"


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


def test_a_file_that_cannot_be_imported_is_the_whole_message() -> None:
    answer = reply(None, "error", "raised ImportError", importing="main", missing="mine")

    problem = finding(trial(answer, others={"mine"}))

    assert problem.headline == "main.py cannot be imported"
    assert problem.details == (
        "raised ImportError",
        "only main.py is graded: copy what you need from mine into main.py",
    )


FORBIDDEN = "nn.Linear is not allowed in this assignment: it is what you are asked to write"


def test_forbidden_code_without_a_place_is_named_too() -> None:
    answer = reply(None, "error", "stopped", forbidden="nn.Linear")

    problem = finding(trial(answer, exercise=replace(LAYER, forbidden=("torch.nn.Linear",))))

    assert problem.headline == FORBIDDEN


@pytest.mark.parametrize(
    ("policy", "forbidden"),
    [
        (Policy(forbidden=("torch.nn.Linear",), section="Rules"), ()),
        (Policy(given_only=("torch.nn.Linear",), section="Rules"), ()),
        (Policy(section="Rules"), ("torch.nn.Linear",)),
    ],
    ids=["forbidden", "given only", "by the exercise"],
)
def test_forbidden_code_costs_all_points(policy: Policy, forbidden: tuple[str, ...]) -> None:
    answer = reply(None, "error", "stopped (main.py, line 3)", forbidden="nn.Linear")

    layer = replace(LAYER, forbidden=forbidden)
    result = trial(answer, exercise=layer, fields={"policy": policy}).result()

    assert (result.score, result.lost) == (0, {"values"})
    (problem,) = result.findings
    assert (problem.mistake, problem.headline) == ("forbidden", f"{FORBIDDEN} (main.py, line 3)")
    assert problem.details == ('read: handout.md, "Rules"',)


def test_a_worker_cannot_make_up_what_is_forbidden() -> None:
    answer = reply(None, "error", "raised ValueError", forbidden="nn.Linear")

    assert finding(trial(answer)).headline == "raised ValueError"


@pytest.mark.parametrize(
    ("call", "drew", "failed", "is_named"),
    [
        (OWN_CALL, True, [], True),
        (OWN_CALL, False, [], False),
        (OWN_CALL, True, ["norm"], False),
        (replace(OWN_CALL, train=True), True, [], False),
        (replace(OWN_CALL, args=("x", "*generator")), True, [], False),
    ],
    ids=["random", "not random", "maybe upstream", "training", "its generator"],
)
def test_random_numbers_in_eval_mode_are_a_mistake_with_a_name(
    call: Call, drew: bool, failed: list[str], is_named: bool
) -> None:
    layer = make_exercise("layer", replace(VALUES, calls=(call,)), upstream=("norm",))

    weights = ["dropout", "new weights"], "new_weights_in_call"
    for causes, name in ([], None), (["dropout"], "dropout_in_eval"), weights:
        problem = finding(
            trial(reply(OUTPUT + 1, drew=drew, causes=causes), exercise=layer, failed=failed)
        )

        assert problem.mistake == (name if is_named else None)
        lines = [problem.headline, *problem.details]
        assert any("draws random numbers in eval" in line for line in lines) is is_named


def test_a_mistake_of_the_exercise_takes_precedence_over_a_general_one() -> None:
    assert finding(trial(reply(2 * OUTPUT, drew=True, causes=["dropout"]))).mistake == "doubled"


def test_random_numbers_do_not_explain_a_wrong_shape() -> None:
    problem = finding(trial(reply(OUTPUT[:1], drew=True, causes=["dropout"])))
    assert (problem.mistake, problem.headline) == (None, VALUES.says)
