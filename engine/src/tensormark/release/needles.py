"""Find any of thousands of strings in megabytes of bytes, in less than a second."""

from collections import Counter
from collections.abc import Mapping

STEP = 8  # bytes between the places that are looked at, and that are compared at each
WINDOW = 2 * STEP  # no string may be shorter: it covers one of these places wherever it stands


class Needles:
    """Strings to look for."""

    def __init__(self, strings: Mapping[bytes, str]) -> None:
        """Prepare the search: a string is known by STEP of its pieces in a row, the rarest ones.

        Args:
            strings: what to look for, to what it is.

        Raises:
            ValueError: one is too short.
        """
        if short := [string for string in strings if len(string) < WINDOW]:
            raise ValueError(f"{short[0]!r} is shorter than {WINDOW} bytes")
        self.strings = strings
        pieces = {one: [one[n : n + STEP] for n in range(len(one) - STEP + 1)] for one in strings}
        often = Counter(piece for own in pieces.values() for piece in own)
        self.at: dict[bytes, list[tuple[bytes, int]]] = {}
        for one, own in pieces.items():
            counts = [often[piece] for piece in own]
            rarity = [max(counts[n : n + STEP]) for n in range(len(own) - STEP + 1)]
            begin = rarity.index(min(rarity))
            for offset in range(begin, begin + STEP):
                self.at.setdefault(own[offset], []).append((one, offset))

    def search(self, content: bytes) -> dict[bytes, str]:
        """Return the strings that are in some bytes, to what they are."""
        hits = {
            one
            for place in range(0, len(content), STEP)
            for one, offset in self.at.get(content[place : place + STEP], ())
            if offset <= place and content.startswith(one, place - offset)
        }
        return {one: what for one, what in self.strings.items() if one in hits}
