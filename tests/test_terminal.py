"""The report on the terminal: its columns."""

import numpy as np
import pytest

from grader.grading import Grading
from grader.judging.compare import Tolerance, compare_values
from grader.reports.terminal import Report
from grader.result import Outcome, Result
from grader.sandbox.interface import CapturedOutput, printable
from grader.settings import Settings


def rows(capsys: pytest.CaptureFixture[str], shown: list[str]) -> list[str]:
    """Return the lines of a report on these exercises."""
    report = Report()
    report.begin("minBERT", "mine", "process", shown)
    for name in shown:
        report.result(Result(name, Outcome.PASSED, 5, 10, note="a note"))
    return capsys.readouterr().out.splitlines()[2:]


@pytest.mark.parametrize(
    "shown",
    [
        ["attention", "embed"],
        ["attention", "adamw", "sinusoidal_positions"],
        ["a_name_of_more_than_twenty_letters", "adamw"],
    ],
)
def test_points_of_all_exercises_are_in_one_column(capsys, shown: list[str]) -> None:
    lines = rows(capsys, shown)

    assert len(lines) == len(shown)
    assert len({line.index("/10") for line in lines}) == 1
    assert len({line.index("a note") for line in lines}) == 1


class Begun(Exception):
    """Ends a grading at its first line."""


class Listing:
    """An observer that raises with the ids that are to be reported on."""

    def begin(self, assignment: str, submission: str, tier: str, shown: list[str]) -> None:
        raise Begun(*shown)


@pytest.mark.parametrize(
    ("submission", "only", "extension"),
    [("starter", None, False), ("solution", None, True), ("starter", "adamw", True)],
)
def test_names_of_extensions_take_no_room_unless_they_are_listed(
    submission: str, only: str | None, extension: bool
) -> None:
    with pytest.raises(Begun) as begun:
        Grading(Settings()).grade(submission, True, only, Listing())

    assert ("adamw" in begun.value.args) is extension


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_a_value_that_is_nearly_zero_has_no_sign(dtype: str) -> None:
    expected = np.array([-1e-5, 1.0])
    got = np.array([-3e-5 if dtype != "int64" else 3, 1.0]).astype(dtype)

    mismatch = compare_values("output", got, expected, Tolerance(0.0, 1e-6), {})

    assert mismatch is not None
    assert mismatch.lines[1].startswith("expected 0.0000, got ")
    assert "-0.0000" not in mismatch.lines[1]


def test_marks_are_not_piled_up_over_the_lines_around_them() -> None:
    pile, words = (
        "e" + 300 * "\u0301",
        "na\u0308i\u0308ve \u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd",
    )
    printed = CapturedOutput()
    printed.take(f"{words}\n{pile}x".encode())

    assert printed.text() == f"{words}\ne{4 * chr(0x301)}x"
    assert printable(pile) == "e" + 4 * "\u0301"
    assert printable(words) == words
