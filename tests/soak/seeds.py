"""The seed of what is drawn: `make nightly SEED=1` repeats a run."""

import os
import random

SEED = int(os.environ.get("SEED") or random.randrange(10**6))


def rng(number: int = 0) -> random.Random:
    """Return a source of random numbers, and print its seed, which pytest shows on failure."""
    print(f"SEED={SEED}")
    return random.Random(f"{SEED} {number}")
