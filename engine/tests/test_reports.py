"""The result model, and the formats that are drawn from it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import formats
import sample
import toy
from graded import edited
from tensormark.cli import run
from tensormark.exercise import Assignment
from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.judging.compare import Pair, Tolerance
from tensormark.judging.excerpt import excerpt
from tensormark.reports import platforms
from tensormark.reports.convert import FORMATS, MARKS
from tensormark.result import Grade, Outcome, Result
from tensormark.settings import Settings
from tensormark.toolkit.measured import accuracy_curve, confusion, loss_curve

HOSTILE = """pass
        print("\\x1b[2J<script>" + "\\u202e" * 9)
        raise ValueError("<img src=x onerror=alert(1)>\\x1b]0;x\\x07::error::\\u202e")
        """
AXES = {3: ("row", "token", "unit")}


@pytest.fixture(scope="module")
def graded(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, solution_source: str
) -> Callable[[str], dict[str, Any]]:
    """Return the model of a kind of submission, graded once and without training."""
    place = tmp_path_factory.mktemp("submissions")
    grading = Grading(Settings.of(folder), open_assignment(folder))
    sources = {
        "right": solution_source,
        "wrong": edited(solution_source, (toy.BIAS, "")),
        "hostile": edited(solution_source, (toy.WINDOWS, HOSTILE + toy.WINDOWS)),
        "broken": "def f(:\n",
        "nan": edited(solution_source, (toy.BIAS, " * float('nan')")),
    }
    models: dict[str, dict[str, Any]] = {}

    def model(kind: str) -> dict[str, Any]:
        if kind not in models:
            path = place / f"{kind}.py"
            if kind in sources:
                path.write_text(sources[kind], encoding="utf-8")
            submission = str(path) if kind in sources else str(folder / "starter")
            models[kind] = grading.grade(submission, check=True).as_json()
        return models[kind]

    return model


KINDS = ["right", "wrong", "hostile", "broken", "nan", "untouched"]


# --- the model ----------------------------------------------------------------------------------


def test_the_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(formats.SCHEMA)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_result_of_every_kind_of_submission_fits_the_schema_and_every_format(
    graded, kind: str
) -> None:
    formats.check_model(graded(kind))
    formats.check_all(graded(kind))


@pytest.mark.parametrize("model", [sample.model(), sample.complete()])
def test_a_result_with_everything_in_it_fits_the_schema_and_every_format(model) -> None:
    formats.check_model(model)
    formats.check_all(model)


@pytest.mark.parametrize("key", ["version", "exercises", "printed"])
def test_the_schema_refuses_a_result_that_lacks_a_key(key: str) -> None:
    model = sample.model()
    del model[key]

    with pytest.raises(jsonschema.ValidationError):
        formats.check_model(model)


@pytest.mark.slow
def test_a_wrong_output_has_its_worst_row_and_a_map(graded) -> None:
    (finding,) = graded("wrong")["exercises"][0]["findings"]

    details = finding["excerpt"]
    assert details["axes"] == ["signal", "pattern", "window"]
    assert len(details["map"]["panels"]) == details["shape"][0]
    assert details["worst"]["got"] in details["row"]["got"]
    cells = [v for p in details["map"]["panels"] for row in p["cells"] for v in row]
    assert sum(value > 0 for value in cells) == details["wrong"]


@pytest.mark.slow
def test_an_exercise_knows_the_sections_and_the_line_that_explain_it(graded) -> None:
    wrong, raised = (graded(kind)["exercises"][0] for kind in ("wrong", "hostile"))

    assert [section["title"] for section in wrong["handout"]] == ["Problem (conv)"]
    assert raised["place"]["file"] == toy.MAIN
    assert raised["place"]["line"] > 10


def test_nothing_of_private_references_is_in_the_result(submit, private: Path) -> None:
    options = ("--references", str(private), "--only", "conv")

    model = submit((toy.BIAS, ""), options=options).result

    (exercise,) = model["exercises"]
    assert model["private"] is True
    assert exercise["outcome"] == "failed"
    assert [finding["excerpt"] for finding in exercise["findings"]] == [None]


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 3, 4, 5), (1, 400, 300), (40, 2, 2)])
def test_an_excerpt_of_any_shape_is_small_and_says_where_it_is_worst(shape) -> None:
    expected = np.zeros(shape)
    got = expected.copy()
    worst = tuple(size - 1 for size in shape)
    got[worst] = 3.0

    result = excerpt(Pair("output", got, expected, Tolerance(0.0, 1.0)), AXES, None)

    assert result["worst"]["index"] == list(worst)
    assert result["wrong"] == 1
    assert len(json.dumps(result)) < 40_000
    if len(shape) < 3 or shape[0] < 6:
        assert max(v for p in result["map"]["panels"] for row in p["cells"] for v in row) == 3.0


def test_an_excerpt_of_nan_and_inf_is_json() -> None:
    got = np.array([[np.nan, 1.0], [np.inf, 2.0]])

    result = excerpt(Pair("output", got, np.ones((2, 2)), Tolerance(0.0, 1e-6)), AXES, None)

    json.dumps(result, allow_nan=False)
    assert result["map"]["panels"][0]["cells"] == [[None, 0.0], [None, 1.0]]
    assert result["row"]["got"][0] in ("nan", "inf")


def test_an_excerpt_of_an_empty_array_is_none() -> None:
    empty = np.zeros((0, 3))

    assert excerpt(Pair("output", empty, empty, Tolerance(0.0, 0.0)), AXES, None) is None


# --- what a training measured -------------------------------------------------------------------


@pytest.mark.parametrize(
    "losses",
    [None, np.zeros((2, 2), np.float32), np.zeros(3), np.zeros(1, np.float32), np.zeros(2, "i8")],
)
def test_losses_of_another_form_draw_no_curve(losses) -> None:
    assert loss_curve({} if losses is None else {"out/losses": losses}) == []


def test_a_curve_has_few_points_and_no_nan() -> None:
    losses = np.full(5000, 0.5, np.float32)
    losses[:60] = np.nan

    (curve,) = loss_curve({"out/losses": losses})

    assert len(curve["values"]) == 100
    assert curve["values"][0] is None
    assert curve["values"][-1] == 0.5


def test_predictions_outside_the_classes_are_left_out_of_the_table() -> None:
    labels = np.array([0, 1, 1, 0])
    predictions = np.array([0, 7, -3, 1])

    table = confusion(labels, predictions, ["a", "b", "c", "d"], ("bad", "good"))

    assert table["confusion"] == [[1, 1], [0, 0]]
    assert table["misread"] == [{"text": "d", "expected": "bad", "got": "good"}]


def test_an_accuracy_curve_ends_where_predictions_end() -> None:
    labels = np.array([0, 1])
    tensors = {"out/after/1": np.array([0, 0]), "out/after/2": np.zeros(3, np.int64)}

    (curve,) = accuracy_curve(tensors, 1.0, labels, 0.9)

    assert curve["values"] == [0.5, 1.0]


# --- the handout --------------------------------------------------------------------------------


def test_every_exercise_has_a_place_in_the_handout(assignment: Assignment) -> None:
    for exercise in assignment.exercises:
        ((_, page, anchor),) = assignment.handout.sections(exercise.id, [])
        assert page == "handout.md"
        assert anchor.startswith(f"problem-{exercise.id}-")


def test_only_headings_that_exist_are_linked(assignment: Assignment) -> None:
    lines = ['read: handout.md, "Rules" and "No such heading"', 'raised E: "Problems"']

    sections = assignment.handout.sections("nothing", lines)

    assert sections == (("Rules", "handout.md", "rules"),)


# --- the formats --------------------------------------------------------------------------------


def test_a_bonus_is_not_in_the_score() -> None:
    results = json.loads(platforms.gradescope(sample.complete()))

    assert results["score"] == 30
    assert results["extra_data"]["bonus"] == 7.5


def test_gradescope_gets_no_points_for_what_could_not_be_graded() -> None:
    tests = json.loads(platforms.gradescope(sample.model()))["tests"]

    (ungraded,) = (test for test in tests if "score" not in test)
    assert ungraded["extra_data"]["outcome"] == "could not grade"


def test_a_partial_result_is_valid_for_gradescope() -> None:
    partial = Grade("", "contained", [Result("attention", Outcome.PASSED, 25, 25)]).as_json()

    results = formats.check_gradescope(platforms.gradescope(partial))

    assert [test["name"] for test in results["tests"]] == ["attention"]


def test_a_file_of_results_becomes_any_format(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    result.write_text(json.dumps(sample.model()), encoding="utf-8")

    for name in (*FORMATS, *FORMATS):  # the second time, it is replaced
        assert run(tmp_path, "convert", [name, str(result), "--out", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size


@pytest.mark.parametrize("name", MARKS)
def test_a_format_does_not_replace_what_convert_did_not_write(tmp_path: Path, name: str) -> None:
    result = tmp_path / "result.json"
    result.write_text(json.dumps(sample.model()), encoding="utf-8")
    before = result.read_bytes()

    assert run(tmp_path, "convert", [name, str(result), "--out", str(result)]) == 2
    assert result.read_bytes() == before


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 1}', '{"version": 2}', "[" * 99999])
@pytest.mark.parametrize("name", MARKS)
def test_a_file_that_is_not_a_result_is_refused(
    tmp_path: Path, capsys, name: str, text: str
) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")

    assert run(tmp_path, "convert", [name, str(tmp_path / "x.json")]) == 2
    assert "x.json" in capsys.readouterr().err


# --- the check on GitHub ------------------------------------------------------------------------

ALL_PASSED = sample.complete()
ALL_PASSED["exercises"] = [
    exercise | {"outcome": "passed"}
    for exercise in ALL_PASSED["exercises"]
    if not exercise["bonus"]
]


@pytest.mark.parametrize(
    ("model", "needed", "status"),
    [
        (ALL_PASSED, None, 0),
        (sample.complete(), None, 1),
        (sample.complete(), 30.5, 1),
        (sample.complete(), 30, 0),
        (sample.model(), 30, 1),  # an exercise could not be graded
        (ALL_PASSED | {"exercises": []}, None, 1),
    ],
)
def test_a_check_fails_until_everything_is_passed_or_there_are_enough_points(
    tmp_path: Path, capsys, model: dict[str, Any], needed: float | None, status: int
) -> None:
    result = tmp_path / "result.json"
    result.write_text(json.dumps(model), encoding="utf-8")
    options = [] if needed is None else ["--needed", str(needed)]

    assert run(tmp_path, "convert", ["check", str(result), *options]) == status

    assert (capsys.readouterr().out == "check: passed\n") is (status == 0)
