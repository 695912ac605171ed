"""Every known attack on the grader, and 200 that are drawn, cost it little; see costs.py."""

import functools
from pathlib import Path

import pytest

from soak.attacks import KNOWN, drawn
from soak.costs import assert_cheap, grading_in
from soak.seeds import rng
from tensormark.grading import Grading

pytestmark = pytest.mark.tier("contained")


@functools.cache
def contained() -> Grading:
    return grading_in("contained")


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_attack_costs_little(name: str, tmp_path: Path) -> None:
    assert_cheap(contained(), KNOWN[name](), tmp_path)


@pytest.mark.parametrize("number", range(200))
def test_a_drawn_attack_costs_little(number: int, tmp_path: Path) -> None:
    assert_cheap(contained(), drawn(rng(number)), tmp_path)
