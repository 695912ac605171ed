"""Comparing is strict, and its message is short."""

import numpy as np
import pytest

from tensormark.judging.compare import Tolerance, compare, compare_all

AXES = {3: ("row", "token", "unit")}
TIGHT = Tolerance(rtol=1e-5, atol=1e-5)
REFERENCE = np.arange(24.0).reshape(2, 3, 4)


def kind(got: np.ndarray, expected: np.ndarray = REFERENCE, dtype: str = "float64") -> str | None:
    """Return the kind of the mismatch, if there is one."""
    found = compare("output", got, expected, TIGHT, dtype, AXES)
    return found.kind if found else None


def test_equal_arrays_agree() -> None:
    assert kind(REFERENCE.copy()) is None
    assert kind(REFERENCE + 5e-6) is None


def test_arrays_that_only_broadcast_do_not_agree() -> None:
    assert kind(np.zeros((1,)), np.zeros((2, 3))) == "shape"
    assert kind(np.zeros((2, 3, 1)), np.zeros((2, 3))) == "shape"


def test_another_type_does_not_agree() -> None:
    assert kind(REFERENCE.astype(np.float32)) == "dtype"
    assert kind(REFERENCE.astype(np.float16), dtype="float32") == "dtype"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_never_agree(value: float) -> None:
    got = REFERENCE.copy()
    got[1, 2, 3] = value

    assert kind(got) == "finite"


def test_a_single_wrong_value_is_found_and_located() -> None:
    got = REFERENCE.copy()
    got[1, 2, 3] += 1.0

    found = compare("output", got, REFERENCE, TIGHT, "float64", AXES)

    assert found is not None
    assert found.lines[0] == "1 of 24 values of output differ, worst at (row 1, token 2, unit 3)"
    assert found.numbers == "expected 23.0000, got 24.0000, allowed difference 2e-04"


def test_the_tolerance_grows_with_the_expected_value_and_not_with_the_given_one() -> None:
    assert kind(np.array([1e6]), np.array([0.0])) == "values"
    assert kind(np.array([1e6 + 5.0]), np.array([1e6])) is None


def test_a_missing_tensor_is_a_mismatch() -> None:
    found = compare_all({}, {"output": REFERENCE}, TIGHT, "float64", AXES)

    assert found is not None
    assert found.kind == "names"


def test_arrays_are_never_printed_whole() -> None:
    big = np.zeros((50, 50, 50))

    found = compare("output", big + 1, big, TIGHT, "float64", AXES)

    assert found is not None
    assert len(found.lines) == 1
    assert all(len(line) < 100 for line in (*found.lines, found.numbers))
