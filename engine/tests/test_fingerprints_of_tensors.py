"""Tests of the fingerprints of tensors: what they tell apart, and the most that they cost."""

import numpy as np
import pytest

from tensormark.judging.fingerprints import (
    MAX_VALUES,
    MISSING,
    NOT_FINITE,
    RAISED,
    RANDOM,
    SUMS,
    UNDECIDED,
    form,
    of_tensor,
    projections,
)

X = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("array", "code", "sums"),
    [
        (None, MISSING, []),
        (np.full((2, 3), np.nan), NOT_FINITE, [form(X)]),
        (np.ones(MAX_VALUES + 1), form(np.ones(MAX_VALUES + 1)), []),
        (np.zeros((0, 3)), form(np.zeros((0, 3))), []),
    ],
    ids=["missing", "nothing finite", "too large", "empty"],
)
def test_a_tensor_without_sums_has_a_code(
    array: np.ndarray | None, code: float, sums: list[float]
) -> None:
    expected = [code, *sums, *[0.0] * (SUMS - len(sums))]

    np.testing.assert_array_equal(of_tensor("out/output", array), expected)


def test_the_largest_allowed_tensor_has_sums() -> None:
    assert of_tensor("out/output", np.ones(MAX_VALUES))[1:].all()


def test_forms_tell_shapes_and_types_apart() -> None:
    arrays = (X, X.T, X.astype("f4"), X[None], np.zeros((2, 4)))

    assert len({form(array) for array in arrays}) == len(arrays)
    assert all(0 <= form(array) < 1 << 24 for array in arrays)


def test_codes_are_those_of_recorded_references() -> None:
    assert (RAISED, MISSING, RANDOM, NOT_FINITE, UNDECIDED) == (-1.0, -2.0, -3.0, -4.0, -5.0)


def test_tensors_differ_by_which_values_are_not_finite_but_not_by_their_kind() -> None:
    def with_value(place: int, value: float) -> np.ndarray:
        return of_tensor("out/output", np.where(np.arange(6) == place, value, 1.0))

    nan_fingerprints = [with_value(place, np.nan) for place in range(6)]

    code_offsets = {fingerprint[0] - form(np.ones(6)) for fingerprint in nan_fingerprints}
    assert len(code_offsets) == 6
    assert all(0 < number < 1 << 24 for number in code_offsets)
    np.testing.assert_array_equal(with_value(0, np.inf), nan_fingerprints[0])
    np.testing.assert_array_equal(with_value(0, 0.0)[1:], nan_fingerprints[0][1:])


def test_sums_that_overflow_are_infinite() -> None:
    assert np.isinf(of_tensor("out/output", np.full((2, 3), 1.7e308))[1:]).any()


def test_sums_do_not_grow_with_the_size_and_depend_on_the_name() -> None:
    rng = np.random.default_rng(0)
    large, small = (of_tensor("out/output", rng.standard_normal(n))[1:] for n in (MAX_VALUES, 100))

    assert np.abs(large).max() < 5
    assert np.abs(small).max() < 5
    assert not np.isclose(of_tensor("out/other", X)[1:], of_tensor("out/output", X)[1:]).any()


def test_values_of_an_unknown_form_have_a_checksum_instead_of_sums() -> None:
    known_forms = np.array([form(X)])
    unknown_forms = np.array([1.0])
    before = projections.cache_info().currsize
    array = np.arange(700.0)

    first, again, *others = (of_tensor("out/x", array + n, unknown_forms) for n in (0, 0, 1, 2, 3))

    assert projections.cache_info().currsize == before
    assert 0 <= first[1] < 1 << 24
    np.testing.assert_array_equal(first, again)
    assert len({first[1], *(other[1] for other in others)}) == 4
    np.testing.assert_array_equal(of_tensor("out/x", X, known_forms), of_tensor("out/x", X))
