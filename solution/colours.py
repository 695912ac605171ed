"""One scale of colours for all pictures and pages: blue below zero, grey at zero, orange above.

Colour-blind readers can tell its halves apart, and both darken with size, in print too. What is
never below zero, such as a probability, has the upper half: the colours of the grader's report.
"""

BELOW = ("#0b326b", "#1a5aa8", "#4b93dc", "#7fb2e6", "#b6d4f2")
ZERO = "#e4e9ee"
ABOVE = ("#fdd0a2", "#fda762", "#ee6a1a", "#c2410c", "#7a2205")
LEVELS = len(ABOVE)
CLASSES = (BELOW[2], ABOVE[1], BELOW[0], ABOVE[4])  # far apart, and in light and dark
LINE, FAINT = BELOW[1], BELOW[3]


def level(value: float, largest: float) -> int:
    """Return how many colours from zero a value is: up to LEVELS, or down to -LEVELS.

    Args:
        largest: the size that has the last colour.
    """
    if not abs(value) > 0.0 or not largest > 0.0:  # so is NaN
        return 0
    steps = round(LEVELS * min(1.0, abs(value) / largest))
    return steps if value > 0.0 else -steps
