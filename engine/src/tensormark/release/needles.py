"""Find any of thousands of strings in megabytes of bytes, in a fraction of a second."""

from collections.abc import Iterable, Mapping

import numpy as np

WINDOW = 16  # bytes; no string may be shorter
LOW = np.uint64(0xFFFFF)
BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, with its ones and zeros mixed


def hashes(content: bytes) -> np.ndarray:
    """Return a hash of each run of WINDOW bytes."""
    found = np.frombuffer(content, dtype=np.uint8).astype(np.uint64) + np.uint64(1)
    width, factor = 1, BASE
    with np.errstate(over="ignore"):
        while width < WINDOW:  # of two neighbouring hashes, make that of both runs
            found = found[:-width] * factor + found[width:]
            width, factor = 2 * width, factor * factor
    return found


def hashes_of(windows: Iterable[bytes]) -> np.ndarray:
    """Return a hash of each of these strings, which are WINDOW bytes long."""
    return hashes(b"".join(windows))[::WINDOW]


def stands_at(
    one: bytes, end: np.uint64, places: np.ndarray, known: np.ndarray, content: bytes
) -> bool:
    """Say whether a string begins at one of some places where its first bytes are likely.

    Args:
        end: the hash of its last bytes.
        known: the hashes of the content.
    """
    last = places + (len(one) - WINDOW)
    last = last[last < len(known)]
    return any(
        content[place + WINDOW - len(one) : place + WINDOW] == one
        for place in last[known[last] == end].tolist()
    )


class Needles:
    """Strings to look for."""

    def __init__(self, strings: Mapping[bytes, str]) -> None:
        """Prepare the search.

        Args:
            strings: what to look for, to what it is.

        Raises:
            ValueError: one is too short.
        """
        if short := [one for one in strings if len(one) < WINDOW]:
            raise ValueError(f"{short[0]!r} is shorter than {WINDOW} bytes")
        self.strings, self.starting = strings, dict[int, list[tuple[bytes, np.uint64]]]()
        begins, ends = (
            hashes_of(part)
            for part in ([s[:WINDOW] for s in strings], [s[-WINDOW:] for s in strings])
        )
        for one, begin, end in zip(strings, begins.tolist(), ends, strict=True):
            self.starting.setdefault(begin, []).append((one, end))
        self.begins = np.array(sorted(self.starting), dtype=np.uint64)
        self.likely = np.zeros(int(LOW) + 1, dtype=bool)  # how hashes end: few others end so
        self.likely[self.begins & LOW] = True

    def found(self, content: bytes) -> dict[bytes, str]:
        """Return the strings that are in some bytes, to what they are."""
        if len(content) < WINDOW or not self.strings:
            return {}
        known = hashes(content)
        places = np.flatnonzero(self.likely[known & LOW])
        places = places[np.argsort(known[places], kind="stable")]
        at = known[places]
        bounds = zip(
            at.searchsorted(self.begins), at.searchsorted(self.begins, "right"), strict=True
        )
        hits = [
            one
            for begin, (first, last) in zip(self.begins.tolist(), bounds, strict=True)
            if first < last
            for one, end in self.starting[begin]
            if stands_at(one, end, places[first:last], known, content)
        ]
        return {one: self.strings[one] for one in hits}
