"""Mistakes."""

from tensormark.authoring.variants import mistakes

SCALED = """
## The norm

mean_missing: squares are added up
    - mean
    + sum
"""
BLOCK = """
## The sum

sum_missing: x is not added
    - x + torch
    + torch
"""
RATE = """
## The rate

never_falls: the rate does not fall
    - (warm / step) ** 0.5
    + 1.0
root_missing: the root is missing
    - ** 0.5
    +
"""
VARIANTS = (*mistakes("scaled", SCALED), *mistakes("block", BLOCK), *mistakes("rate", RATE))
