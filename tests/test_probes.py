"""Gaps in sentences of the language: which guesses count, and how the checkpoint fills them."""

import re

import pytest

from instructor.pretraining.probes import (
    COUNT,
    SEED,
    Probe,
    first_guesses,
    fits,
    grammar,
    make_probes,
)

from conftest import ROOT
from handout_pages import TEXT

ENOUGH = 0.9


@pytest.mark.parametrize(
    ("place", "guess", "right"),
    [
        (3, "boring", True),  # another adjective
        (3, "charming", True),  # of the other sign, but grammatical
        (3, "charm", False),  # a noun
        (3, "not", False),
        (2, "never", True),
        (2, "dull", False),
        (0, "lantern", True),  # another title
        (0, "mira", False),  # a lead cannot be the subject
        (1, "the", False),
    ],
)
def test_a_guess_counts_if_the_grammar_can_generate_it(place, guess, right) -> None:
    probe = Probe(("harbor", "is", "not", "dull", "."), place)

    assert fits(probe, guess, grammar(20_000)) == right


def test_probes_hide_every_kind_of_word_and_depend_only_on_their_seed() -> None:
    probes = make_probes(COUNT, SEED)

    assert probes == make_probes(COUNT, SEED) != make_probes(COUNT, SEED + 1)
    assert all(probe.sentence.split().count("[MASK]") == 1 for probe in probes)
    assert len({probe.words[probe.place] for probe in probes}) > 50


@pytest.mark.nightly
def test_the_checkpoint_fills_gaps_with_words_of_the_right_kind() -> None:
    probes, patterns = make_probes(COUNT, SEED), grammar()

    guesses = first_guesses(ROOT / "checkpoint", probes)

    fitting = sum(fits(p, g, patterns) for p, g in zip(probes, guesses, strict=True))
    assert fitting >= ENOUGH * COUNT
    match = re.search(rf"For {COUNT} gaps in new\s+sentences, (\d+) of its first guesses", TEXT)
    assert match is not None
    assert abs(int(match[1]) - fitting) <= 2  # close calls may fall otherwise on another machine
