"""Single changes of a function: what is shown is what runs, and nothing else is changed."""

import ast

import pytest

from tensormark.viva.edits import changes
from tensormark.viva.source import Source

INNER = '''
    class Inner:
        @decorated
        def größe(self, été, n=3):
            """Return “something” über alles.

            In two paragraphs.
            """
            ß = été.view(2, -1)  # «größer», (2, n): ß
            if n > 2: ß = ß + été.sum(dim=-1, keepdim=True) * 0.5; n = n - 1
            for k in self.kept:
                ß = k(ß) + n
            text = f"{ß.shape[0] + 1} of them"
            assert text != "none", f"{n + 2}"
            return torch.softmax(
                ß / 2,
                dim=-1,
            )

        def flat(self, x): return x * 2 + 1
'''
ODD = f"class Outer:{INNER}{INNER}"  # the last one counts
KINDS = """
def f(self, x, y, n, flag=True):
    y = x @ y.mT / 2
    a, b = x.shape
    z = (x - y) * 0.5 + torch.sqrt(x + y)
    if n == 3: z = z.mean(dim=-1, keepdim=False)
    for layer in self.layers: z = layer(z, x)
    z += self.dropout(self.norm(y))
    return z.transpose(1, 7)
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"], ids=ascii)
@pytest.mark.parametrize(
    ("text", "target"), [(ODD, "Outer.Inner.größe"), (ODD, "Outer.Inner.flat"), (KINDS, "f")]
)
def test_what_is_shown_is_what_runs(text: str, target: str, ends: str) -> None:
    source = Source(text.replace("\n", ends), target)
    lines, found = text.split("\n"), changes(source)

    assert len({change.text for change in found} | {text}) == len(found) + 1
    for change in found:
        place, after = change.line - 1, change.text.split("\n")
        assert lines[place].count(change.before) == 1
        assert after[place] == lines[place].replace(change.before, change.after or "pass")
        assert after[:place] + after[place + 1 :] == lines[:place] + lines[place + 1 :]
        begun = "\n".join(after[change.statement - 1 :])
        assert change.changed_line in begun
        ast.parse(change.text)


def test_only_what_runs_and_computes_is_changed() -> None:
    source = Source(ODD, "Outer.Inner.größe")

    places = {(change.line, change.before) for change in changes(source)}

    assert {line for line, _ in places} == {29, 30, 31, 32, 36, 37}
    assert source.listing()[0] == (24, "        def größe(self, été, n=3):")
    assert [number for number, _ in source.listing()] == [24, *range(29, 39)]


def test_every_kind_of_change_is_made() -> None:
    made = {(change.kind, change.before, change.after) for change in changes(Source(KINDS, "f"))}

    for expected in (
        ("number", "-1", "-2"),
        ("flag", "False", "True"),
        ("operator", "x + y", "x - y"),
        ("order", "x @ y.mT", "y.mT @ x"),
        ("operand", "x @ y.mT / 2", "x @ y.mT"),
        ("form", "x @ y.mT / 2", "(x / 2) @ y.mT"),
        ("form", "torch.sqrt(x + y)", "((x + y) ** 0.5)"),
        ("call", "self.dropout(self.norm(y))", "self.norm(y)"),
        ("arguments", "layer(z, x)", "layer(x, z)"),
        ("argument", "z.mean(dim=-1, keepdim=False)", "z.mean(dim=-1)"),
        ("nesting", "torch.sqrt(x + y)", "(torch.sqrt(x) + y)"),
        ("nesting", "self.dropout(self.norm(y))", "self.norm(self.dropout(y))"),
        ("comparison", "n == 3", "n != 3"),
        ("name", "y.mT", "x.mT"),
        ("name", "self.norm", "self.dropout"),
        ("detach", "self.norm(y)", "self.norm(y).detach()"),
        ("loop", "self.layers", "self.layers[::-1]"),
        ("statement", "z += self.dropout(self.norm(y))", ""),
    ):
        assert expected in made


def test_names_are_exchanged_for_what_has_a_value_and_is_of_the_same_sort() -> None:
    made = {(c.line, c.before, c.after) for c in changes(Source(KINDS, "f")) if c.kind == "name"}

    assert (3, "y.mT", "z.mT") not in made  # has none yet
    assert not {after for _, _, after in made} & {"a", "b", "a.mean", "b.mean"}  # are sizes
    assert not [
        c for c in changes(Source(KINDS, "f")) if c.kind == "statement" and c.line in (4, 5)
    ]


@pytest.mark.parametrize(
    "text",
    ["def f(x): return x + 1", "def f(x):\n\ty = x\n\treturn y + 1", "def f(x): x += 1; return x"],
)
def test_a_statement_is_put_before_another(text: str) -> None:
    source, names = Source(text, "f"), dict[str, object]()

    exec(source.returning(source.body[-1], "(x, 7)"), names)
    assert names["f"](0) in ((0, 7), (1, 7))  # type: ignore[operator]
    exec(source.beginning_with("x = 5"), names)
    assert names["f"](0) == 6  # type: ignore[operator]


@pytest.mark.parametrize("target", ["g", "C.f", "f.g", "C"])
def test_what_is_not_there_is_not_found(target: str) -> None:
    with pytest.raises(ValueError, match="no function"):
        Source("def f(x):\n    return x\nclass C:\n    pass\n", target)
