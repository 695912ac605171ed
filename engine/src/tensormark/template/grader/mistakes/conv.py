"""Mistakes in the convolution: what reports say, and texts of the solution with replacements.

A heading is the bold part of the handout's problem that explains the mistakes below it.
"""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "conv",
    """
## The windows

last_window_missing: the last window is missing
    - signals.unfold
    + signals[..., :-1].unfold
patterns_reversed: the patterns are reversed
    - windows,
    + windows.flip(-1),

## The bias

bias_forgotten: the bias is forgotten
    - + self.bias[:, None]
    +
""",
)
