"""A function that draws from a given generator is told from one that does not."""

from collections.abc import Callable

import numpy as np
import pytest

from tensormark.toolkit.seeds import SEEDS, USED, Seeded, draw_seeds

RNG = np.random.default_rng(0)
Draw = Callable[[int, int], int]  # takes a seed and the number of the call: what is returned
WRONG: dict[str, Draw] = {
    "the same always": lambda seed, number: 0,
    "anew in each call": lambda seed, number: number,
    "by the first seed": lambda seed, number: seed,
    "another seed in every other call": lambda seed, number: number % 2,
}


def judged(draw: Draw) -> str | None:
    inputs = draw_seeds(RNG)
    results = [draw(seed, number) for number, seed in enumerate(inputs[SEEDS].tolist())]
    used = draw(int(inputs[SEEDS][-1]), len(results))
    outputs = {f"{number}/x": np.array([result]) for number, result in enumerate(results)}
    return Seeded("it is wrong")(outputs | {f"{USED}/x": np.array([used])}, inputs)


def test_drawing_from_the_generator_is_right() -> None:
    assert judged(lambda seed, number: -1 if number == 6 else seed) is None


@pytest.mark.parametrize("draw", WRONG.values(), ids=WRONG)
def test_anything_else_is_wrong(draw: Draw) -> None:
    assert judged(draw) == "it is wrong"
