"""Tests of single changes to a function: what is shown is what runs, and the rest is unchanged."""

import ast

import pytest

from tensormark.viva.copies import UnfitError
from tensormark.viva.edits import changes
from tensormark.viva.source import Change, Source

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
            print(n + 1, text)
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


class Unwrapped(ast.NodeTransformer):
    """Leaves out the calls of LEFT_OUT."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        left_out = isinstance(node.func, ast.Name) and node.func.id == "LEFT_OUT"
        return self.visit(node.args[0]) if left_out else self.generic_visit(node)


def applied_by_hand(source: Source, change: Change) -> str:
    """Apply by hand, to the line as a listing shows it, what a question says of a change."""
    lines, mark = [line.expandtabs(4) for line in source.lines], change.mark
    line = lines[mark.line - 1]
    place = line[mark.start : mark.end]
    replacements = {"detach": f"{place}.detach()", "unwrap": "LEFT_OUT", "statement": "pass"}
    new = replacements.get(change.kind, change.shown)
    lines[mark.line - 1] = line[: mark.start] + new + line[mark.end :]
    return ast.dump(Unwrapped().visit(ast.parse("\n".join(lines))))


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"], ids=ascii)
@pytest.mark.parametrize(
    ("text", "target"),
    [
        (ODD, "Outer.Inner.größe"),
        (ODD, "Outer.Inner.flat"),
        (KINDS, "f"),
        (KINDS.replace("    ", "\t"), "f"),
    ],
)
def test_a_change_runs_as_the_question_describes_it(text: str, target: str, ends: str) -> None:
    source = Source(text.replace("\n", ends), target)
    lines, all_changes = text.split("\n"), changes(source)

    assert len({change.text for change in all_changes} | {text}) == len(all_changes) + 1
    for change in all_changes:
        place, after = change.line - 1, change.text.split("\n")
        assert after[:place] + after[place + 1 :] == lines[:place] + lines[place + 1 :]
        assert ast.dump(ast.parse(change.text)) == applied_by_hand(source, change)


def test_only_what_runs_and_computes_is_changed() -> None:
    source = Source(ODD, "Outer.Inner.größe")

    assert {change.line for change in changes(source)} == {30, 31, 32, 33, 38, 39}
    assert source.listing()[0] == (25, "        def größe(self, été, n=3):")
    assert [number for number, _ in source.listing()] == [25, *range(30, 41)]


def lines_of(source: Source) -> set[tuple[str, str, str]]:
    """Return the kind of each change, its line as it is, and as changed."""
    pairs = ((change, change.text.split("\n")[change.line - 1]) for change in changes(source))
    return {(c.kind, source.lines[c.line - 1].strip(), line.strip()) for c, line in pairs}


def test_every_kind_of_change_is_made() -> None:
    product, sums = "y = x @ y.mT / 2", "z = (x - y) * 0.5 + torch.sqrt(x + y)"
    mean, loop = "z = z.mean(dim=-1, keepdim=False)", "for layer in self.layers: "
    changed_lines = lines_of(Source(KINDS, "f"))

    assert changed_lines >= {
        ("number", f"if n == 3: {mean}", "if n == 3: z = z.mean(dim=-2, keepdim=False)"),
        ("flag", f"if n == 3: {mean}", "if n == 3: z = z.mean(dim=-1, keepdim=True)"),
        ("comparison", f"if n == 3: {mean}", f"if n != 3: {mean}"),
        ("argument", f"if n == 3: {mean}", "if n == 3: z = z.mean(dim=-1)"),
        ("call", f"if n == 3: {mean}", "if n == 3: z = z"),
        ("operator", sums, "z = (x + y) * 0.5 + torch.sqrt(x + y)"),
        ("order", product, "y = y.mT @ x / 2"),
        ("operand", product, "y = x @ y.mT"),
        ("form", product, "y = (x / 2) @ y.mT"),
        ("form", sums, "z = (x - y) * 0.5 + ((x + y) ** 0.5)"),
        ("nesting", sums, "z = (x - y) * 0.5 + (torch.sqrt(x) + y)"),
        ("name", product, "y = x @ x.mT / 2"),
        ("name", "z += self.dropout(self.norm(y))", "z += self.norm(self.norm(y))"),
        ("unwrap", "z += self.dropout(self.norm(y))", "z += self.dropout(y)"),
        ("nesting", "z += self.dropout(self.norm(y))", "z += self.norm(self.dropout(y))"),
        ("detach", "z += self.dropout(self.norm(y))", "z += self.dropout(self.norm(y).detach())"),
        ("statement", "z += self.dropout(self.norm(y))", "pass"),
        ("arguments", f"{loop}z = layer(z, x)", f"{loop}z = layer(x, z)"),
        ("loop", f"{loop}z = layer(z, x)", "for layer in self.layers[::-1]: z = layer(z, x)"),
    }


def test_names_are_replaced_by_names_that_have_a_value_of_the_same_kind() -> None:
    all_changes = changes(Source(KINDS, "f"))

    exchanged = {(change.line, change.shown) for change in all_changes if change.kind == "name"}
    assert (3, "z") not in exchanged  # has no value yet
    assert not {shown for _, shown in exchanged} & {"a", "b"}  # are sizes
    assert not [
        change for change in all_changes if change.kind == "statement" and change.line in (4, 5)
    ]


@pytest.mark.parametrize(
    "text",
    ["def f(x): return x + 1", "def f(x):\n\ty = x\n\treturn y + 1", "def f(x): x += 1; return x"],
)
def test_a_statement_is_put_before_another(text: str) -> None:
    source, names = Source(text, "f"), dict[str, object]()

    exec(source.before(source.body[-1], "return (x, 7)"), names)
    assert names["f"](0) in ((0, 7), (1, 7))
    exec(source.beginning_with("x = 5"), names)
    assert names["f"](0) == 6


@pytest.mark.parametrize("target", ["g", "C.f", "f.g", "C"])
def test_a_function_that_does_not_exist_is_an_error(target: str) -> None:
    with pytest.raises(ValueError, match="no function"):
        Source("def f(x):\n    return x\nclass C:\n    pass\n", target)


def test_a_few_long_lines_do_not_fill_the_memory() -> None:
    names = [f"v{number}" for number in range(300)]
    bound, read = "; ".join(f"{name} = x" for name in names), ", ".join(names)
    text = f"def f(x):\n    {bound}\n    return [{read}]\n# {'x' * 200_000}\n"
    with pytest.raises(UnfitError):
        changes(Source(text, "f"))
