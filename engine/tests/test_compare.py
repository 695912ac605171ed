"""Comparing is strict, and its message is short."""

import numpy as np
import pytest

from tensormark.judging.compare import Mismatch, Tolerance, compare, compare_all

AXES = {1: ("unit",), 3: ("row", "token", "unit")}
TIGHT = Tolerance(rtol=1e-5, atol=1e-5)
REFERENCE = np.arange(24.0).reshape(2, 3, 4)


IDS = np.arange(3)
ONE_OFF = np.eye(24)[23].reshape(2, 3, 4)
COMPARED = {
    "equal": (REFERENCE.copy(), REFERENCE, "float64", None),
    "rounded": (REFERENCE + 5e-6, REFERENCE, "float64", None),
    "broadcasts from one": (np.zeros(1), np.zeros((2, 3)), "float64", "shape"),
    "broadcasts": (np.zeros((2, 3, 1)), np.zeros((2, 3)), "float64", "shape"),
    "float32": (REFERENCE.astype("f4"), REFERENCE, "float64", "dtype"),
    "float16": (REFERENCE.astype("f2"), REFERENCE, "float32", "dtype"),
    "integers": (IDS, IDS, "float32", None),
    "short integers": (IDS.astype("i4"), IDS, "float32", "dtype"),
    "integers as floats": (IDS.astype("f4"), IDS, "float32", "dtype"),
    "nan": (np.where(ONE_OFF, np.nan, REFERENCE), REFERENCE, "float64", "finite"),
    "inf": (np.where(ONE_OFF, np.inf, REFERENCE), REFERENCE, "float64", "finite"),
    "-inf": (np.where(ONE_OFF, -np.inf, REFERENCE), REFERENCE, "float64", "finite"),
    "large beside 0": (np.array([1e6]), np.array([0.0]), "float64", "values"),
    "large beside large": (np.array([1e6 + 5.0]), np.array([1e6]), "float64", None),
}


def mismatch_of(
    got: np.ndarray, expected: np.ndarray = REFERENCE, tolerance: Tolerance = TIGHT
) -> Mismatch:
    mismatch = compare("output", got, expected, tolerance, "float64", AXES)
    assert mismatch is not None
    return mismatch


@pytest.mark.parametrize(("got", "expected", "dtype", "kind"), COMPARED.values(), ids=COMPARED)
def test_the_kind_of_a_mismatch_is_the_first_of_shape_type_and_values_that_differs(
    got: np.ndarray, expected: np.ndarray, dtype: str, kind: str | None
) -> None:
    mismatch = compare("output", got, expected, TIGHT, dtype, AXES)

    assert (mismatch.kind if mismatch else None) == kind


def test_a_single_wrong_value_is_found_and_located() -> None:
    mismatch = mismatch_of(REFERENCE + ONE_OFF)

    assert mismatch.lines[0] == "1 of 24 values of output differ, worst at (row 1, token 2, unit 3)"
    assert mismatch.numbers == "expected 23.0000, got 24.0000, allowed difference 2e-04"


def test_a_wrong_integer_is_shown_exactly() -> None:
    assert mismatch_of(np.array([4, 7]), np.array([4, 9])).numbers == "expected 9, got 7"


def test_a_difference_as_large_as_allowed_agrees() -> None:
    tolerance = Tolerance(rtol=0.0, atol=0.5)

    assert compare("output", np.array([0.5]), np.zeros(1), tolerance, "float64", AXES) is None


def test_the_worst_value_is_the_one_farthest_beyond_its_own_tolerance() -> None:
    mismatch = mismatch_of(np.array([111.0, 3.0]), np.array([100.0, 1.0]), Tolerance(0.1, 0.0))

    assert mismatch.lines == ("2 of 2 values of output differ, worst at (unit 1)",)


def with_nan(*places: tuple[int, int, int]) -> np.ndarray:
    got = REFERENCE.copy()
    for place in places:
        got[place] = np.nan
    return got


@pytest.mark.parametrize(
    ("got", "line"),
    [
        (REFERENCE[:1], "output should have shape (2, 3, 4), got (1, 3, 4)"),
        (np.ones(1), "output should have shape (2, 3, 4), got a single value"),
        (REFERENCE.astype("f4"), "output should be float64, got float32"),
        (
            with_nan((1, 0, 2), (1, 2, 3)),
            "2 of 24 values of output are NaN or inf, first at (row 1, token 0, unit 2)",
        ),
    ],
    ids=["shape", "one value", "dtype", "finite"],
)
def test_a_mismatch_says_what_differs_and_where_first(got: np.ndarray, line: str) -> None:
    assert mismatch_of(got).lines == (line,)


def test_a_place_in_an_array_without_named_axes_is_its_index() -> None:
    mismatch = mismatch_of(np.eye(2), np.zeros((2, 2)))

    assert mismatch.lines[0].endswith("worst at index (0, 0)")


@pytest.mark.parametrize("got", [REFERENCE + 1.0, with_nan((0, 0, 0))], ids=["values", "finite"])
def test_a_mismatch_keeps_values_that_differ_beside_the_expected_ones(got: np.ndarray) -> None:
    pair = mismatch_of(got).pair

    assert pair is not None
    assert (pair.name, pair.tolerance) == ("output", TIGHT)
    assert pair.got is got
    assert pair.expected is REFERENCE


def test_of_several_tensors_the_first_that_is_missing_or_differs_is_reported() -> None:
    expected = {"loss": REFERENCE, "logits": REFERENCE, "hidden": REFERENCE}

    missing = compare_all({"loss": REFERENCE}, expected, TIGHT, "float64", AXES)
    wrong = compare_all(expected | {"logits": REFERENCE + 1}, expected, TIGHT, "float64", AXES)

    assert compare_all(expected, expected, TIGHT, "float64", AXES) is None
    assert missing is not None
    assert (missing.kind, missing.lines) == ("names", ("logits is missing",))
    assert wrong is not None
    assert (wrong.kind, wrong.name) == ("values", "logits")
