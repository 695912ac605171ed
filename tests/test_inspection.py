"""Sources are parsed once, in a process with limits; what is wrong is said to the student."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from grader.grading import Grading
from grader.intake import door
from grader.intake.door import DOOR, InspectionError
from grader.intake.inspection import inspected, inspected_here
from grader.intake.inspector import LISTED
from grader.intake.submission import Submission
from grader.intake.texts import MAX_SOURCE
from grader.result import Outcome
from grader.settings import Settings

from conftest import ROOT, Grade

RIGHT = "import torch\n"


def of(**sources: str) -> Submission:
    return inspected(Submission("x", sources, {}))


def fault(source: str) -> list[str]:
    return of(bert=source).faults["bert"].split("\n")


def seconds_of_this_process() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


# --- what costs much to parse -----------------------------------------------------------------

MARKS = "".join(map(chr, (0x334, 0x327, 0x31B, 0x316, 0x301)))
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
}


@pytest.mark.parametrize("name", EXPENSIVE)
def test_no_source_costs_the_grader_more_than_reading_it(name: str) -> None:
    source = EXPENSIVE[name]
    assert len(source.encode()) <= MAX_SOURCE
    before = seconds_of_this_process()

    found = of(bert=source, optimizer=RIGHT)

    assert seconds_of_this_process() - before < 0.5
    assert "optimizer" not in found.faults
    assert found.sources["optimizer"] == RIGHT


@pytest.mark.parametrize("name", ["identifier", "minus", "attributes"])
def test_a_source_that_exceeds_the_limits_is_the_submissions_fault(name: str) -> None:
    assert fault(EXPENSIVE[name]) == ["bert.py: too complex to be read"]


def test_a_submission_that_cannot_be_read_fails_with_its_file_named(tmp_path: Path) -> None:
    path = tmp_path / "bert.py"
    path.write_text(EXPENSIVE["minus"], encoding="utf-8")

    made = Grading(Settings()).grade(str(path), check=True)

    assert {result.outcome for result in made.results if not result.bonus} == {Outcome.FAILED}
    assert made.results[0].findings[0].details == ("bert.py: too complex to be read",)


def test_a_source_that_uses_all_the_parsers_memory_is_its_own_fault_only() -> None:
    names = "x = (" + "a,b," * (MAX_SOURCE // 4 - 10) + ")\n"

    found = of(bert=names + names[: MAX_SOURCE - len(names)], optimizer=RIGHT)

    assert set(found.faults) <= {"bert"}
    assert found.sources["optimizer"] == RIGHT


# --- what is found ----------------------------------------------------------------------------


def test_what_is_found_in_the_other_process_is_what_is_found_here() -> None:
    sources = {path.stem: path.read_text("utf-8") for path in (ROOT / "solution").glob("*.py")}
    own = {name: sources[name] for name in ("bert", "transformer", "optimizer", "pretraining")}
    own["bert"] += "\nimport os\n"
    own["optimizer"] = "def"
    submission = Submission("x", own, {})

    there, here = inspected(submission), inspected_here(submission)

    assert there == here
    assert [one.name for one in there.flags["bert"]] == ["import os"]
    assert there.faults.keys() == {"optimizer"}


def test_of_a_thousand_flags_only_the_first_are_listed_with_short_names() -> None:
    source = "import os\n" * 1000 + f"import os.{'x' * 1000}\n" + "x.__dict__\n"

    flags = of(bert=f"import os.{'x' * 1000}\n" + source).flags["bert"]

    assert len(flags) == LISTED
    assert max(len(flag.name) for flag in flags) < 100


def test_warnings_about_a_source_are_not_printed() -> None:
    source = "x = 1 is 1\ny = '\\d'\nz = () ()\n# \x1b[31m\n"
    code = (
        "from grader.intake.inspection import inspected\n"
        "from grader.intake.submission import Submission\n"
        f"print(inspected(Submission('x', {{'bert': {source!r}}}, {{}})).faults)\n"
    )

    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], cwd=ROOT, capture_output=True, text=True
    )

    assert (done.stdout, done.stderr) == ("{}\n", "")


def test_an_inspector_that_does_not_start_costs_no_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "LIMITED", tmp_path / "missing.py")
    DOOR.close()

    with pytest.raises(InspectionError, match=r"cannot be read by missing\.py"):
        of(bert=RIGHT)
    made = Grading(Settings()).grade(str(ROOT / "solution" / "bert.py"), check=True)

    assert {result.outcome for result in made.results} == {Outcome.COULD_NOT_GRADE}


def test_the_inspector_starts_without_numpy_and_torch() -> None:
    script = ROOT / "grader" / "intake" / "limited.py"
    code = (
        f"import runpy, sys; sys.path.append({str(ROOT)!r}); runpy.run_path({str(script)!r});"
        "print('numpy' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout == "False\n"


# --- what a student is told -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (
            "def f(x):\n    return (x + 1))\n",
            ["bert.py:2: unmatched ')'", "    return (x + 1))", "                  ^"],
        ),
        (
            "x = 1\n<<<<<<< HEAD\nx = (2\n=======\nx = 3\n>>>>>>> theirs\n",
            ["bert.py:2: invalid syntax", "    <<<<<<< HEAD", "    ^", "a merge left its markers"],
        ),
        (
            "x = (\n<<<<<<< HEAD\n1)\n>>>>>>> theirs\n",
            ["bert.py:2: invalid syntax", "    <<<<<<< HEAD", "    ^", "a merge left its markers"],
        ),
        ("!pip install torch\n", ["bert.py:1: invalid syntax", *2 * [""], "a notebook's command"]),
        ("%matplotlib inline\n", ["bert.py:1: invalid syntax", *2 * [""], "a notebook's command"]),
        ("x = “a”\n", ["bert.py:1: invalid character", *2 * [""], "typographic quotes"]),
        ("x = 1\n\ufeffy = 2\n", ["bert.py:2: invalid non-pr", "    ?y = 2", "", "an invisible"]),
        ("x\u00a0= 2\n", ["bert.py:1: invalid non-printable", *2 * [""], "an invisible character"]),
        (
            "if 1:\n\tx = 1\n        y = 2\n",
            ["bert.py:3: inconsistent use of tabs", *2 * [""], "tabs and spaces are mixed"],
        ),
        ("print 'a'\n", ["bert.py:1: Missing parentheses", *2 * [""], "this is Python 2"]),
        ("x = 1\nreturn x\n", ["bert.py:2: 'return' outside function", "    return x", "    ^"]),
        ('{"cells": [], "metadata": {}}\n', ["bert.py: a notebook and not Python source"]),
        ("x = '\x1b[31m\n", ["bert.py:1: unterminated string", "    x = '?[31m", "        ^"]),
    ],
)
def test_a_syntax_error_shows_the_line_and_names_its_usual_cause(
    source: str, lines: list[str]
) -> None:
    found = fault(source)

    assert len(found) == len(lines), found
    for got, expected in zip(found, lines, strict=True):
        assert expected in got
        assert got.isprintable()
        assert len(got) < 120


def test_a_long_line_is_shown_around_the_place(grade: Grade, tmp_path: Path) -> None:
    path = tmp_path / "bert.py"
    path.write_text("x = [" + "1, " * 50_000 + "oops oops, " + "2, " * 20_000 + "]\n", "utf-8")

    graded = grade(path)

    assert "1, 1, oops oops" in graded.output
    lines = [line for line in graded.output.split("\n") if str(path) not in line]
    assert max(map(len, lines)) < 120
