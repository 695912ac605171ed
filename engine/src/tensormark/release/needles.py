"""Find any of thousands of strings in megabytes of bytes, in less than a second."""

from collections import Counter
from collections.abc import Mapping

STEP = 8  # bytes between the places that are examined, and bytes that are compared at each
WINDOW = 2 * STEP  # the least length of a string, so that it covers such a place wherever it is


class Needles:
    """Strings to look for."""

    def __init__(self, strings: Mapping[bytes, str]) -> None:
        """Prepare the search: STEP consecutive pieces identify a string, its rarest ones.

        Args:
            strings: each string to look for, and a description of it.

        Raises:
            ValueError: one is too short.
        """
        if short := [string for string in strings if len(string) < WINDOW]:
            raise ValueError(f"{short[0]!r} is shorter than {WINDOW} bytes")
        self.strings = strings
        pieces_of = {
            string: [string[n : n + STEP] for n in range(len(string) - STEP + 1)]
            for string in strings
        }
        frequency = Counter(piece for pieces in pieces_of.values() for piece in pieces)
        self.at: dict[bytes, list[tuple[bytes, int]]] = {}
        for string, pieces in pieces_of.items():
            counts = [frequency[piece] for piece in pieces]
            rarity = [max(counts[n : n + STEP]) for n in range(len(pieces) - STEP + 1)]
            begin = rarity.index(min(rarity))
            for offset in range(begin, begin + STEP):
                self.at.setdefault(pieces[offset], []).append((string, offset))

    def search(self, content: bytes) -> dict[bytes, str]:
        """Return the strings that some bytes contain, with their descriptions."""
        hits = {
            string
            for place in range(0, len(content), STEP)
            for string, offset in self.at.get(content[place : place + STEP], ())
            if offset <= place and content.startswith(string, place - offset)
        }
        return {string: what for string, what in self.strings.items() if string in hits}
