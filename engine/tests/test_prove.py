"""What an assignment claims is proved, and a claim that is false is found."""

import dataclasses

import pytest

from tensormark.authoring.prove import claims
from tensormark.authoring.variants import Honest, Variant
from testkit import toy
from testkit.graded import edit
from testkit.resident import called


def variant(name, exercise, *edit, everywhere=False):
    wrong = Variant(name, exercise, "A section", "it is wrong", (edit,), everywhere)
    return dataclasses.replace(wrong, module="detector")


NO_BIAS = ((toy.BIAS, ""),)
# The class after the region is given code: a change of it costs both exercises.
FALSE = (
    (
        variant("right", "conv", toy.BIAS, toy.BIAS + " * 1"),
        "it costs no points in conv: no probe detects it",
    ),
    (
        variant("unknown", "conv", toy.BIAS, " + 2" + toy.BIAS),
        "it has no name: conv 0 of 40, conv gives a wrong output",
    ),
    (
        variant("second_name", "conv", *NO_BIAS[0]),
        "it is reported as bias_forgotten: conv 0 of 40, the bias is forgotten",
    ),
    (
        variant("elsewhere", "detector", *NO_BIAS[0], everywhere=True),
        "it costs other exercises: conv 0 of 40, the bias is forgotten",
    ),
    (
        Honest("wrong", edits=NO_BIAS, module="detector"),
        "it loses points: conv 0 of 40, the bias is forgotten",
    ),
)


@pytest.mark.parametrize(("wrong", "fault"), FALSE)
def test_a_claim_that_is_false_is_found(bench, course, wrong, fault):
    honest = (wrong,) if isinstance(wrong, Honest) else ()
    variants = () if honest else (wrong,)
    *_, claim = claims(dataclasses.replace(course, variants=variants, honest=honest))

    assert claim.fault(bench.results(claim.sources, claim.tasks)) == fault


def test_a_starter_that_scores_is_found(bench, course):
    _, starter, *_ = claims(course)

    fault = starter.fault(bench.results({}, starter.tasks))

    assert fault.startswith("it should have no points: conv 40 of 40; detector 40 of 40;")


CONV = "grader/mistakes/conv.py"
COMMENT = ("solution/detector.py", "# (B, D, W, K)", "# of the signals")


@pytest.mark.parametrize(
    ("arguments", "file", "old", "new"),
    [
        ("prove", "grader/exercises/conv.py", "sizes=MAIN", "sizes=OTHER"),
        ("prove", CONV, "bias_forgotten: ", "no_bias: "),
        ("prove --references reference_outputs", *COMMENT),
        ("release", *COMMENT),
        ("gradescope --references reference_outputs", *COMMENT),
        ("class starter", *COMMENT),
        ("check solution", *COMMENT),
    ],
)
def test_references_that_are_not_of_this_assignment_are_said_first(copy, arguments, file, old, new):
    edit(copy / file, old, new)

    said = called(copy, *arguments.split())

    older = f"is older than {file.split('/')[0]}; run `tensormark references`"
    assert older in (said.stdout if "check" in arguments else said.stderr)
    assert said.returncode == (0 if "check" in arguments else 2)


def test_a_mistake_that_cannot_be_named_is_said_with_the_reason(copy):
    edit(copy / CONV, "- + self.bias[:, None]\n    +\n", "- self.bias[\n    + self.bais[\n")

    assert (
        "it has no name, as it raises wherever it is wrong: " in called(copy, "try", "conv").stdout
    )


def test_mistakes_in_two_exercises_may_have_one_id(copy):
    edit(copy / "grader/mistakes/detector.py", "mean_over_windows", "bias_forgotten")
    assert called(copy, "references").returncode == 0

    proof = called(copy, "prove")

    assert proof.returncode == 0
    assert proof.stdout.count("mistake bias_forgotten ") == 2


def test_the_command_marks_the_claims_that_are_false(copy):
    edit(copy / CONV, "- + self.bias[:, None]\n    +\n", "- windows,\n    + windows,\n")

    proof = called(copy, "prove")

    assert proof.returncode == 1
    assert [" ".join(line.split()) for line in proof.stdout.splitlines()] == [
        "solution passed 100/100",
        "starter not written yet 0/100",
        "honest one_window_at_a_time passed 80/80",
        "mistake last_window_missing failed 40/80 the last window is missing",
        "mistake patterns_reversed failed 40/80 the patterns are reversed",
        "! mistake bias_forgotten passed 80/80 it costs no points in conv: no probe detects it",
        "mistake mean_over_windows failed 40/80 windows are averaged",
    ]
