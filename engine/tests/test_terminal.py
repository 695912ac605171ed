"""The report on the terminal: its columns, its colours, and what it says to do next."""

import contextlib

import pytest

from tensormark.folder import find
from tensormark.grading import selected
from tensormark.intake.submission import SubmissionError
from tensormark.reports.model import next_step
from tensormark.reports.terminal import Report
from tensormark.result import Finding, Grade, Outcome, Result
from testkit import toy
from testkit.formats import Terminal
from testkit.resident import called

# --- on a terminal --------------------------------------------------------------------------------


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def output_of(terminal, *results):
    with contextlib.redirect_stdout(terminal), contextlib.redirect_stderr(terminal):
        report_on(*results)
    return terminal.getvalue()


def report_on(*results):
    report = Report()
    report.begin("Example", "mine", "process", [result.id for result in results])
    for result in results:
        report.result(result)
    report.end(Grade("starter", "process", list(results), mode="check"))


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
    terminal, monkeypatch, variable, value, encoding, row
):
    monkeypatch.setenv(variable, value)
    terminal.encoding = encoding

    text = output_of(terminal, PASSED, FAILED)

    assert row in text
    assert ("\x1b[0m" in text) is ("\x1b" in row)


def test_the_running_step_is_shown_and_erased(terminal):
    text = output_of(terminal, PASSED, FAILED)

    assert "  importing torch, then grading " in text
    assert "  grading layer\r\x1b[K" in text
    assert text.count("\r\x1b[K  ") * 2 == text.count("\r\x1b[K")


def test_the_progress_of_a_training_is_shown(terminal):
    with contextlib.redirect_stderr(terminal):
        Report().progress("fine-tuning", 5, 20)

    assert terminal.getvalue().endswith("fine-tuning: 25 %")


def test_without_a_terminal_a_step_is_said_once_however_long_it_takes(capsys, monkeypatch):
    monkeypatch.setattr("tensormark.reports.terminal.PROGRESS_SECONDS", -1.0)
    report = Report()

    for step in (5, 5, 6):
        report.progress("fine-tuning", step, 20)

    assert capsys.readouterr().err.count("step") == 2


# --- what to do next ------------------------------------------------------------------------------


UNWRITTEN = Result("embed", Outcome.NOT_WRITTEN, 0, 20, file="main.py")
TASK = Result("training", Outcome.FAILED, 0, 20, (Finding("too low"),), task=True)
EXTENSION = Result("adamw", Outcome.NOT_WRITTEN, 0, 10, bonus=True)


@pytest.mark.parametrize(
    ("results", "about", "expected"),
    [
        ([UNWRITTEN, FAILED], {}, "tensormark check --only layer"),
        ([UNWRITTEN], {}, "write embed in main.py, then tensormark check --only embed"),
        ([PASSED], {}, "tensormark grade"),
        ([PASSED], {"only": ["attention"]}, "tensormark check"),
        ([PASSED, EXTENSION], {"mode": "grade"}, "tensormark submit"),
        ([PASSED, TASK], {"mode": "grade"}, "tensormark grade --only training"),
        ([FAILED], {"submission": "a b.py"}, "tensormark check --only layer 'a b.py'"),
        ([FAILED], {"tier": "contained"}, None),
        ([FAILED], {"private": True}, None),
        ([Result("layer", Outcome.COULD_NOT_GRADE, None, 15), FAILED], {}, None),
        ([PASSED], {"mode": "grade", "submission": "submission.zip"}, None),
    ],
)
def test_the_next_step_follows_from_the_result(results, about, expected):
    usual = {"submission": "starter", "tier": "process", "mode": "check"}
    assert next_step(Grade(results=results, **(usual | about)).as_json()) == expected


def test_those_who_call_make_are_told_its_command(monkeypatch):
    monkeypatch.setenv("TENSORMARK_MAKE", "1")
    result = Grade(submission="a b.py", tier="process", mode="check", results=[FAILED])

    assert next_step(result.as_json()) == "make check K=layer SUBMISSION='a b.py'"


# --- which exercises ----------------------------------------------------------------------------


def test_only_the_exercises_that_were_asked_for_are_shown(assignment):
    chosen, reported, _ = selected(assignment, True, "detector")

    assert [exercise.id for exercise in chosen] == ["conv", "detector"]  # which is upstream
    assert reported == ["detector"]


@pytest.mark.parametrize("only", ["conv,cnov", "", ",", "conv detection", "detctor", "x"])
def test_each_of_several_exercises_must_exist(assignment, only):
    words = r"did you mean detector\?" if only == "detctor" else "^--only"
    with pytest.raises(SubmissionError, match=words):
        selected(assignment, True, only)


# --- paths ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "check {folder}/wrong.py --json result.json",
        "report {folder}/wrong.py --out report.html --json result.json",
        "check wrong.py --references {folder}/nosuch",
        "references --seed 7",
        "release",
        "release --out {folder}/starter",
        "new {folder}/starter",
    ],
)
def test_a_path_below_the_current_folder_is_not_shown_from_the_root(
    copy, solution_source, line, monkeypatch
):
    monkeypatch.chdir(copy)
    (copy / "wrong.py").write_text(solution_source.replace(toy.BIAS, ""), "utf-8")
    name, *words = line.format(folder=copy).split()

    said = called(find(copy), name, *words)

    written = [
        path.read_text("utf-8")
        for path in (copy / "result.json", copy / "report.html")
        if path.is_file()
    ]
    assert said.stdout + said.stderr
    assert str(copy) not in "".join([said.stdout, said.stderr, *written])
