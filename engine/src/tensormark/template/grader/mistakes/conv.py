"""Mistakes in the convolution: id, message, and pieces of the solution with their replacements.

The second argument is the bold part of the handout's problem that explains them.
"""

from tensormark.authoring.variants import mistakes

VARIANTS = (
    *mistakes(
        "conv",
        "The windows",
        {
            "last_window_missing": (
                "the last window is missing",
                *("signals.unfold", "signals[..., :-1].unfold"),
            ),
            "patterns_reversed": ("the patterns are reversed", "windows,", "windows.flip(-1),"),
        },
    ),
    *mistakes(
        "conv",
        "The bias",
        {"bias_forgotten": ("the bias is forgotten", " + self.bias[:, None]", "")},
    ),
)
