"""Margins of random shares: wide enough for right code, and narrow where few are expected."""

import math

import pytest

from tensormark.toolkit.dropout import FALSE_ALARM
from tensormark.toolkit.statistics import margin


@pytest.mark.parametrize("draws", [50, 400, 1000])
@pytest.mark.parametrize("expected", [0.1, 0.5, 0.9])
def test_right_draws_are_hardly_ever_outside_the_margin(draws: int, expected: float) -> None:
    def outside(distance: float) -> float:
        """Return the probability of a share that is further off than this."""
        return sum(
            math.comb(draws, n) * expected**n * (1 - expected) ** (draws - n)
            for n in range(draws + 1)
            if abs(n / draws - expected) > distance
        )

    assert outside(margin(draws, expected)) <= FALSE_ALARM < outside(margin(draws, expected) / 2)
