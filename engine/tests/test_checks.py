"""What each check finds in an answer, and what that costs, without running anything."""

from dataclasses import replace

import numpy as np
import pytest

from tensormark.exercise import Probe
from tensormark.judging.checks import examined
from tensormark.judging.trial import Fault, result_of_faults
from tensormark.result import Finding, Outcome
from tensormark.session import could_not_grade
from tensormark.toolkit.statistics import Statistic, Statistics
from testkit.trials import (
    CORRECT,
    GRADIENT,
    LAYER,
    MANIFEST_ENTRY,
    OUTPUT,
    OWN_CALL,
    VALUES,
    WRONG,
    X,
    finding,
    make_exercise,
    reply,
    trial,
)

# --- what an exercise costs ---------------------------------------------------------------------

IN_VALUES, IN_TRAINING, IN_PROPERTIES = (
    Finding(f"{part} are wrong") for part in ("values", "training", "properties")
)
NAMED = Finding("there is no dropout", (), "no_dropout")
DOUBLED = Finding("it is doubled", (), "doubled")


def fault(part, found):
    return Fault(part, None if found is None else lambda: found, "norm")


@pytest.mark.parametrize(
    ("faults", "score", "findings"),
    [
        ([("properties", IN_PROPERTIES)], 9, [IN_PROPERTIES]),
        (
            [("properties", IN_PROPERTIES), ("training", IN_TRAINING)],
            6,
            [IN_TRAINING, IN_PROPERTIES],
        ),
        ([("values", IN_VALUES), ("training", IN_TRAINING)], 0, [IN_VALUES]),
        ([("training", IN_TRAINING), ("training", NAMED)], 7, [IN_TRAINING]),
        ([("training", NAMED), ("properties", NAMED)], 6, [NAMED]),  # the same is shown once
        # a named mistake in training is shown next to values without a name
        ([("values", IN_VALUES), ("training", NAMED)], 0, [IN_VALUES, NAMED]),
        ([("values", DOUBLED), ("training", NAMED)], 0, [DOUBLED]),
        # a part that was not checked earns nothing
        ([("training", IN_TRAINING), ("properties", None)], 6, [IN_TRAINING]),
        ([("training", IN_TRAINING), ("values", None)], 0, [IN_TRAINING]),
    ],
)
def test_a_part_that_fails_earns_nothing(faults, score, findings):
    result = result_of_faults(LAYER, [fault(*each) for each in faults])

    assert (result.outcome, result.score) == (Outcome.FAILED, score)
    assert list(result.findings) == findings
    assert result.lost == {part for part, _ in faults}


def test_an_exercise_of_which_nothing_could_be_checked_is_blocked():
    result = result_of_faults(LAYER, [fault("values", None)])

    assert (result.outcome, result.score, result.note) == (Outcome.BLOCKED, 0, "by norm")


@pytest.mark.parametrize(
    ("error", "note"),
    [(OSError("x" * 600), "x" * 500), (OSError(), "OSError"), (OSError("a\nb"), "a?b")],
    ids=["long", "without words", "two lines"],
)
def test_an_exercise_that_could_not_be_graded_has_no_score_and_says_why(error, note):
    result = could_not_grade(replace(LAYER, extension=True), error)

    assert (result.outcome, result.score, result.note) == (Outcome.COULD_NOT_GRADE, None, note)
    assert (result.max_score, result.bonus, result.task) == (10, True, False)


# --- each check ---------------------------------------------------------------------------------

DIFFERENTIATED = make_exercise("layer", replace(VALUES, calls=(replace(OWN_CALL, gradients=True),)))
RIGHT = {"grad/x": GRADIENT.astype("f4")}
DOUBLE = {"grad/x": 2 * RIGHT["grad/x"]}


@pytest.mark.parametrize(
    ("answer", "lost", "mistake"),
    [
        (reply(tensors=RIGHT), "", None),
        (reply(), "properties", "no_gradient"),
        (reply(tensors=DOUBLE, drew=True, causes=["dropout"]), "properties", None),
        (reply(tensors=RIGHT | {"after/a": X, "after/x": X.astype("f4")}), "", None),
        (reply(tensors=RIGHT | {"after/x": X + 1, "after/y": X}), "properties", "input_changed"),
        (reply(tensors=RIGHT | {"after/x": X[None]}), "properties", "input_changed"),
        (reply(tensors={"after/x": X + 1}, backward=""), "properties", "input_changed"),
        (reply(tensors=RIGHT, changed=["seed"]), "properties", None),
        (reply(None), "values", None),
    ],
)
def test_each_failed_check_costs_its_part(answer, lost, mistake):
    result = trial(answer, exercise=DIFFERENTIATED, gradients={"x": GRADIENT}).result()

    assert result.lost == set(lost.split())
    assert [found.mistake for found in result.findings] == ([mistake] if lost else [])


@pytest.mark.parametrize(("name", "place"), [("x", "(row 0, column 0)"), ("weights/w", "index")])
def test_only_gradients_of_inputs_have_the_axes_of_outputs(name, place):
    fields = {"axes": {2: ("row", "column")}, "locate": lambda *_: "somewhere"}
    wrong = reply(tensors={f"grad/{name}": 2 * GRADIENT.astype("f4")})

    problem = finding(
        trial(wrong, exercise=DIFFERENTIATED, gradients={name: GRADIENT}, fields=fields)
    )

    assert f"worst at {place}" in problem.details[0]
    assert "somewhere" not in problem.details


def test_a_state_that_is_not_reported_costs_the_properties():
    silent = replace(reply(), message={})

    result = trial(silent).result()

    assert result.lost == {"properties"}
    assert result.findings[0].details[0] == "the worker did not report its state"


def test_only_the_first_of_many_changed_names_are_listed():
    names = [f"{number:02d}" + "n" * 60 for number in range(12)]

    problem = finding(trial(reply(changed=names)))

    assert problem.details[0] == "the call changes " + ", ".join(name[:40] for name in names[:10])


def test_an_error_that_does_not_recur_costs_nothing():
    errors = [MemoryError()]

    def examine(*_):
        if errors:
            raise errors.pop()

    right = trial(CORRECT)

    assert examined(right, right.answered[0], examine) is None
    assert right.troubles == []


# --- random outputs -----------------------------------------------------------------------------

MEAN = Statistics(
    [Statistic("the mean is off", 6.0, margin=0.1)], lambda out, _: [float(out["output"].mean())]
)
DRAWN = make_exercise(
    "layer",
    Probe("draw", "training", "wrong", (replace(OWN_CALL, train=True),), MEAN),
    Probe("fixed", "training", "fixed wrong", (replace(OWN_CALL, deterministic=True),), MEAN),
)
NAN = reply(np.where(OUTPUT > 3, np.nan, OUTPUT))


@pytest.mark.parametrize(
    ("answer", "details"),
    [
        (WRONG, "the mean is off: 7.000, expected about 6"),
        (reply(np.full((2, 3), 3e38)), "the mean is off: inf, expected about 6"),
        (reply(OUTPUT[:1]), "output should have shape (2, 3), got (1, 3)"),
        (NAN, "4 of 6 values of output are NaN or inf, first at index (0, 2)"),
    ],
)
def test_random_outputs_are_judged_by_their_statistics(answer, details):
    entry = MANIFEST_ENTRY | {"rows": ["the solution"]}
    findings = trial(answer, CORRECT, exercise=DRAWN, entry=entry).result().findings

    assert details in (findings[0].headline, findings[0].details[0])


def test_a_deterministic_call_is_compared_even_if_its_probe_examines_statistics():
    assert finding(trial(CORRECT, reply(OUTPUT[::-1]), exercise=DRAWN)).headline == "fixed wrong"
