"""How long a student waits for `make check`, of a solution and of an untouched starter."""

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
    solved, untouched = (
        run(checkout.command("check", name), checkout.root) for name in ("solution", "starter")
    )
    return solved.first_line, solved.seconds, untouched.seconds


def rows(checkouts: Checkouts) -> Iterator[Row]:
    """Measure the start of `make check`."""
    yield from compare(LINES, check, checkouts, TORCH)
