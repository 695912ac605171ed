"""The handout's attention by hand: the solution computes each of its numbers."""

import math
import re

import pytest
import torch

from tests.helpers.attention_example import TOKENS, solved
from tests.helpers.handout import PAGES

SECTION = PAGES["handout/by-hand.md"]
EQUATIONS = re.findall(r"\$([^$]+=[^$]+)\$", SECTION)
EXAMPLE = solved()
ROUNDED = 0.003  # the error that numbers of three digits may bring into a result


def table(corner):
    """Return the columns of a table of the section, each with a vector for every token."""
    start = SECTION.index(f"| {corner} |")
    lines = SECTION[start:].partition("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [row[0] for row in rows[2:]] == list(TOKENS)
    columns = list(zip(rows[0], *rows[2:], strict=True))[1:]
    return {
        name: [[float(number) for number in cell.split(",")] for cell in cells]
        for name, *cells in columns
    }


def rounded(numbers):
    return [[round(number, 3) + 0.0 for number in row] for row in numbers.tolist()]


def both_heads(columns):
    return [a + b for a, b in zip(columns["head 0"], columns["head 1"], strict=True)]


def value(tex):
    """Evaluate one side of an equation."""
    code = re.sub(r"e\^\{([^}]*)\}", r"exp(\1)", tex)
    code = re.sub(r"\\sqrt\{([^}]*)\}", r"sqrt(\1)", code).replace(r"\cdot", "*")
    assert not set(re.findall(r"[a-z\\]+", code)) - {"exp", "sqrt"}, tex
    return float(eval(code, {"__builtins__": {}}, {"exp": math.exp, "sqrt": math.sqrt}))


def test_the_tables_have_the_vectors_of_the_example_and_of_the_solution():
    merged = table("returned")

    for head in (0, 1):
        columns = table(f"head {head}")
        for name in ("query", "key", "value"):
            assert columns[name] == getattr(EXAMPLE, name)[head].tolist()
    assert table("head 1")["output"] == merged["head 1"] == rounded(EXAMPLE.output[1])
    assert both_heads(merged) == rounded(EXAMPLE.merged)


@pytest.mark.parametrize("equation", EQUATIONS)
def test_both_sides_of_every_equation_are_equal(equation):
    left, right = map(value, equation.split("="))

    assert abs(left - right) < ROUNDED


def test_the_code_at_the_prompt_gives_the_table():
    *lines, last = re.findall(r"^    >>> (.*)$", SECTION, re.MULTILINE)
    names = {}

    exec("\n".join(lines), names)
    output = eval(last, names)

    for name in ("query", "key", "value"):
        assert torch.equal(names[name], getattr(EXAMPLE, name)[None].float())
    assert torch.allclose(output, torch.tensor([both_heads(table("returned"))]), atol=5e-4)
