"""Mistakes."""

from tensormark.authoring.variants import mistakes

VARIANTS = (
    *mistakes("scaled", "The norm", {"mean_missing": ("squares are added up", "mean", "sum")}),
    *mistakes("block", "The sum", {"sum_missing": ("x is not added", "x + torch", "torch")}),
    *mistakes(
        "rate",
        "The rate",
        {
            "never_falls": ("the rate does not fall", "(warm / step) ** 0.5", "1.0"),
            "root_missing": ("the root is missing", " ** 0.5", ""),
        },
    ),
    *mistakes(
        "rates", "All", {"one_less": ("one is missing", "range(number)", "range(1, number)")}
    ),
    *mistakes("choice", "The best", {"least": ("the least is chosen", "argmax", "argmin")}),
)
