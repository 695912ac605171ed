"""The shapes of a student's tensors on the line that raised."""

from types import SimpleNamespace

import pytest
import torch

from tensormark.worker.exceptions import MAX_TENSORS, letters_of, shapes

SOURCE = """
def inner(x, weight):
    rows = x.sum(0)
    return (
        x
        @ weight.reshape(3, 2) + rows
    )

def outer(x, weight):
    return inner(x, weight)

def many(x):
    a = b = c = d = e = f = g = h = x
    return a.view(99, 98) + b + c + d + e + f + g + h

def unknown(x):
    return x.nothing

def indexed(x):
    return [][x.dim()]

def commented(x):
    rows = x
    return x.view(4, 5) + len("rows and x")  # rows

def endless(x):
    return endless(x) + x

def unwritten(x):
    raise NotImplementedError(x)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("positions", torch.arange(5))

    def forward(self, x):
        positions = self.positions.unsqueeze(0)
        return x + positions

def buffered(x):
    return Model()(x)
"""


def raised(function, *args, **letters):
    names = {"torch": torch}
    exec(compile(SOURCE, "main.py", "exec"), names)
    with pytest.raises(Exception) as caught:  # noqa: PT011
        names[function](*args)
    return shapes(caught.value, {"main.py": SOURCE}, letters)


def test_the_tensors_of_the_innermost_line_are_listed_with_their_letters():
    lines = raised("outer", torch.zeros(5, 3), torch.zeros(2, 3), B=5, D=3)

    assert lines == ["x is (B, D) = (5, 3)", "weight is (2, 3)", "rows is (D) = (3,)"]


@pytest.mark.parametrize(
    ("shape", "letters", "words"),
    [
        ((3, 2, 7, 7), {"B": 3, "T": 7, "H": 2}, "(B, H, T, T) = (3, 2, 7, 7)"),
        ((3, 1, 1, 7), {"B": 3, "T": 7, "H": 1}, "(B, 1, 1, T) = (3, 1, 1, 7)"),
        ((3, 3, 2, 7), {"B": 3, "T": 7, "H": 2}, "(3, 3, 2, 7)"),
        ((3, 2, 7, 2), {"B": 3, "T": 7, "H": 2}, "(3, 2, 7, 2)"),
        ((5, 1), {"B": 5, "T": 5}, "(5, 1)"),
    ],
)
def test_a_letter_stands_only_where_it_is_sure_and_only_some_tensors_are_listed(
    shape, letters, words
):
    lines = raised("many", torch.zeros(shape), **letters)

    assert lines[0] == f"a is {words}"
    assert len(lines) == MAX_TENSORS


@pytest.mark.parametrize(
    ("function", "argument", "lines"),
    [
        ("commented", torch.zeros(2), ["x is (2,)"]),
        ("buffered", torch.zeros(7, 3), ["x is (7, 3)", "positions is (1, 5) of int64"]),
        ("unknown", torch.zeros(2), []),
        ("endless", torch.zeros(2), []),
        ("unwritten", torch.zeros(2), []),
        ("indexed", SimpleNamespace(dim=lambda: 0), []),
    ],
)
def test_only_tensors_in_variables_are_listed_and_only_if_shapes_may_be_the_cause(
    function, argument, lines
):
    assert raised(function, argument, d=5) == lines


def test_sizes_are_those_of_the_call_or_of_its_config():
    call = {"config": {"B": 3, "width": 4, "T": "x"}}

    assert letters_of(call) == {"B": 3}
    assert letters_of({**call, "letters": {"N": 2}}) == {"N": 2}
    assert letters_of({}) == {}
