"""What each check finds in an answer, and what that costs, without running anything."""

from dataclasses import replace

import numpy as np
import pytest

from tensormark.exercise import Probe
from tensormark.grading import could_not_grade
from tensormark.judging.checks import examined
from tensormark.judging.trial import Fault, result_of_faults
from tensormark.result import Finding, Outcome
from tensormark.sandbox.interface import Reply
from tensormark.toolkit.statistics import Statistic, Statistics
from testkit.trials import (
    CALL_GIVEN_BOTH,
    CORRECT,
    GRADIENT,
    LAYER,
    MANIFEST_ENTRY,
    OUTPUT,
    OWN_CALL,
    POINTS,
    VALUES,
    WRONG,
    X,
    failed_in_properties,
    finding,
    make_exercise,
    reply,
    trial,
)

# --- what an exercise costs ---------------------------------------------------------------------

FOUND = {part: Finding(f"{part} are wrong") for part in POINTS}
VALUES_WRONG = FOUND["values"]
TRAINING_WRONG = FOUND["training"]
NAMED = Finding("there is no dropout", (), "no_dropout")
DOUBLED_VALUES = Finding("it is doubled", (), "doubled")


@pytest.mark.parametrize(
    ("faults", "score", "findings"),
    [
        ([("properties", FOUND["properties"])], 9, [FOUND["properties"]]),
        (
            [("properties", FOUND["properties"]), ("training", TRAINING_WRONG)],
            6,
            [TRAINING_WRONG, FOUND["properties"]],
        ),
        ([("values", VALUES_WRONG), ("training", TRAINING_WRONG)], 0, [VALUES_WRONG]),
        ([("training", TRAINING_WRONG), ("training", NAMED)], 7, [TRAINING_WRONG]),
        ([("training", NAMED), ("properties", NAMED)], 6, [NAMED]),  # the same is shown once
        # a named mistake in training is shown next to values without a name
        ([("values", VALUES_WRONG), ("training", NAMED)], 0, [VALUES_WRONG, NAMED]),
        ([("values", DOUBLED_VALUES), ("training", NAMED)], 0, [DOUBLED_VALUES]),
    ],
)
def test_a_part_that_fails_earns_nothing(
    faults: list[tuple[str, Finding]], score: float, findings: list[Finding]
) -> None:
    result = result_of_faults(LAYER, [Fault(*fault) for fault in faults])

    assert (result.outcome, result.score) == (Outcome.FAILED, score)
    assert list(result.findings) == findings
    assert result.lost == {part for part, _ in faults}


@pytest.mark.parametrize(
    ("faults", "outcome", "score", "lost"),
    [
        ([Fault("properties", None, "norm")], "failed", 6, {"training", "properties"}),
        ([Fault("values", None, "norm")], "failed", 0, {"training", "values"}),
        ([], "blocked", 0, set()),
    ],
)
def test_a_part_that_was_not_checked_earns_nothing(
    faults: list[Fault], outcome: str, score: float, lost: set[str]
) -> None:
    training = [Fault("training", TRAINING_WRONG)] if faults else [Fault("values", None, "norm")]

    result = result_of_faults(LAYER, [*training, *faults])

    assert (result.outcome, result.score, result.lost) == (outcome, score, lost)


def test_a_right_exercise_keeps_all_points_and_names_all_replaced_exercises() -> None:
    values = replace(VALUES, calls=(OWN_CALL, CALL_GIVEN_BOTH))
    layer = make_exercise("layer", values, upstream=("norm", "embed"))

    result = trial(WRONG, CORRECT, exercise=layer, failed=["norm", "embed"]).result()

    assert (result.score, result.lost) == (10, frozenset())
    assert result.note == "right when given a correct embed and norm"


@pytest.mark.parametrize(
    ("error", "note"),
    [(OSError("x" * 600), "x" * 500), (OSError(), "OSError"), (OSError("a\nb"), "a?b")],
    ids=["long", "without words", "two lines"],
)
def test_an_exercise_that_could_not_be_graded_has_no_score_and_says_why(
    error: Exception, note: str
) -> None:
    result = could_not_grade(replace(LAYER, extension=True, title="a layer"), error)

    assert (result.outcome, result.score, result.note) == (Outcome.COULD_NOT_GRADE, None, note)
    assert (result.max_score, result.bonus, result.task) == (10, True, False)
    assert (result.title, result.file) == ("a layer", "main.py")


# --- each check ---------------------------------------------------------------------------------

DIFFERENTIATED = make_exercise("layer", replace(VALUES, calls=(replace(OWN_CALL, gradients=True),)))
STOPS = "the output is right, but gradients are cut by .detach(), .data or no_grad()"
WRONG_GRADIENT = "the output is right, but its gradients are wrong"
DIFFERS = "6 of 6 values of the gradient of x differ, worst at index (0, 0)"
IN_PLACE = "inputs are changed in place", "the call changes x in place"
RIGHT = {"grad/x": GRADIENT.astype("f4")}
DOUBLED = {"grad/x": 2 * RIGHT["grad/x"]}


@pytest.mark.parametrize(
    ("answer", "lost", "headline", "line"),
    [
        (reply(tensors=RIGHT), "", "", ""),
        (reply(), "properties", STOPS, "no gradient reaches x"),
        (reply(tensors=DOUBLED), "properties", WRONG_GRADIENT, DIFFERS),
        (
            reply(tensors=DOUBLED, drew=True, causes=["dropout"]),
            "properties",
            WRONG_GRADIENT,
            DIFFERS,
        ),
        (reply(tensors=RIGHT | {"after/a": X, "after/x": X.astype("f4")}), "", "", ""),
        (reply(tensors=RIGHT | {"after/x": X + 1, "after/y": X}), "properties", *IN_PLACE),
        (reply(tensors=RIGHT | {"after/x": X[None]}), "properties", *IN_PLACE),
        (
            reply(tensors=RIGHT, changed=["seed"]),
            "properties",
            "the call changes something other than its output",
            "the call changes seed",
        ),
        (
            reply(tensors=RIGHT, changed=None),
            "properties",
            "the output is wrong",
            "the worker did not report its state",
        ),
        (reply(None), "values properties", "the output is wrong", "output is missing"),
    ],
)
def test_each_failed_check_costs_its_part_and_says_what_is_wrong(
    answer: Reply, lost: str, headline: str, line: str
) -> None:
    result = trial(answer, exercise=DIFFERENTIATED, gradients={"x": GRADIENT}).result()

    assert result.lost == set(lost.split())
    if lost:
        assert result.findings[0].headline == headline
        assert result.findings[0].details[0] == line


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("x", "x differ, worst at (row 0, column 0)"),
        ("weights/w", "w differ, worst at index (0, 0)"),
    ],
)
def test_only_gradients_of_inputs_have_the_axes_of_outputs(name: str, place: str) -> None:
    fields = {"axes": {2: ("row", "column")}, "locate": lambda *_: "somewhere"}
    wrong = reply(tensors={f"grad/{name}": 2 * GRADIENT.astype("f4")})

    problem = finding(
        trial(wrong, exercise=DIFFERENTIATED, gradients={name: GRADIENT}, fields=fields)
    )

    assert problem.headline == WRONG_GRADIENT
    assert problem.details[0] == f"6 of 6 values of the gradient of {place}"
    assert "somewhere" not in problem.details


def test_an_input_that_was_rounded_to_be_sent_has_not_changed() -> None:
    rounded = trial(reply(tensors={"after/x": (X / 3).astype("f4")}))
    for answered in rounded.answered:
        answered.recording.inputs["x"] = X / 3

    assert rounded.result().outcome is Outcome.PASSED


def test_only_the_first_of_many_changed_names_are_listed() -> None:
    names = [f"{number:02d}" + "n" * 60 for number in range(12)]

    problem = finding(trial(reply(changed=names)))

    assert problem.details[0] == "the call changes " + ", ".join(name[:40] for name in names[:10])


def test_an_error_that_does_not_recur_costs_nothing() -> None:
    errors = [MemoryError()]

    def examine(*_: object) -> None:
        if errors:
            raise errors.pop()

    right = trial(CORRECT)

    assert examined(right, right.answered[0], examine) is None
    assert right.troubles == []


@pytest.mark.parametrize(("first", "outcome"), [(True, Outcome.FAILED), (False, Outcome.PASSED)])
def test_a_setting_that_an_import_changes_costs_the_first_exercise_of_its_file(
    first: bool, outcome: Outcome
) -> None:
    answers = trial(reply(imported=["the seed", "the dtype"]))
    earlier = {} if first else {"norm": failed_in_properties("norm", "main.py")}

    result = replace(answers, results=earlier).result()

    assert result.outcome is outcome
    if first:
        assert result.findings[0].headline == "importing main.py changes a global setting"
        assert result.findings[0].details[0] == "importing main.py changes the seed, the dtype"
        assert result.lost == {"properties"}


MEAN = Statistics(
    [Statistic("the mean is off", 6.0, margin=0.1)], lambda out, _: [float(out["output"].mean())]
)
DRAWN = make_exercise(
    "layer",
    Probe("draw", "training", "wrong", (replace(OWN_CALL, train=True),), MEAN),
    Probe("fixed", "training", "fixed wrong", (replace(OWN_CALL, deterministic=True),), MEAN),
)


@pytest.mark.parametrize(
    ("answer", "details"),
    [
        (reply(OUTPUT[::-1]), ""),
        (WRONG, "the mean is off: 7.000, expected about 6"),
        (reply(np.full((2, 3), 3e38)), "the mean is off: inf, expected about 6"),
        (reply(None), "output is missing"),
        (reply(OUTPUT[:1]), "output should have shape (2, 3), got (1, 3)"),
        (
            reply(np.where(OUTPUT > 3, np.nan, OUTPUT)),
            "4 of 6 values of output are NaN or inf, first at index (0, 2)",
        ),
    ],
    ids=["right", "off", "overflow", "missing", "shape", "nan"],
)
def test_random_outputs_are_judged_by_their_statistics(answer: Reply, details: str) -> None:
    entry = MANIFEST_ENTRY | {"rows": ["the solution"]}
    result = trial(answer, CORRECT, exercise=DRAWN, entry=entry).result()

    assert result.outcome is (Outcome.FAILED if details else Outcome.PASSED)
    assert not details or details in (result.findings[0].headline, result.findings[0].details[0])


def test_a_deterministic_call_is_compared_even_if_its_probe_examines_statistics() -> None:
    assert finding(trial(CORRECT, reply(OUTPUT[::-1]), exercise=DRAWN)).headline == "fixed wrong"
