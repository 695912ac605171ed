"""Why a function counts as not written: what is left of its hole."""

import ast
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from tensormark.grading import hint_of
from tensormark.intake.leftovers import hints
from tensormark.intake.submission import Submission
from testkit.trials import LAYER, assignment

STUB = 'raise NotImplementedError("f")'
METHODS = """
class Layer:
    def f(self, x):
        {first}

    def f(self, x):
        {second}
"""


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        (f"{STUB}\nreturn x", "line 2 still raises NotImplementedError, above your code: delete"),
        (f"y = x\n{STUB}\nreturn y", "line 3 still raises NotImplementedError, above your code"),
        (f"y = None\n{STUB}\nz = x\n{STUB}", None),
        (f"{STUB}\nif x is None:\n    return\ny = x", None),
        (
            f'"""Doc.\n\ny = x\nreturn y\n"""\n{STUB}',
            "your code is inside the docstring, which ends",
        ),
        (f'"""Returns what x is.\n\nReturn x.\nreturn to the start\n"""\n{STUB}', None),
        (STUB, None),
        (f"y = x + 1\n{STUB}", "line 3 still raises NotImplementedError, below your code: return"),
        (f'"""Doc."""\n"""y = x"""\n{STUB}', None),
        (f"if x is None:\n    x = 1\n{STUB}", None),
        (f"if x is None:\n    x = 1\ny = x\n{STUB}", "line 5 still raises"),
        ("return x", None),
        ("raise ValueError\nreturn x", None),
        (f"if x:\n    {STUB}\nreturn x", None),
    ],
)
def test_a_hint_says_why_a_function_counts_as_not_written(body: str, hint: str | None) -> None:
    source = "def f(x):\n" + textwrap.indent(body, "    ")

    result = hints(ast.parse(source)).get("f")

    assert result is None if hint is None else (result or "").startswith(hint)


@pytest.mark.parametrize(
    ("first", "second", "hint"),
    [
        ("return x", STUB, "it is defined again on line 6, and Python uses the last one"),
        (STUB, STUB, None),
        ("...", STUB, None),
    ],
)
def test_a_stub_further_down_is_found(first: str, second: str, hint: str | None) -> None:
    result = hints(ast.parse(METHODS.format(first=first, second=second))).get("Layer.f")

    assert result is None if hint is None else (result or "").startswith(hint)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("@typing.overload\ndef f(x: int):\n    return int", "def f(x):"),
        ("@property\ndef f(x):\n    return x", "@f.setter\ndef f(x):"),
    ],
)
def test_a_decorated_function_may_add_to_one_of_the_same_name(first: str, second: str) -> None:
    assert hints(ast.parse(f"{first}\n\n{second}\n    {STUB}")) == {}


@pytest.mark.parametrize(
    ("starter", "hint"),
    [
        ("class Layer:\n    def f(self, x):\n        y = x\n        raise NotImplementedError", ""),
        (METHODS.format(first=STUB, second=STUB), "line 9 still raises"),
        (None, "line 9 still raises"),
    ],
)
def test_a_leftover_that_the_starter_already_has_is_not_the_students(
    tmp_path: Path, starter: str | None, hint: str
) -> None:
    if starter is not None:
        (tmp_path / "starter").mkdir()
        source = starter.replace("def f", "def forward")
        (tmp_path / "starter" / "main.py").write_text(source, encoding="utf-8")
    text = "line 9 still raises NotImplementedError, below your code: return there"
    submission = Submission("main.py", {}, {}, hints={"main.Layer.forward": text})
    course = replace(assignment(LAYER), folder=tmp_path)

    result = hint_of(LAYER, submission, course)

    assert result.startswith(hint)
    assert bool(result) is bool(hint)
