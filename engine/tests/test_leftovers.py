"""Why a function counts as not written: what is left of its hole."""

import ast
import textwrap

import pytest

from tensormark.intake.leftovers import UNFINISHED, hints

STUB = 'raise NotImplementedError("f")'
METHODS = """
class Layer:
    def f(self, x):
        {first}

    def f(self, x):
        {second}
"""
ABOVE = "above your code: delete"
BELOW = "below your code: return"
# bodies of f(x), and a part of what is said about them
BODIES = [
    (f"{STUB}\nreturn x", f"line 2 still raises NotImplementedError, {ABOVE}"),
    (f"y = x\n{STUB}\nreturn y", ABOVE),
    (f"y = None\n{STUB}\nz = x\n{STUB}", None),
    (f"{STUB}\nif x is None:\n    return\ny = x", None),
    (f'"""Doc.\n\ny = x\nreturn y\n"""\n{STUB}', "your code is inside the docstring"),
    (f'"""Returns what x is.\n\nReturn x.\nreturn to the start\n"""\n{STUB}', None),
    (STUB, None),
    (f"y = x + 1\n{STUB}", f"line 3 still raises NotImplementedError, {BELOW}"),
    (f'"""Doc."""\n"""y = x"""\n{STUB}', None),
    (f"if x is None:\n    x = 1\n{STUB}", None),
    (f"if x is None:\n    x = 1\ny = x\n{STUB}", BELOW),
    ("return x", None),
    ("raise ValueError\nreturn x", None),
    (f"if x:\n    {STUB}\nreturn x", None),
    ("if x is None:\n    x = 1\npass", UNFINISHED),
    ('"""Doc."""\n...\nreturn None', UNFINISHED),
    ("y = None\nz = x.size()", UNFINISHED),
    ("y = None\ny = x + 1", None),
    ("y = None\nreturn y", None),
    ("x += 1", None),
    ("x.sort()", None),
]
SOURCES = [
    *(("def f(x):\n" + textwrap.indent(body, "    "), hint) for body, hint in BODIES),
    (METHODS.format(first="return x", second=STUB), "it is defined again on line 6"),
    (METHODS.format(first=STUB, second=STUB), None),
    (METHODS.format(first="...", second=STUB), None),
    (f"@overload\ndef f(x: int):\n    return int\n\ndef f(x):\n    {STUB}", None),
    (f"@property\ndef f(x):\n    return x\n\n@f.setter\ndef f(x):\n    {STUB}", None),
]


@pytest.mark.parametrize(("source", "hint"), SOURCES)
def test_a_hint_says_why_a_function_counts_as_not_written(source, hint):
    found = list(hints(ast.parse(source)).values())

    assert len(found) == (hint is not None)
    assert all(str(hint) in each for each in found)
