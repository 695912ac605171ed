"""Grading from a student's point of view: scores and messages."""

import json

import pytest

from graded import Grade

CORE = ["attention", "add_norm", "layer", "embed", "encode"]
NO_MASK = ("scores + attention_mask", "scores")


def test_the_solution_passes_everything(grade: Grade) -> None:
    graded = grade("solution", training=True)

    assert graded.result["score"] == graded.result["max_score"] == 100, graded.output
    assert set(graded.outcomes().values()) == {"passed"}
    assert graded.status == 0


def test_the_untouched_starter_is_not_written_yet_and_scores_nothing(grade: Grade) -> None:
    graded = grade("starter", training=True)

    assert (graded.result["score"], graded.result["max_score"]) == (0, 100)
    assert [graded.outcomes()[name] for name in CORE] == ["not written yet"] * 5
    assert graded.outcomes()["sentiment"] == "blocked"
    assert "Traceback" not in graded.output + graded.errors


def test_one_mistake_costs_one_exercise_and_is_named_with_its_place(submit: Grade) -> None:
    graded = submit(NO_MASK)

    failed = [name for name in CORE if graded.outcomes()[name] != "passed"]
    assert failed == ["attention"]
    assert graded.exercise("attention")["score"] == 0
    assert graded.result["score"] == 55
    assert graded.exercise("layer")["message"] == "right when given a correct attention"
    attention = graded.exercise("attention")
    assert attention["mistake"] == "mask_ignored"
    assert "handout.md, Problem (attention)" in attention["message"]
    assert [part["title"] for part in attention["handout"]] == ["Problem (attention)", "The mask"]


def test_an_unwritten_exercise_does_not_fail_those_that_call_it(submit: Grade) -> None:
    graded = submit(
        (
            "return ln_layer(input + dropout(dense_layer(output)))",
            'raise NotImplementedError("add_norm")',
        )
    )

    assert graded.outcomes()["add_norm"] == "not written yet"
    assert [graded.outcomes()[name] for name in ("layer", "encode")] == ["passed", "passed"]


def test_changed_given_code_is_noticed_although_each_function_is_right(submit: Grade) -> None:
    graded = submit(
        ("self.transform(hidden_states, self.value)", "self.transform(hidden_states, self.query)")
    )

    assert graded.outcomes()["attention"] == "failed"
    assert graded.result["score"] == 55


def test_an_unknown_exercise_is_refused_with_the_known_ones(grade: Grade) -> None:
    graded = grade("starter", "--only", "self")

    assert graded.status == 2
    assert "attention, add_norm, layer, embed, encode" in graded.errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--only", "sentiment"), "K=sentiment: needs training; run `make grade K=sentiment`"),
        (("--threads", "0"), "THREADS=0: must be a whole number, 1 to 64"),
        (
            ("--tier", "none"),
            "TIER=none: there is no such tier; choose one of contained, locked, process",
        ),
        (("--checkpoint", "no/where"), "CHECKPOINT=no/where: there is no such folder"),
        (("--json", "no/where/r.json"), "JSON=no/where/r.json: no/where is not a folder"),
        (("--json", "grader"), "JSON=grader: is a folder; give the name of a file in it"),
    ],
)
def test_an_invalid_option_is_one_line_before_anything_is_graded(
    grade: Grade, options: tuple[str, str], message: str
) -> None:
    graded = grade("solution", *options)

    assert (graded.status, graded.output, graded.errors) == (2, "", f"check: {message}\n")


def test_the_score_does_not_depend_on_the_number_of_threads(grade: Grade) -> None:
    assert grade("solution", "--threads", "2").result["score"] == 80


def test_two_runs_print_the_same(submit: Grade) -> None:
    first = submit(NO_MASK)
    second = submit(NO_MASK)

    for graded in (first, second):
        del graded.result["time"]
    assert json.dumps(first.result) == json.dumps(second.result)
    assert first.output == second.output
