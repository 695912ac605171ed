"""The report on the terminal: its columns, its colours, and what it says to do next."""

import contextlib

import numpy as np
import pytest

from tensormark.exercise import Assignment
from tensormark.grading import selected
from tensormark.intake.submission import SubmissionError
from tensormark.judging.compare import Tolerance, compare_values
from tensormark.reports.model import next_step
from tensormark.reports.terminal import Report
from tensormark.result import Finding, Grade, Outcome, Result
from testkit.formats import Terminal


def test_points_of_all_exercises_are_in_one_column(capsys) -> None:
    names = ["a_name_of_more_than_twenty_letters", "adamw"]
    report_on(*(Result(name, Outcome.PASSED, 5, 10, note="a note") for name in names), PASSED)

    lines = capsys.readouterr().out.splitlines()
    noted = [line for line in lines if "a note" in line]
    assert len({line.index("/10") for line in noted}) == 1
    assert len({line.index("a note") for line in noted}) == 1
    assert "\x1b" not in "".join(lines)
    assert lines[-1] == "  next: tensormark grade"


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_a_value_that_is_nearly_zero_has_no_sign(dtype: str) -> None:
    expected = np.array([-1e-5, 1.0])
    got = np.array([-3e-5 if dtype != "int64" else 3, 1.0]).astype(dtype)

    mismatch = compare_values("output", got, expected, Tolerance(0.0, 1e-6), {})

    assert mismatch.numbers.startswith("expected 0.0000, got ")
    assert "-0.0000" not in mismatch.numbers


# --- on a terminal --------------------------------------------------------------------------------


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def output_of(terminal: Terminal, *results: Result) -> str:
    with contextlib.redirect_stdout(terminal), contextlib.redirect_stderr(terminal):
        report_on(*results)
    return terminal.getvalue()


def report_on(*results: Result) -> None:
    report = Report()
    report.begin("Example", "mine", "process", [result.id for result in results])
    for result in results:
        report.result(result)
    report.end(Grade("starter", "process", list(results), mode="check"), "")


PASSED = Result("attention", Outcome.PASSED, 25, 25)
FAILED = Result("layer", Outcome.FAILED, 0, 15, (Finding("a headline"),), file="main.py")


@pytest.mark.parametrize(
    ("variable", "value", "encoding", "row"),
    [
        ("TERM", "xterm", "utf-8", "\x1b[1;31m✗ FAILED          \x1b[0m layer"),
        ("NO_COLOR", "1", "utf-8", "✗ FAILED           layer"),
        ("NO_COLOR", "1", "ascii", "  FAILED           layer"),
        ("TERM", "dumb", "utf-8", "  FAILED           layer"),
    ],
)
def test_a_verdict_has_a_colour_and_a_mark_where_these_are_wanted(
    terminal: Terminal, monkeypatch, variable: str, value: str, encoding: str, row: str
) -> None:
    monkeypatch.setenv(variable, value)
    terminal.encoding = encoding

    text = output_of(terminal, PASSED, FAILED)

    assert row in text
    assert ("\x1b[0m" in text) is ("\x1b" in row)


def test_the_running_step_is_shown_and_erased(terminal: Terminal) -> None:
    text = output_of(terminal, PASSED, FAILED)

    assert "  importing torch, then grading " in text
    assert "  grading layer\r\x1b[K" in text
    assert text.count("\r\x1b[K  ") * 2 == text.count("\r\x1b[K")


def test_seconds_left_are_shown_once_steps_have_been_timed(terminal: Terminal, monkeypatch) -> None:
    now = iter(range(100, 1000))
    monkeypatch.setattr("tensormark.reports.live.time.monotonic", lambda: next(now))
    with contextlib.redirect_stderr(terminal):
        report = Report()

    for step in range(1, 12):
        report.progress("fine-tuning", step, 20)

    assert "fine-tuning: 5 %" in terminal.getvalue()
    assert terminal.getvalue().endswith("fine-tuning: 9 s left")


# --- what to do next ------------------------------------------------------------------------------


UNWRITTEN = Result("embed", Outcome.NOT_WRITTEN, 0, 20, file="main.py")
TASK = Result("training", Outcome.FAILED, 0, 20, (Finding("too low"),), task=True)
EXTENSION = Result("adamw", Outcome.NOT_WRITTEN, 0, 10, bonus=True)


MAKE = True  # for those who call make
OWN = False  # for those who call tensormark itself


@pytest.mark.parametrize(
    ("make", "results", "about", "expected"),
    [
        (MAKE, [UNWRITTEN, FAILED], {}, "make check K=layer"),
        (MAKE, [UNWRITTEN], {}, "write embed in main.py, then make check K=embed"),
        (MAKE, [PASSED, FAILED], {}, "make check K=layer"),
        (MAKE, [PASSED], {}, "make grade"),
        (MAKE, [PASSED], {"only": ["attention"]}, "make check"),
        (MAKE, [PASSED, EXTENSION], {"mode": "grade"}, "make submit"),
        (MAKE, [PASSED, TASK], {"mode": "grade"}, "make grade K=training"),
        (MAKE, [FAILED], {"submission": "a b.py"}, "make check K=layer SUBMISSION='a b.py'"),
        (MAKE, [FAILED], {"tier": "contained"}, None),
        (MAKE, [FAILED], {"private": True}, None),
        (MAKE, [Result("layer", Outcome.COULD_NOT_GRADE, None, 15), FAILED], {}, None),
        (MAKE, [PASSED], {"mode": "grade", "submission": "submission.zip"}, None),
        (OWN, [UNWRITTEN], {}, "write embed in main.py, then tensormark check --only embed"),
        (OWN, [PASSED], {}, "tensormark grade"),
        (OWN, [FAILED], {"submission": "a b.py"}, "tensormark check --only layer 'a b.py'"),
    ],
)
def test_the_next_step_follows_from_the_result(
    monkeypatch, make: bool, results, about, expected: str | None
) -> None:
    if make:
        monkeypatch.setenv("TENSORMARK_MAKE", "1")

    usual = {"submission": "starter", "tier": "process", "mode": "check"}
    assert next_step(Grade(results=results, **(usual | about)).as_json()) == expected


# --- which exercises ----------------------------------------------------------------------------


def test_only_the_exercises_that_were_asked_for_are_shown(assignment: Assignment) -> None:
    chosen, reported, _ = selected(assignment, True, "detector")

    assert [exercise.id for exercise in chosen] == ["conv", "detector"]  # which is upstream
    assert reported == ["detector"]


@pytest.mark.parametrize("only", ["conv,cnov", "", ",", "conv detection", "detctor", "x"])
def test_each_of_several_exercises_must_exist(assignment: Assignment, only: str) -> None:
    words = r"did you mean detector\?" if only == "detctor" else "^--only"
    with pytest.raises(SubmissionError, match=words):
        selected(assignment, True, only)
