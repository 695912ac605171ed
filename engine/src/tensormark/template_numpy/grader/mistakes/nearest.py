"""Mistakes in the distances: what reports say, and texts of the solution with replacements.

A heading is the bold part of the handout's problem that explains the mistakes below it.
"""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "nearest",
    """
## The distance

not_squared: differences are added up without their squares
    - ** 2
    +
farthest: the farthest center is taken
    - argmin
    + argmax
""",
)
