"""No submission changes the result of another one, in 200 of them; see orders.py."""

from pathlib import Path

import pytest

from soak.orders import Course, disturbed
from soak.seeds import rng


@pytest.mark.timeout(3600)
@pytest.mark.tier("contained")
def test_200_submissions_in_any_order_leave_each_honest_one_its_result(tmp_path: Path) -> None:
    assert disturbed(Course("contained", tmp_path), 200, rng()) == []
