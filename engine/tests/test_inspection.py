"""Sources are parsed once, in a process with limits; their faults are explained to the student."""

import sys
import time
from pathlib import Path

import pytest
from test_door import MARKS

from tensormark.intake import door, limited
from tensormark.intake.door import DOOR, InspectionError
from tensormark.intake.inspection import inspected, inspected_here
from tensormark.intake.submission import Submission
from tensormark.intake.texts import MAX_SOURCE

import toy
from graded import Grade, ran

RIGHT = "import torch\n"


def inspect(**sources: str) -> Submission:
    return inspected(Submission("x", sources, {}))


# --- sources that are expensive to parse ------------------------------------------------------

EXPENSIVE = {
    "identifier": "a" + MARKS * 12_000 + " = 1\n",
    "operators": "x = " + "-".join("1" * 120_000) + "\n",
    "parentheses": "x = " + "(" * 120_000 + ")" * 120_000 + "\n",
    "lists": "x = " + "[" * 190 + "]" * 190 + "\n" + "y = " + "[" * 100_000 + "\n",
    "attributes": "x" + ".a" * 120_000 + "\n",
    "minus": "x = " + "-" * 200_000 + "1\n",
    "f-strings": "x = " + "f'{1}' " * 35_000 + "\n",
    "targets": "a=" * 100_000 + "1\n",
    "names used": "a=" * 30_000 + "[" + "a," * 30_000 + "]\n",
    "digits": "x = " + "9" * 250_000 + "\n",
    "constants": "x = " + "((2 ** 63) ** 63) ** 63 * 'a', " * 7_000 + "\n",
    "blocks": "".join(f"{' ' * level}if 1:\n" for level in range(99)) + " " * 99 + "x\n",
    "decorators": "@x\n" * 80_000 + "def f(): pass\n",
    "lambdas": "x = " + "lambda: " * 30_000 + "1\n",
    "null": "x = 1\n\0\n",
    "all the parser's memory": "x = (" + "a,b," * (MAX_SOURCE // 4 - 10) + ")\n" + "x = (a,\n",
}


@pytest.mark.parametrize("name", EXPENSIVE)
def test_no_source_costs_the_grader_more_than_reading_it(name: str) -> None:
    source = EXPENSIVE[name]
    assert len(source.encode()) <= MAX_SOURCE
    seconds_before = time.process_time()

    submission = inspect(main=source, optimizer=RIGHT)

    assert time.process_time() - seconds_before < 0.5
    assert "optimizer" not in submission.faults
    assert submission.sources["optimizer"] == RIGHT


def test_no_source_is_blamed_for_the_time_of_those_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = {"fault": "", "hints": {}}
    answers = [door.Answer([right], False, 0.4), door.Answer([], False, 0.2)]
    answers.append(door.Answer([right], True, 0.01))
    asked = []

    def ask(job: str, seconds: float, request: dict) -> door.Answer:
        asked.append([*request["sources"]])
        return answers[len(asked) - 1]

    monkeypatch.setattr(DOOR, "ask", ask)

    submission = inspect(main=RIGHT, optimizer="slow", training=RIGHT)

    assert asked == [["main", "optimizer", "training"], ["optimizer", "training"], ["training"]]
    assert submission.faults == {"optimizer": "optimizer.py: too complex to be read"}


def test_a_submission_that_cannot_be_read_fails_with_its_file_named(
    grade: Grade, tmp_path: Path
) -> None:
    path = tmp_path / toy.MAIN
    path.write_text(EXPENSIVE["minus"], encoding="utf-8")

    graded = grade(path)

    assert set(graded.outcomes().values()) == {"failed"}
    assert f"{toy.MAIN}: too complex to be read" in graded.exercise("conv")["message"]


# --- what is found ----------------------------------------------------------------------------


def test_the_other_process_finds_the_same_as_this_one(solution_source: str) -> None:
    sources = {"main": f"{solution_source}\nimport os\n", "model": solution_source}
    sources["optimizer"] = "def"
    submission = Submission("x", sources, {})

    in_other_process, in_this_process = inspected(submission), inspected_here(submission)

    assert in_other_process == in_this_process
    assert in_other_process.faults.keys() == {"optimizer"}


def test_warnings_about_a_source_are_not_printed() -> None:
    source = "x = 1 is 1\ny = '\\d'\nz = () ()\n# \x1b[31m\n"
    code = (
        "from tensormark.intake.inspection import inspected\n"
        "from tensormark.intake.submission import Submission\n"
        f"print(inspected(Submission('x', {{'main': {source!r}}}, {{}})).faults)\n"
    )

    completed = ran(sys.executable, "-W", "always", "-c", code)

    assert (completed.stdout, completed.stderr) == ("{}\n", "")


def test_an_inspector_that_does_not_start_costs_no_points(
    grade: Grade, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "LIMITED", tmp_path / "missing.py")
    DOOR.close()

    with pytest.raises(InspectionError, match=r"cannot be read by missing\.py"):
        inspect(main=RIGHT)
    assert set(grade("solution").outcomes().values()) == {"could not grade"}


def test_the_inspector_starts_without_numpy_and_torch() -> None:
    script = Path(limited.__file__)
    code = (
        f"import runpy, sys; sys.path.append({str(script.parents[2])!r})\n"
        f"runpy.run_path({str(script)!r})\n"
        "print('numpy' in sys.modules)"
    )

    assert ran(sys.executable, "-I", "-c", code).stdout == "False\n"


# --- what a student is told -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (
            "def f(x):\n    return (x + 1))\n",
            ["main.py:2: unmatched ')'", "    return (x + 1))", "                  ^"],
        ),
        (
            "x = 1\n<<<<<<< HEAD\nx = (2\n=======\nx = 3\n>>>>>>> theirs\n",
            ["main.py:2: invalid syntax", "    <<<<<<< HEAD", "    ^", "a merge left its markers"],
        ),
        (
            "x = (\n<<<<<<< HEAD\n1)\n>>>>>>> theirs\n",
            ["main.py:2: invalid syntax", "    <<<<<<< HEAD", "    ^", "a merge left its markers"],
        ),
        ("!pip install torch\n", ["main.py:1: invalid syntax", *2 * [""], "a notebook command"]),
        ("%matplotlib inline\n", ["main.py:1: invalid syntax", *2 * [""], "a notebook command"]),
        ("x = “a”\n", ["main.py:1: invalid character", *2 * [""], "typographic quotes"]),
        (
            "x = \u20131\n",
            ["main.py:1: invalid character", *2 * [""], "not the character of the same"],
        ),
        ("```python\n", ["main.py:1: invalid syntax", *2 * [""], "the mark of a block of code"]),
        (">>> x = 1\n", ["main.py:1: invalid syntax", *2 * [""], "a prompt of an interactive"]),
        pytest.param(
            "type X = int\n",
            ["main.py:1: invalid syntax", *2 * [""], "a newer Python may allow this"],
            marks=pytest.mark.skipif(sys.version_info >= (3, 12), reason="it is allowed"),
        ),
        ("x = 1\n\ufeffy = 2\n", ["main.py:2: invalid non-pr", "    ?y = 2", "", "an invisible"]),
        ("x\u00a0= 2\n", ["main.py:1: invalid non-printable", *2 * [""], "an invisible character"]),
        (
            "if 1:\n\tx = 1\n        y = 2\n",
            ["main.py:3: inconsistent use of tabs", *2 * [""], "tabs and spaces are mixed"],
        ),
        ("print 'a'\n", ["main.py:1: Missing parentheses", *2 * [""], "this is Python 2"]),
        ("x = 1\nreturn x\n", ["main.py:2: 'return' outside function", "    return x", "    ^"]),
        ('{"cells": [], "metadata": {}}\n', ["main.py: a notebook and not Python source"]),
        ("x = '\x1b[31m\n", ["main.py:1: unterminated string", "    x = '?[31m", "        ^"]),
    ],
)
def test_a_syntax_error_shows_the_line_and_names_its_usual_cause(
    source: str, lines: list[str]
) -> None:
    shown_lines = inspect(main=source).faults["main"].split("\n")

    assert len(shown_lines) == len(lines), shown_lines
    for line, expected in zip(shown_lines, lines, strict=True):
        assert expected in line
        assert line.isprintable()
        assert len(line) < 120


def test_a_long_line_is_shown_around_the_error(grade: Grade, tmp_path: Path) -> None:
    path = tmp_path / toy.MAIN
    path.write_text("x = [" + "1, " * 5_000 + "oops oops, " + "2, " * 2_000 + "]\n", "utf-8")

    graded = grade(path)

    assert "1, 1, oops oops" in graded.output
    lines = [line for line in graded.output.split("\n") if str(path) not in line]
    assert max(map(len, lines)) < 120
