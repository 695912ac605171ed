"""A function that draws from a given generator is told from one that does not."""

from collections.abc import Callable

import numpy as np
import pytest

from tensormark.toolkit.seeds import SEEDS, USED, Seeded, draw_seeds

DRAWS: dict[str, tuple[Callable[[int, int], int], str | None]] = {  # of a seed, in a call
    "from the generator": (lambda seed, number: -1 if number == 6 else seed, None),
    "the same always": (lambda seed, number: 0, "it is wrong"),
    "anew in each call": (lambda seed, number: number, "it is wrong"),
    "by the first seed": (lambda seed, number: seed, "it is wrong"),
    "another seed in every other call": (lambda seed, number: number % 2, "it is wrong"),
}


@pytest.mark.parametrize(("draw", "verdict"), DRAWS.values(), ids=DRAWS)
def test_a_draw_depends_on_the_generators_seed_and_state_alone(
    draw: Callable[[int, int], int], verdict: str | None
) -> None:
    inputs = draw_seeds(np.random.default_rng(0))
    seeds = inputs[SEEDS].tolist()
    outputs = {f"{number}/x": np.array([draw(seed, number)]) for number, seed in enumerate(seeds)}
    outputs[f"{USED}/x"] = np.array([draw(seeds[-1], len(seeds))])

    assert Seeded("it is wrong")(outputs, inputs) == verdict
