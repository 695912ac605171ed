"""Groups of near-identical submissions: a pointer for a person to look, never a verdict.

Equal files are always a group, unless they are the starter's or those of a known solution.

Other submissions are compared by their statements (statements.py), without those that the starter
has and those that known solutions have. Nearly all that is left must be the same, and so rare in
the class that chance is unlikely: an exercise with one natural answer says nothing about who wrote
it. A function counts as much as the rarest two statements of it that both have; functions are taken
to be independent. They are compared twice: pairs of statements whatever the names are, and single
ones with names as written, which more than chance decides: names are suggested by what was given.

Not covered: code that was rewritten, and what a large share of the class copied from one place.
"""

import itertools
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tensormark.files import digest, sha256, write_whole
from tensormark.intake import statements
from tensormark.intake.door import DOOR, InspectionError
from tensormark.intake.statements import Given, described

COMMON = 0.1  # of the class: what more have brings no two together
SMALLEST = 10  # a smaller class is taken for one of this size
ENOUGH = 6  # descriptions that two must share
ALIKE = 0.85  # of those of the smaller one, which two must share
# what is compared, and how surprising what two share must be: twice is what the best of all pairs
# of a class reaches by chance
SURPRISE = {"pairs": 2.0, "written": 3.0}
SECONDS = 0.5  # of processor time to describe a source; the solution takes a hundredth of one
Description = Mapping[str, Any]  # see statements.py; {} if the source could not be read
Described = Mapping[str, Sequence[int]]  # function to numbers, see statements.py
EXACTLY, ALMOST = "equal byte for byte", "equal but for the ends of lines"


@dataclass(frozen=True)
class Group:
    """Submissions that are near-identical.

    Attributes:
        members: their places among all.
        places: the functions in which they are alike.
        share: how much of the smaller one the most distant of the neighbours share.
        equal: how their files are equal, if these are the places; else "".
    """

    members: tuple[int, ...]
    places: tuple[str, ...]
    share: float = 1.0
    equal: str = ""


def _all_numbers(described: Described) -> set[int]:
    return set(itertools.chain(*described.values()))


class _Comparison:
    """The submissions of a class, and how rare what they have is.

    Attributes:
        students: the descriptions of each, by file.
        own: all of each in one, without those that were given or known.
        needed: how surprising what two share must be, in bits.
    """

    def __init__(
        self, students: Sequence[Sequence[Described]], allowed: set[int], surprise: float
    ) -> None:
        self.students = students
        self.own = [set().union(*map(_all_numbers, each)) - allowed for each in students]
        self.size = max(len(students), SMALLEST)
        self.often = Counter(itertools.chain(*self.own))
        self.needed = surprise * math.log2(self.size)

    def functions(self, index: int, shared: set[int]) -> dict[str, float]:
        """Return how surprising, in bits, what is shared of each function is."""
        rarest = {
            name: min((self.often[number] for number in has if number in shared), default=0)
            for each in self.students[index]
            for name, has in each.items()
        }
        return {name: math.log2(self.size / least) for name, least in rarest.items() if least}

    def near_identical(self, first: int, second: int) -> float | None:
        """Return how much of the smaller one two have in common; None if that may be chance.

        Among all pairs of a class, chance must be expected to bring about less than one.
        """
        shared = self.own[first] & self.own[second]
        share = len(shared) / min(len(self.own[first]), len(self.own[second]))
        if len(shared) < ENOUGH or share < ALIKE:
            return None
        surprise = sum(self.functions(first, shared).values())
        return share if surprise >= self.needed else None

    def pairs(self) -> Iterator[tuple[int, int, float]]:
        """Yield every two that are near-identical, and how much of the smaller one they share."""
        holders: dict[int, list[int]] = {}
        for index, each in enumerate(self.own):
            for number in each:
                if self.often[number] <= COMMON * self.size + 1:
                    holders.setdefault(number, []).append(index)
        both = (itertools.combinations(each, 2) for each in holders.values())
        for first, second in set(itertools.chain(*both)):
            if share := self.near_identical(first, second):
                yield first, second, share


def _groups(pairs: Sequence[tuple[int, int, float]]) -> list[list[int]]:
    """Return groups in which everybody is connected, largest first."""
    group: dict[int, list[int]] = {}
    for *pair, _ in pairs:
        first, second = (group.setdefault(member, [member]) for member in pair)
        if first is not second:
            first += second
            group |= dict.fromkeys(second, first)
    unique = {id(each): sorted(each) for each in group.values()}
    return sorted(unique.values(), key=lambda each: (-len(each), each))


def _plain_lines(text: str) -> str:
    """Return a text without what editors and systems change by themselves."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def describe(text: str, given: Given) -> Description:
    """Describe a student's source, behind the door."""
    names = {"names": sorted(given.names), "texts": sorted(given.texts)}
    try:
        rows = DOOR.ask("describe", SECONDS, {"text": text, **names}).rows
    except InspectionError:  # what is graded is not held up by what is only compared
        return {}
    return rows[0] if rows else {}


def _earlier_descriptions(path: Path | None, version: str) -> dict[str, Description]:
    if path is None:
        return {}
    try:
        contents = json.loads(path.read_bytes())
        return dict(contents["described"]) if contents["version"] == version else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _descriptions(
    given: Sequence[str], sources: Sequence[str], kept: Path | None
) -> dict[str, Description]:
    """Return the descriptions of students' sources.

    Args:
        given: the sources that they were given.
        kept: a file to keep descriptions in until the next run.
    """
    version = digest("\0".join([sha256(Path(statements.__file__)), *given]).encode())
    before, known = _earlier_descriptions(kept, version), Given.of(given)
    keys = {text: digest(text.encode(errors="replace")) for text in sources}
    described = {text: before.get(key) or describe(text, known) for text, key in keys.items()}
    by_digest = {key: described[text] for text, key in keys.items()}
    if kept is not None and by_digest != before:
        text = json.dumps({"version": version, "described": by_digest}, separators=(",", ":"))
        write_whole(kept, text)
    return described


@dataclass
class _Sources:
    """What is known of the files of a class.

    Attributes:
        known: texts that anybody may have, without the ends of lines; trees: digests of such.
        described: text to description.
    """

    known: set[str]
    trees: set[str]
    described: Mapping[str, Description]

    def is_known(self, text: str) -> bool:
        return _plain_lines(text) in self.known or self.described[text].get("tree") in self.trees

    def equal(self, submissions: Sequence[Mapping[str, str]]) -> list[Group]:
        """Return the groups of those who have equal files that not everybody may have."""
        owners: dict[tuple[str, str], list[int]] = {}
        for index, each in enumerate(submissions):
            for name, text in each.items():
                if (plain := _plain_lines(text)) and not self.is_known(text):
                    owners.setdefault((name, plain), []).append(index)
        files: dict[tuple[tuple[int, ...], str], list[str]] = {}
        for (name, _), members in owners.items():
            if len(members) > 1:
                exactly = len({submissions[index][name] for index in members}) == 1
                key = tuple(members), EXACTLY if exactly else ALMOST
                files.setdefault(key, []).append(f"{name}.py")
        return [Group(key[0], tuple(names), equal=key[1]) for key, names in files.items()]


@dataclass(frozen=True)
class Similar:
    """What the comparison of a class found.

    Attributes:
        groups: of equal files, then of others; the largest first.
        unread: the places of those of whom a file was not compared, or not in full: it is not
            Python, takes too long to read, or has too many statements.
        compared: how many submissions there were; one by a team counts once.
    """

    groups: tuple[Group, ...] = ()
    unread: tuple[int, ...] = ()
    compared: int = 0


def _similar_groups(compared: _Comparison) -> Iterator[Group]:
    pairs = sorted(compared.pairs())
    for members in _groups(pairs):
        least = min(share for index, _, share in pairs if index in members)
        shared = Counter(itertools.chain(*(compared.own[member] for member in members)))
        several = {number for number, count in shared.items() if count > 1}
        yield Group(tuple(members), tuple(compared.functions(members[0], several)), least)


def similar(
    submissions: Sequence[Mapping[str, str]],
    starter: Mapping[str, str],
    known: Sequence[Mapping[str, str]] = (),
    kept: Path | None = None,
) -> Similar:
    """Return groups of near-identical submissions.

    Args:
        submissions: module name to text; one by a team once.
        starter: what students were given; known: solutions that anybody may resemble.
        kept: a file that keeps what is slow until the next run.
    """
    texts = [
        list(dict.fromkeys(t for name, t in each.items() if t and starter.get(name) != t))
        for each in (*known, *submissions)
    ]
    flat = list(dict.fromkeys(itertools.chain(*texts)))
    descriptions = _descriptions(list(starter.values()), flat, kept)
    names = Given(Given.of([*starter.values()]).names, set())
    given = {text: described(text, names) for text in starter.values()}
    allowed = [
        *given.values(),
        *(descriptions[text] for each in texts[: len(known)] for text in each),
    ]
    students = [[descriptions[text] for text in each] for each in texts[len(known) :]]
    anybodys = {_plain_lines(text) for each in (starter, *known) for text in each.values()}
    trees = {description["tree"] for description in allowed if description}
    sources = _Sources(anybodys, trees, given | descriptions)
    groups = sources.equal(submissions)
    for kind, surprise in SURPRISE.items():
        own = [[description.get(kind, {}) for description in each] for each in students]
        common = set[int]().union(
            *(_all_numbers(description.get(kind, {})) for description in allowed)
        )
        for group in _similar_groups(_Comparison(own, common, surprise)):
            if not any(set(group.members) <= set(other.members) for other in groups):
                groups.append(group)
    unread = [
        index
        for index, each in enumerate(students)
        if any(not description or description["cut"] for description in each)
    ]
    return Similar(tuple(groups), tuple(unread), len(submissions))
