"""Measures how long `make check` takes for the solution and for an untouched starter."""

from collections.abc import Iterator, Sequence

from benchmarks.checkout import Checkout, Checkouts
from benchmarks.measure import TORCH, Line, Row, compare, run

LINES = (
    Line("make check, to its first line", "s"),
    Line("make check, with every extension", "s"),
    Line("make check of an untouched starter", "s", most=0.4),
)


def check(checkout: Checkout) -> Sequence[float]:
    """Check the solution and the starter; return the seconds."""
    solution, untouched = (
        run(checkout.command("check", name), checkout.root) for name in ("solution", "starter")
    )
    return solution.first_line, solution.seconds, untouched.seconds


def rows(checkouts: Checkouts) -> Iterator[Row]:
    """Measure the start of `make check`."""
    yield from compare(LINES, check, checkouts, TORCH)
