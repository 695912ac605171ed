"""Sources are decoded and parsed without being run, and their faults explained to the student."""

import re
import sys

import pytest

from tensormark.intake.needed import needed_by
from tensormark.intake.sources import MAX_SOURCE
from tensormark.intake.submission import Submission, inspected
from testkit.graded import ran
from testkit.packing import MARKS

RIGHT = "import torch\n"
EXPENSIVE = {
    "identifier": "a" + MARKS * 12_000 + " = 1\n",
    "operators": "x = " + "-".join("1" * 120_000) + "\n",
    "parentheses": "x = " + "(" * 120_000 + ")" * 120_000 + "\n",
    "lists": "x = " + "[" * 190 + "]" * 190 + "\n" + "y = " + "[" * 100_000 + "\n",
    "names used": "a=" * 30_000 + "[" + "a," * 30_000 + "]\n",
    "digits": "x = " + "9" * 250_000 + "\n",
    "blocks": "".join(f"{' ' * level}if 1:\n" for level in range(99)) + " " * 99 + "x\n",
    "decorators": "@x\n" * 80_000 + "def f(): pass\n",
    "null": "x = 1\n\0\n",
    "all the parser's memory": "x = (" + "a,b," * (MAX_SOURCE // 4 - 10) + ")\n" + "x = (a,\n",
}


def inspect(**sources):
    return inspected(Submission("x", sources, {}))


@pytest.mark.parametrize("name", EXPENSIVE)
def test_no_source_affects_the_other_files_however_expensive_it_is(name):
    submission = inspect(main=EXPENSIVE[name], optimizer=RIGHT)

    assert submission.faults.keys() <= {"main"}
    assert submission.sources["optimizer"] == RIGHT


def test_warnings_about_a_source_are_not_printed():
    source = "x = 1 is 1\ny = '\\d'\nz = () ()\n# \x1b[31m\n"
    code = (
        "from tensormark.intake.submission import Submission, inspected\n"
        f"print(inspected(Submission('x', {{'main': {source!r}}}, {{}})).faults)\n"
    )

    completed = ran(sys.executable, "-W", "always", "-c", code)

    assert (completed.stdout, completed.stderr) == ("{}\n", "")


@pytest.mark.parametrize(
    ("source", "line", "excerpt"),
    [
        ("x = 1\n\ufeffy = 2\n", 2, "    ?y = 2\n    ^"),
        ("x = '\x1b[31m\n", 1, "    x = '?[31m\n        ^"),
        ("if x\n", 1, "    if x\n        ^"),
    ],
)
def test_a_syntax_error_shows_its_line_without_control_characters(source, line, excerpt):
    first, shown, caret, *hint = inspect(main=source).faults["main"].split("\n")

    assert first.startswith(f"main.py:{line}: ")
    assert f"{shown}\n{caret}" == excerpt
    assert "".join([first, *hint]).isprintable()


@pytest.mark.parametrize(
    "source",
    [
        "type X = int\n",
        "def f[T](x: T): ...\n",
        'f"{x[\'a\']}{x["a"]}"\n',
        "f'{f\"{x}\\n\"}'\n",
        "f'''{x  # why\n}'''\n",
    ],
)
def test_syntax_that_the_oldest_python_lacks_is_said_by_every_python(source):
    submission = inspect(main="x = 1\n" + source)

    is_old = sys.version_info < (3, 12)
    (said,) = submission.faults.values() if is_old else submission.notes
    assert re.match("main.py:[23]: ", said)
    assert is_old or "3.11" in said


def test_syntax_that_the_oldest_python_has_needs_no_note():
    fields = "f'{x!r:>{w}}\\n{a[\"b\"]}' 'c\\n' f\"{x}\"\nf'''{\nx} {\"y\"}'''\n"

    submission = inspect(main=fields + "def f(*a: *T): ...\n")

    assert (submission.notes, submission.faults) == ((), {})


PROGRAM = {
    "main": "import torch\nfrom given import x",
    "given": "import os, sys",
    "other": "import torch.nn as nn, main as m",
    "alone": "# import main\ntext = 'from main import x'\n",
    "within": "def f():\n    from other import g\n",
    "circle": "import circle, within",
    "package": "",
    "package.part": "import given",
    "packaged": "from package.part import x",
}


def test_what_is_imported_is_needed_and_what_that_imports():
    needed = {name: needed_by(name, PROGRAM) for name in [*PROGRAM, "missing"]}

    assert needed["main"] == {"main", "given"}
    assert needed["other"] == {"other", "main", "given"}
    assert needed["alone"] == {"alone"}
    assert needed["within"] == {"within", "other", "main", "given"}
    assert needed["circle"] == {"circle", *needed["within"]}
    assert needed["packaged"] == {"packaged", "package", "package.part", "given"}
    assert needed["missing"] == {"missing"}
