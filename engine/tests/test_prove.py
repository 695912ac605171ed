"""What an assignment claims is proved, and a claim that is false is found."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

import toy
from graded import ran
from tensormark.authoring.course import Course
from tensormark.authoring.prove import Bench, Claim, claims
from tensormark.authoring.variants import Honest, Variant


def claim(course: Course, name: str, **others: object) -> Claim:
    all_claims = claims(dataclasses.replace(course, **others))
    return next(candidate for candidate in all_claims if candidate.name == name)


def variant(name: str, exercise: str, *edit: str) -> Variant:
    return Variant(name, exercise, "A section", "it is wrong", (edit,), module="detector")


def test_a_new_assignment_claims_what_is_true(bench: Bench, course: Course) -> None:
    faults = {candidate.name: bench.fault(candidate) for candidate in claims(course)}

    assert list(faults) == [
        "solution",
        "starter",
        "honest[one_window_at_a_time]",
        "mistake[last_window_missing]",
        "mistake[patterns_reversed]",
        "mistake[bias_forgotten]",
        "mistake[mean_over_windows]",
    ]
    assert set(faults.values()) == {None}


# The class after the region is given code: a change of it costs both exercises.
WRONG = {
    "right": (
        variant("right", "conv", toy.BIAS, toy.BIAS + " * 1"),
        "it costs no points of conv: no probe detects it",
    ),
    "unknown": (
        variant("unknown", "conv", toy.BIAS, " + 2" + toy.BIAS),
        "it has no name: conv 0 of 40, conv gives a wrong output",
    ),
    "second_name": (
        variant("second_name", "conv", toy.BIAS, ""),
        "it is reported as bias_forgotten: conv 0 of 40, the bias is forgotten",
    ),
    "elsewhere": (
        dataclasses.replace(variant("elsewhere", "detector", toy.BIAS, ""), everywhere=True),
        "it costs other exercises: conv 0 of 40, the bias is forgotten",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_that_is_not_what_it_claims_is_found(
    bench: Bench, course: Course, name: str
) -> None:
    mistake, fault = WRONG[name]

    assert bench.fault(claim(course, f"mistake[{name}]", variants=(mistake,))) == fault


def test_honest_code_that_is_wrong_is_found(bench: Bench, course: Course) -> None:
    wrong = Honest("wrong", edits=((toy.BIAS, ""),), module="detector")

    fault = bench.fault(claim(course, "honest[wrong]", honest=(wrong,)))

    assert fault == "it loses points: conv 0 of 40, the bias is forgotten"


def test_a_starter_that_scores_is_found(bench: Bench, course: Course) -> None:
    starter = claim(course, "starter")

    fault = bench.fault(dataclasses.replace(starter, sources=dict))

    assert fault.startswith("it should have no points: conv 40 of 40; detector 40 of 40;")


# --- as a plugin of pytest ----------------------------------------------------------------------


def pytest_run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", *options]
    return ran(*command, cwd=folder)


def test_pytest_proves_what_is_true_and_reports_a_false_claim_in_one_line(copy: Path) -> None:
    mistakes = copy / "grader" / "mistakes" / "conv.py"
    text = mistakes.read_text("utf-8").replace(
        "- + self.bias[:, None]\n    +\n", "- windows,\n    + windows,\n"
    )
    mistakes.write_text(text, encoding="utf-8")

    completed = pytest_run(copy, "--assignment", ".", "-k", "starter or bias_forgotten", "-v")

    assert completed.returncode == 1
    assert "collected 7 items / 5 deselected / 2 selected" in completed.stdout
    assert "assignment::starter PASSED" in completed.stdout
    line = "mistake[bias_forgotten]: it costs no points of conv: no probe detects it"
    assert line in completed.stdout
    assert "Traceback" not in completed.stdout


def test_pytest_names_a_folder_without_an_assignment(tmp_path: Path) -> None:
    completed = pytest_run(tmp_path, "--assignment", ".")

    assert completed.returncode == 2
    assert f"{tmp_path}: there is no grader/assignment.py here" in completed.stdout


def test_pytest_without_the_option_collects_no_claims(folder: Path) -> None:
    assert pytest_run(folder).returncode == 5  # no tests
