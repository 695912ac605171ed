"""Says on stderr what a program does while it takes seconds: a bar on a terminal, lines elsewhere.

Of what is done within a second, `progress` says nothing.
"""

import contextlib
import sys
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TypeVar

from tqdm import tqdm

QUIET = 1.0  # seconds
EVERY = 5.0  # seconds between two lines
ERASE = "\r\x1b[K"  # the line, on a terminal
Item = TypeVar("Item")


def progress(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """Pass items on, and say how many of `total` are done."""
    if sys.stderr.isatty():
        yield from tqdm(items, what, total, leave=False, delay=QUIET)
        return
    said = monotonic() + QUIET - EVERY
    for done, item in enumerate(items):
        if monotonic() - said >= EVERY:
            said = monotonic()
            print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)
        yield item


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
