"""Why a function counts as not written: what is left of its hole."""

import ast
import textwrap

import pytest

from tensormark.intake.leftovers import MOST, hints

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
        (
            f'"""Doc.\n\ny = x\nreturn y\n"""\n{STUB}',
            "your code is inside the docstring, which ends",
        ),
        (f'"""Returns what x is.\n\nReturn x.\nreturn to the start\n"""\n{STUB}', None),
        (STUB, None),
        ("return x", None),
        ("raise ValueError\nreturn x", None),
        (f"if x:\n    {STUB}\nreturn x", None),
    ],
)
def test_a_hint_says_what_keeps_a_function_from_being_written(body: str, hint: str | None) -> None:
    source = "def f(x):\n" + textwrap.indent(body, "    ")

    found = hints(ast.parse(source)).get("f")

    assert found is None if hint is None else (found or "").startswith(hint)


@pytest.mark.parametrize(
    ("first", "second", "hint"),
    [
        ("return x", STUB, "it is defined again on line 6, and Python uses the last one"),
        (STUB, "return x", None),
        (STUB, STUB, None),
    ],
)
def test_a_stub_further_down_is_found(first: str, second: str, hint: str | None) -> None:
    found = hints(ast.parse(METHODS.format(first=first, second=second))).get("Layer.f")

    assert found is None if hint is None else (found or "").startswith(hint)


def test_hints_are_few_and_short() -> None:
    name = "f" * 1000
    source = "\n".join(f"def {name}{n}(x):\n    {STUB}\n    return x" for n in range(100))

    found = hints(ast.parse(source))

    assert len(found) <= MOST
    assert max(map(len, [*found, *found.values()])) <= 100
