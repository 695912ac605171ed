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
    return a + b + c + d + e + f + g + h + x @ torch.ones(99, 99)

def unknown(x):
    return x.nothing

def indexed(x):
    return [][x.dim()]

def commented(x, weight):
    rows = x
    return x.view(4, 5) + len("rows and x")  # rows, weight

def endless(x):
    return endless(x) + x

def unwritten(x):
    raise NotImplementedError(x)
"""


def raised(function: str, *args: object, letters: dict[str, int] | None = None) -> list[str]:
    names: dict[str, object] = {"torch": torch}
    exec(compile(SOURCE, "main.py", "exec"), names)
    try:
        names[function](*args)
    except Exception as error:
        return shapes(error, {"main.py": SOURCE}, letters or {})
    raise AssertionError("nothing was raised")


def test_the_tensors_of_the_innermost_line_are_listed_with_their_letters() -> None:
    x = torch.zeros(5, 3)
    weight = torch.zeros(2, 3)

    lines = raised("outer", x, weight, letters={"B": 5, "D": 3})

    assert lines == ["x is (B, D) = (5, 3)", "weight is (2, 3)", "rows is (D) = (3,)"]


def test_an_axis_of_one_has_no_letter() -> None:
    x = torch.zeros(5, 1)

    assert raised("many", x, letters={"B": 5, "K": 1})[0] == "a is (B, 1) = (5, 1)"


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((3, 2, 7, 7), "(B, H, T, T) = (3, 2, 7, 7)"),
        ((3, 1, 1, 7), "(B, 1, 1, T) = (3, 1, 1, 7)"),
        ((3, 3, 2, 7), "(3, 3, 2, 7)"),
        ((3, 2, 7, 2), "(3, 2, 7, 2)"),
    ],
)
def test_a_letter_that_would_stand_twice_is_not_sure(shape: tuple[int, ...], words: str) -> None:
    lines = raised("many", torch.zeros(shape), letters={"B": 3, "T": 7, "H": 2})

    assert lines[0] == f"a is {words}"


def test_a_size_that_two_letters_have_has_no_letter() -> None:
    lines = raised("many", torch.zeros(5, 1), letters={"B": 5, "T": 5})

    assert lines[0] == "a is (5, 1)"


def test_an_error_that_is_not_about_shapes_lists_no_tensors() -> None:
    assert raised("unknown", torch.zeros(2)) == []


def test_only_variables_are_listed_not_words_of_a_text_or_a_comment() -> None:
    assert raised("commented", torch.zeros(2), torch.zeros(3)) == ["x is (2,)"]


@pytest.mark.parametrize("function", ["endless", "unwritten"])
def test_a_runtime_error_of_another_kind_lists_no_tensors(function: str) -> None:
    assert raised(function, torch.zeros(2)) == []


def test_only_a_few_tensors_are_listed() -> None:
    assert len(raised("many", torch.zeros(2))) == MAX_TENSORS


def test_a_variable_that_is_not_a_tensor_is_left_out() -> None:
    assert raised("indexed", SimpleNamespace(dim=lambda: 0)) == []


def test_sizes_are_those_of_the_call_or_of_its_config() -> None:
    call = {"config": {"B": 3, "width": 4, "T": "x"}}

    assert letters_of(call) == {"B": 3}
    assert letters_of({**call, "letters": {"N": 2}}) == {"N": 2}
    assert letters_of({}) == {}
