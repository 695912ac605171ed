"""Mistakes in the detector."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "detector",
    """
## The largest value

mean_over_windows: windows are averaged
    - amax
    + mean
""",
)
