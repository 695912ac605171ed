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
VARIANTS = (*mistakes("scaled", SCALED), *mistakes("block", BLOCK))
