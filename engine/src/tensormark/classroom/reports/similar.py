"""Finds groups of near-identical submissions: a hint for a person to look, never a verdict.

Equal files always form a group, unless they are those of the starter or of a known solution.

Other submissions are compared by their statements (statements.py), except those in the starter and
in known solutions. Nearly all of the rest must be the same, and so rare in the class that chance is
unlikely: an exercise with one natural answer says nothing about who wrote it. A function counts as
much as the rarest part of it that both have; functions are assumed to be independent. Everything is
compared twice: pairs of statements regardless of names, and single statements with names as
written, which takes more evidence, as the given code suggests names to everybody.

Not covered: rewritten code, and code that a large share of the class copied from one source.
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

COMMON = 0.1  # share of the class; what more have does not make two a pair
SMALLEST = 10  # a smaller class counts as one of this size
ENOUGH = 6  # descriptions that two must share
ALIKE = 0.85  # share of the smaller one's descriptions that two must share
# what is compared, and how surprising the shared part must be; 2 is what the best of all pairs of a
# class reaches by chance
SURPRISE = {"pairs": 2.0, "written": 3.0}
SECONDS = 2  # of processor time to describe a source; a solution takes a hundredth of a second
Description = Mapping[str, Any]  # see statements.py; {} if the source could not be read
Described = Mapping[str, Sequence[int]]  # function to numbers, see statements.py
EXACTLY, ALMOST = "equal byte for byte", "equal except for line endings"


@dataclass(frozen=True)
class Group:
    """Submissions that are near-identical.

    Attributes:
        members: their indices among all submissions.
        places: the functions or files in which they are alike.
        share: the smallest share of the smaller one that two neighbours have in common.
        equal: how the files in `places` are equal; "" if `places` are functions.
    """

    members: tuple[int, ...]
    places: tuple[str, ...]
    share: float = 1.0
    equal: str = ""


def _all_numbers(described: Described) -> set[int]:
    return set(itertools.chain(*described.values()))


class _Comparison:
    """The submissions of a class, and how rare their descriptions are.

    Attributes:
        students: the descriptions of each, by file.
        numbers: all numbers of each submission, without those in given or known code.
        holders: number to how many submissions have it.
        threshold: how surprising what two share must be, in bits.
    """

    def __init__(
        self, students: Sequence[Sequence[Described]], allowed: set[int], surprise: float
    ) -> None:
        self.students = students
        self.numbers = [set().union(*map(_all_numbers, each)) - allowed for each in students]
        self.size = max(len(students), SMALLEST)
        self.holders = Counter(itertools.chain(*self.numbers))
        self.threshold = surprise * math.log2(self.size)

    def functions(self, index: int, shared: set[int]) -> dict[str, float]:
        """Return how surprising, in bits, the shared part of each function is."""
        rarest = {
            name: min((self.holders[number] for number in numbers if number in shared), default=0)
            for each in self.students[index]
            for name, numbers in each.items()
        }
        return {name: math.log2(self.size / count) for name, count in rarest.items() if count}

    def near_identical(self, first: int, second: int) -> float | None:
        """Return the share of the smaller one that two have in common; None if that may be chance.

        Among all pairs of a class, fewer than one so alike must be expected by chance.
        """
        shared = self.numbers[first] & self.numbers[second]
        share = len(shared) / min(len(self.numbers[first]), len(self.numbers[second]))
        if len(shared) < ENOUGH or share < ALIKE:
            return None
        surprise = sum(self.functions(first, shared).values())
        return share if surprise >= self.threshold else None

    def pairs(self) -> Iterator[tuple[int, int, float]]:
        """Yield each near-identical pair, and the share of the smaller one in common."""
        owners: dict[int, list[int]] = {}
        for index, each in enumerate(self.numbers):
            for number in each:
                if self.holders[number] <= COMMON * self.size + 1:
                    owners.setdefault(number, []).append(index)
        both = (itertools.combinations(each, 2) for each in owners.values())
        for first, second in set(itertools.chain(*both)):
            if share := self.near_identical(first, second):
                yield first, second, share


def _groups(pairs: Sequence[tuple[int, int, float]]) -> list[list[int]]:
    """Return the connected groups, largest first."""
    group: dict[int, list[int]] = {}
    for *pair, _ in pairs:
        first, second = (group.setdefault(member, [member]) for member in pair)
        if first is not second:
            first += second
            group |= dict.fromkeys(second, first)
    unique = {id(each): sorted(each) for each in group.values()}
    return sorted(unique.values(), key=lambda each: (-len(each), each))


def _plain_lines(text: str) -> str:
    """Return a text without what editors and systems change on their own."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def describe(text: str, given: Given) -> Description:
    """Describe a student's source, in another process (door.py)."""
    names = {"names": sorted(given.names), "texts": sorted(given.texts)}
    try:
        rows = DOOR.ask("describe", SECONDS, {"text": text, **names}).rows
    except InspectionError:  # a comparison that fails must not hold up grading
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
    given: Sequence[str], sources: Sequence[str], cache: Path | None
) -> dict[str, Description]:
    """Return the descriptions of students' sources.

    Args:
        given: the sources that students were given.
        cache: a file that keeps descriptions for the next run.
    """
    version = digest("\0".join([sha256(Path(statements.__file__)), *given]).encode())
    earlier, known = _earlier_descriptions(cache, version), Given.of(given)
    keys = {text: digest(text.encode(errors="replace")) for text in sources}
    described = {text: earlier.get(key) or describe(text, known) for text, key in keys.items()}
    by_digest = {key: described[text] for text, key in keys.items()}
    if cache is not None and by_digest != earlier:
        text = json.dumps({"version": version, "described": by_digest}, separators=(",", ":"))
        write_whole(cache, text)
    return described


@dataclass
class _Sources:
    """The files of a class, and those that anybody may have.

    Attributes:
        known: plain texts that anybody may have; trees: digests of their syntax trees.
        described: text to description.
    """

    known: set[str]
    trees: set[str]
    described: Mapping[str, Description]

    def is_known(self, text: str) -> bool:
        return _plain_lines(text) in self.known or self.described[text].get("tree") in self.trees

    def equal(self, submissions: Sequence[Mapping[str, str]]) -> list[Group]:
        """Return groups with equal files, except files that anybody may have."""
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
        unread: indices of submissions with a file that was not compared in full: it is not Python,
            takes too long to read, or has too many statements.
        compared: how many submissions there were; a team's counts once.
    """

    groups: tuple[Group, ...] = ()
    unread: tuple[int, ...] = ()
    compared: int = 0


def _similar_groups(comparison: _Comparison) -> Iterator[Group]:
    pairs = sorted(comparison.pairs())
    for members in _groups(pairs):
        least = min(share for index, _, share in pairs if index in members)
        shared = Counter(itertools.chain(*(comparison.numbers[member] for member in members)))
        several = {number for number, count in shared.items() if count > 1}
        yield Group(tuple(members), tuple(comparison.functions(members[0], several)), least)


def similar(
    submissions: Sequence[Mapping[str, str]],
    starter: Mapping[str, str],
    known: Sequence[Mapping[str, str]] = (),
    cache: Path | None = None,
) -> Similar:
    """Return groups of near-identical submissions.

    Args:
        submissions: module name to text; a team's only once.
        starter: what students were given; known: solutions that anybody may resemble.
        cache: a file that keeps slow results for the next run.
    """
    texts = [
        list(dict.fromkeys(t for name, t in each.items() if t and starter.get(name) != t))
        for each in (*known, *submissions)
    ]
    flat = list(dict.fromkeys(itertools.chain(*texts)))
    descriptions = _descriptions(list(starter.values()), flat, cache)
    names = Given(Given.of([*starter.values()]).names, set())
    starter_descriptions = {text: described(text, names) for text in starter.values()}
    allowed = [
        *starter_descriptions.values(),
        *(descriptions[text] for each in texts[: len(known)] for text in each),
    ]
    students = [[descriptions[text] for text in each] for each in texts[len(known) :]]
    public_texts = {_plain_lines(text) for each in (starter, *known) for text in each.values()}
    trees = {description["tree"] for description in allowed if description}
    sources = _Sources(public_texts, trees, starter_descriptions | descriptions)
    groups = sources.equal(submissions)
    for kind, surprise in SURPRISE.items():
        by_student = [[description.get(kind, {}) for description in each] for each in students]
        common = set[int]().union(
            *(_all_numbers(description.get(kind, {})) for description in allowed)
        )
        for group in _similar_groups(_Comparison(by_student, common, surprise)):
            if not any(set(group.members) <= set(other.members) for other in groups):
                groups.append(group)
    unread = [
        index
        for index, each in enumerate(students)
        if any(not description or description["cut"] for description in each)
    ]
    return Similar(tuple(groups), tuple(unread), len(submissions))
