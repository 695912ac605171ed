"""Find where two submissions are alike, line by line, ignoring lines that are common in the class.

Lines are compared as written, and again with a placeholder for names that students chose. Both
files are untrusted: nothing is parsed or run, and every count is bounded.
"""

import builtins
import difflib
import keyword
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tensormark.classroom.reports.similar import COMMON, SMALLEST

LINES = 500  # of a file that are compared at most, without common ones
SAME, RENAMED, MOVED, OWN, GAP = "same", "renamed", "moved", "own", "gap"
NAME = re.compile(r"(?<![\w.])([^\W\d]\w*)(\s*\()?")  # not an attribute; with the bracket of a call
IMPORTED = re.compile(r"^(?:import|from)\b.*", re.M)
DEFINED = re.compile(r"^\s*class\s+(\w+)", re.M)
COMMENT = re.compile(r"^\s*#")
Sources = Mapping[str, str]  # module name to text


@dataclass(frozen=True)
class Line:
    """A line of each of two files, or of one.

    Attributes:
        kind: SAME; RENAMED, the same except for names and layout; MOVED, elsewhere in the other
            file; OWN, in one file only; or GAP, where common lines are left out.
        left, right: its number and text in each file, if there.
        holders: how many of the class have it, ignoring names and layout.
    """

    kind: str
    left: tuple[int, str] | None = None
    right: tuple[int, str] | None = None
    holders: int = 0


def _imported(text: str) -> set[str]:
    return set(re.findall(r"\w+", " ".join(IMPORTED.findall(text))))


class Rarity:
    """Counts how many of a class have each line.

    Attributes:
        names: those that no student chose; called_names: more of them, when they are called.
        common: lines that are common or were given, and so are no evidence.
        holders: line to how many have it.
    """

    def __init__(
        self, submissions: Sequence[Sources], starter: Sources, solutions: Sequence[Sources]
    ) -> None:
        """Count the lines of a class.

        Args:
            submissions: with a team's included once.
            starter: the code that everybody was given.
            solutions: those that anybody may resemble.
        """
        given = "\n".join(starter.values())
        self.names = {"self", *keyword.kwlist, *_imported(given)}
        self.called_names = {*dir(builtins), *(name for name, call in NAME.findall(given) if call)}
        self.called_names.update(DEFINED.findall(given))
        for each in submissions:
            self.called_names.update(*map(_imported, each.values()))
        self.form = lru_cache(maxsize=100_000)(self._form)
        self.holders = Counter(form for each in submissions for form in self._forms(each))
        most = COMMON * max(len(submissions), SMALLEST) + 1
        self.common = {form for form, count in self.holders.items() if count > most}
        self.common.update(*map(self._forms, (starter, *solutions)))

    def _form(self, line: str) -> str:
        """Return a line without layout or students' names; a comment loses only its layout."""
        if COMMENT.match(line):
            return " ".join(line.split())
        return "".join(NAME.sub(self._anonymous, line).split())

    def _anonymous(self, match: re.Match[str]) -> str:
        """Return a name and any bracket, with a placeholder for a name that a student chose."""
        name, call = match[1], match[2] or ""
        is_given = name in self.names or (call and name in self.called_names)
        return f"{name if is_given else '_'}{call}"

    def _forms(self, submission: Sources) -> set[str]:
        return {self.form(line) for text in submission.values() for line in text.splitlines()}

    def rare(self, text: str) -> list[int]:
        """Return the numbers, from 0, of the first LINES lines of a file that are not common."""
        numbers = (
            number
            for number, line in enumerate(text.splitlines())
            if self.form(line) not in self.common
        )
        return [number for number, _ in zip(numbers, range(LINES), strict=False)]


def _aligned(left: list[str], right: list[str]) -> Iterator[tuple[int | None, int | None]]:
    """Yield pairs of indices of equal items, and of items in only one list with None."""
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for tag, first, after_first, second, after_second in matcher.get_opcodes():
        if tag == "equal":
            yield from zip(range(first, after_first), range(second, after_second), strict=True)
        else:
            yield from ((place, None) for place in range(first, after_first))
            yield from ((None, place) for place in range(second, after_second))


def side_by_side(left: str, right: str, rarity: Rarity) -> list[Line]:
    """Return the lines of two files that are not common, with equal ones paired."""
    lines = left.splitlines(), right.splitlines()
    numbers = rarity.rare(left), rarity.rare(right)
    forms = [
        [rarity.form(own[number]) for number in rare]
        for own, rare in zip(lines, numbers, strict=True)
    ]
    both, result, last = set(forms[0]) & set(forms[1]), list[Line](), [-1, -1]
    for places in _aligned(*forms):
        at = [None if p is None else rare[p] for p, rare in zip(places, numbers, strict=True)]
        if any(now is not None and now > then + 1 for now, then in zip(at, last, strict=True)):
            result.append(Line(GAP))
        last = [then if now is None else now for now, then in zip(at, last, strict=True)]
        first, second = (
            None if now is None else (now + 1, own[now]) for now, own in zip(at, lines, strict=True)
        )
        texts = [side[1] for side in (first, second) if side is not None]
        form = rarity.form(texts[0])
        if len(texts) == 1:
            kind = MOVED if form in both else OWN
        else:
            kind = SAME if texts[0].strip() == texts[1].strip() else RENAMED
        result.append(Line(kind, first, second, rarity.holders[form]))
    return result
