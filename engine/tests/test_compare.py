"""Comparing is strict, and says where an array is wrong."""

import numpy as np
import pytest

from tensormark.judging.compare import Tolerance, compare

AXES = {1: ("unit",)}
TIGHT = Tolerance(rtol=1e-5, atol=1e-5)
REFERENCE = np.arange(24.0).reshape(2, 3, 4)
IDS = np.arange(3)
LAST = REFERENCE == 23
COMPARED = {
    "broadcasts from one": (np.zeros(1), np.zeros((2, 3)), "shape"),
    "broadcasts": (np.zeros((2, 3, 1)), np.zeros((2, 3)), "shape"),
    "less precise": (REFERENCE.astype("f4"), REFERENCE, "dtype"),
    "short integers": (IDS.astype("i4"), IDS, "dtype"),
    "integers as floats": (IDS.astype("f8"), IDS, "dtype"),
    "nan": (np.where(LAST, np.nan, REFERENCE), REFERENCE, "finite"),
    "inf": (np.where(LAST, -np.inf, REFERENCE), REFERENCE, "finite"),
    "as far off as allowed": (np.array([1e-5]), np.array([0.0]), None),
    "large beside 0": (np.array([1e6]), np.array([0.0]), "values"),
    "large beside large": (np.array([1e6 + 5.0]), np.array([1e6]), None),
}


@pytest.mark.parametrize(("got", "expected", "kind"), COMPARED.values(), ids=COMPARED)
def test_the_kind_of_a_mismatch_is_the_first_of_shape_type_and_values_that_differs(
    got, expected, kind
):
    mismatch = compare("output", got, expected, TIGHT, "float64", AXES)

    assert (mismatch.kind if mismatch else None) == kind


@pytest.mark.parametrize(
    ("got", "expected", "right"),
    [
        (REFERENCE.astype("f4"), REFERENCE, True),
        (IDS.astype("f8"), IDS, True),
        (IDS, IDS.astype("f8"), True),
        (IDS == 1, (IDS == 1).astype("i8"), True),
        (IDS + 0.5, IDS, False),
        (np.array([10**6 + 1]), np.array([10**6]), False),
    ],
)
def test_values_may_have_any_type_where_none_is_required(got, expected, right):
    assert (compare("output", got, expected, TIGHT, "", AXES) is None) == right


@pytest.mark.parametrize(
    ("got", "expected", "place"),
    [
        (np.array([111.0, 3.0]), np.array([100.0, 1.0]), "worst at (unit 1)"),
        (np.eye(2), np.zeros((2, 2)), "worst at index (0, 0)"),
    ],
    ids=["farthest beyond its own tolerance", "without names"],
)
def test_the_worst_value_is_located(got, expected, place):
    mismatch = compare("output", got, expected, Tolerance(0.1, 0.0), "float64", AXES)

    assert mismatch.lines[0].endswith(place)
