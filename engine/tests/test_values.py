"""Plain values: how they cross the wall, and what differs in two of them."""

import json
import math
from collections import Counter, deque

import numpy as np
import pytest
import torch

from tensormark.judging.compare import Tolerance, compare_plain
from tensormark.worker.values import MOST, differences, encoded, outline, packed, unpacked

NESTED = {
    "a": [1, (2.5, None), b"\xff"],
    3: {"x", "y"},
    frozenset({(1, 2)}): True,
    "é\ud800": np.arange(3),
}
NEAR = Tolerance(1e-6, 1e-6)


def test_a_plain_value_comes_back_as_it_was():
    back = unpacked(packed(NESTED))

    array = back.pop("é\ud800")
    assert back == {name: value for name, value in NESTED.items() if name in back}
    assert array.tolist() == [0, 1, 2]
    assert [type(value) for value in back["a"]] == [int, tuple, bytes]
    assert unpacked(packed([deque([1]), range(2), {2: 1}.keys(), Counter("a")])) == [
        [1],
        [0, 1],
        {2},
        {"a": 1},
    ]
    assert unpacked(packed({"(tuple)": [1]})) == {"(tuple)": [1]}  # looks like what is sent
    assert unpacked(packed([np.float32(0.5), np.str_("x"), np.bool_(True)])) == [0.5, "x", True]
    assert math.isinf(unpacked(packed(math.inf)))
    assert unpacked(packed([torch.ones(2, requires_grad=True)]))[0].tolist() == [1, 1]


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (object(), "a value of type object"),
        ([{"a": {1: 1j}}], "a value of type complex"),
        (np.array([1j]), "a value of type ndarray"),
        (deep(100), "60 levels deep"),
        ([10**5000], "a number of more than 14000 bits"),
        ("x" * (MOST + 1), "more than 512 KiB"),
    ],
)
def test_what_is_not_plain_is_named(value, says):
    with pytest.raises(TypeError, match=says):
        packed(value)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"(set)": [[]]}',
        '{"(dict)": [[1]]}',
        '{"(tuple)": 3}',
        '{"(bytes)": [1]}',
        '{"(bytes)": "\\u0416"}',
        '{"(array)": [[1], [1, 2]]}',
        "[" * 100_000,
        "[" * 300 + "]" * 300,
        "9" * 5000,
        "\xff",
    ],
)
def test_what_a_worker_may_send_instead_is_wrong_and_harmless(text):
    sent = np.frombuffer(text.encode("latin-1"), np.uint8)

    mismatch = compare_plain("output", sent, packed(1), NEAR)

    assert mismatch.lines[0].startswith("output cannot be read: ")
    assert compare_plain("output", np.ones(3), packed(1), NEAR) is not None


@pytest.mark.parametrize(
    ("got", "expected", "says"),
    [
        ([1, "es"], [1, "est"], "output[1] is 'es', expected 'est'"),
        ({"a": [1, 2]}, {"a": [1, 3]}, "output['a'][1] is 2, expected 3"),
        ([1], [1, 2], "output is a list of 1 items, expected 2"),
        ({}, {1: 2}, "output is a dictionary without the key 1, expected one with it"),
        ({1: 2, 3: 4}, {1: 2}, "output is a dictionary with the key 3, expected one without it"),
        (None, [1], "output is None, expected a list"),
        ("1", 1, "output is a string, expected a number"),
        (np.ones(2), 1.5, "output is an array, expected a number"),
        ({1}, {2}, "output is {1}, expected {2}"),
        (1.001, 1.0, "output is 1.001, expected 1.0"),
        (10**400, 1.5, "output is 1"),
        (math.nan, 1.0, "output is nan, expected 1.0"),
        (1_000_001, 1_000_000, "output is 1000001, expected 1000000"),
        (np.zeros((2, 1)), np.zeros(2), "output[0] is a list, expected a number"),
        ("x" * 99, "y", "..., expected 'y'"),
    ],
)
def test_the_first_difference_is_said_with_its_place(got, expected, says):
    mismatch = compare_plain("output", packed(got), packed(expected), NEAR)

    assert says in mismatch.numbers
    assert "expected" not in mismatch.lines[0]


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ((1, 2), [1, 2]),
        (np.eye(2), [[1, 0], [0, 1]]),
        (2, 2.0),
        (torch.tensor(0.5), 0.5),
        (10**4200, 10**4200),
        (np.array([b"a", b"b"]), [b"a", b"b"]),
        (np.array(["a", 1], dtype=object), ["a", 1]),
        (True, 1),
        (0.1 + 0.2, 0.3),
        ([1e-17, 0.0], [-3e-17, 2e-17]),
        (1.000001e-12, 1e-12),
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
    ],
)
def test_what_no_course_would_call_wrong_is_right(got, expected):
    assert compare_plain("output", packed(got), packed(expected), NEAR) is None


@pytest.mark.parametrize(("got", "expected"), [(0.0, 1e-12), ([2e-8, 1e-8], [1e-8, 1e-8])])
def test_what_is_tiny_must_be_right_too(got, expected):
    assert compare_plain("output", packed(got), packed(expected), NEAR) is not None


def test_an_outline_leaves_only_numbers_that_are_rounded_out():
    text, numbers = outline({"b": [1.5, 2], "a": (True, np.array([0.25]))})

    assert (text, numbers) == ("{'a':[True,[#]],'b':[#,2]}", [0.25, 1.5])
    assert [each.size for each in differences(1.5, 1.0, "", 1.0)] == [0.25]
    assert json.dumps(encoded({1: (2,)})) == '{"(dict)": [[1, {"(tuple)": [2]}]]}'
