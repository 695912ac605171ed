"""Attacks on the grader cost it little, whatever they hand in; tests/soak tries all of them."""

import random
from pathlib import Path

import pytest

from soak import costs
from soak.attacks import KNOWN, Attack, drawn

PART = 13
DRAWN = 3


@pytest.mark.tier("contained")
def test_attacks_on_the_grader_cost_it_five_seconds_and_400_megabytes_at_most(
    tmp_path: Path,
) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    rng = random.Random(seed)
    grading = costs.grading_in("contained")
    chosen = list(KNOWN.items())[rng.randrange(PART) :: PART]
    attacks = [*chosen, *((f"drawn {n}", lambda: drawn(rng)) for n in range(DRAWN))]

    for name, make in attacks:
        print(name)
        (tmp_path / name).mkdir()
        costs.assert_cheap(grading, make(), tmp_path / name)

    assert len(chosen) >= len(KNOWN) // PART


def test_an_attack_that_costs_too_much_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(costs, "SECONDS", 0.0)

    with pytest.raises(AssertionError):
        costs.assert_cheap(costs.grading_in("process"), Attack("bert.py", b""), tmp_path)
