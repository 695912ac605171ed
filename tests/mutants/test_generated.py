"""Mutants of the solution: the checks kill them all, save those that change nothing.

equivalent.txt lists the survivors and why no check could kill them: `exercise, change  # reason`.
`make nightly` grades all mutants, `make test` each fourth.
"""

from pathlib import Path

import pytest

from generate import EXERCISES, generate
from testkit.tiers import NIGHTLY
from tests.helpers import ROOT
from tests.helpers.source_bench import lost

LISTED = Path(__file__).with_name("equivalent.txt").read_text("utf-8").splitlines()
EQUIVALENT = dict(line.split("  # ", 1) for line in LISTED if line and not line.startswith("#"))


@pytest.fixture(scope="module")
def mutants():
    return generate((ROOT / "solution" / "bert.py").read_text("utf-8"))


def label(mutant):
    """Name a mutant as equivalent.txt does."""
    return f"{mutant.exercise}, {mutant.name}"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_mutant_is_killed_or_explained(bench, mutants, exercise):
    own = [mutant for mutant in mutants if mutant.exercise == exercise]
    own = own if NIGHTLY else own[::4]

    alive = {label(m) for m in own if not lost(bench.grade(m.source, exercise))}

    assert alive == {label(m) for m in own} & EQUIVALENT.keys()


def test_only_few_mutants_are_explained_away(mutants):
    assert len(mutants) >= 300
    assert set(EQUIVALENT) <= {label(mutant) for mutant in mutants}
    assert all(len(reason) > 10 for reason in EQUIVALENT.values())
