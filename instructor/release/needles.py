"""Find any of thousands of strings in megabytes of bytes, in a fraction of a second."""

from collections.abc import Mapping

import numpy as np

WINDOW = 16  # bytes; no string may be shorter
LOW = np.uint64(0xFFFFF)
BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, with its ones and zeros mixed


def hashes(content: bytes) -> np.ndarray:
    """Return a hash of each run of WINDOW bytes."""
    found = np.frombuffer(content, dtype=np.uint8).astype(np.uint64) + np.uint64(1)
    width, factor = 1, BASE
    while width < WINDOW:  # of two neighbouring hashes, make that of both runs
        found = found[:-width] * factor + found[width:]
        width, factor = 2 * width, factor * factor
    return found


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
        self.strings, self.starting = strings, dict[int, list[bytes]]()
        with np.errstate(over="ignore"):
            for one in strings:
                first = int(hashes(one[:WINDOW])[0])
                self.starting.setdefault(first, []).append(one)
        self.firsts = np.array(sorted(self.starting), dtype=np.uint64)
        self.ends = np.zeros(int(LOW) + 1, dtype=bool)  # how hashes end: few others end so
        self.ends[self.firsts & LOW] = True

    def found(self, content: bytes) -> dict[bytes, str]:
        """Return the strings that are in some bytes, to what they are."""
        if len(content) < WINDOW or not self.strings:
            return {}
        with np.errstate(over="ignore"):
            all_hashes = hashes(content)
        likely = all_hashes[self.ends[all_hashes & LOW]]
        there = self.firsts[np.isin(self.firsts, likely)]
        hits = [one for first in there.tolist() for one in self.starting[first] if one in content]
        return {one: self.strings[one] for one in hits}
