"""Says on stderr what a program does while it takes seconds: a bar on a terminal, lines elsewhere.

Of what is done within a second, `progress` and `counting` say nothing.
"""

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import TypeVar

from tqdm import tqdm

QUIET = 1.0  # seconds
EVERY = 5.0  # seconds between two lines
ERASE = "\r\x1b[K"  # the line, on a terminal
Item = TypeVar("Item")


@contextlib.contextmanager
def counting(total: int, what: str) -> Iterator[Callable[[], object]]:
    """Say how much of `total` is done, by the calls of the function that this gives."""
    if sys.stderr.isatty():
        with tqdm(total=total, desc=what, leave=False, delay=QUIET) as bar:
            yield bar.update
        return
    done, said = 0, monotonic() + QUIET - EVERY

    def update() -> None:
        nonlocal done, said
        done += 1
        if done < total and monotonic() - said >= EVERY:
            said = monotonic()
            print(f"{what} {done} of {total}", file=sys.stderr, flush=True)

    yield update


def progress(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """Pass items on, and say how many of `total` are done."""
    with counting(total, what) as done:
        for item in items:
            yield item
            done()


@contextlib.contextmanager
def announced(what: str) -> Iterator[None]:
    """Say what is being done; on a terminal, until it is done."""
    terminal = sys.stderr.isatty()
    print(f"{what} ...", end="" if terminal else "\n", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if terminal:
            print(ERASE, end="", file=sys.stderr, flush=True)
