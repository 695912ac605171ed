"""Groups of near-identical submissions: a pointer for a person to look, never a verdict.

Two submissions are compared by their statements (statements.py), without those that the starter
has and those that known solutions have. Nearly all that is left must be the same, and so rare in
the class that chance is unlikely: an exercise with one natural answer says nothing about who wrote
it. A function counts as much as the rarest two statements of it that both have; functions are taken
to be independent.

Not covered: code that was rewritten, and what a large share of the class copied from one place.
"""

import itertools
import json
import marshal
import math
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.files import digest, sha256, write_whole

DESCRIBER = Path(__file__).with_name("statements.py")
DEADLINE = 60.0  # seconds for all sources of a class; what is left then is not compared
ENDINGS = 20  # sources that may end the process that reads them; more are not compared
COMMON = 0.1  # of the class: what more have brings no two together
SMALLEST = 10  # a smaller class is taken for one of this size
ENOUGH = 6  # descriptions that two must share
ALIKE = 0.85  # of those of the smaller one, which two must share
Described = Mapping[str, Sequence[int]]  # function to numbers, see statements.py


@dataclass(frozen=True)
class Group:
    """Submissions that are near-identical.

    Attributes:
        members: their places among all.
        places: the functions in which they are alike.
        share: how much of the smaller one the most distant of the neighbours share.
    """

    members: tuple[int, ...]
    places: tuple[str, ...]
    share: float


# --- descriptions -----------------------------------------------------------------------------


def run(given: Sequence[str], sources: Sequence[str], seconds: float) -> list[Described]:
    """Describe sources in a process of its own; return the descriptions until it ended."""
    request = marshal.dumps({"given": list(given), "sources": list(sources)})
    command = [sys.executable, "-I", "-S", "-B", str(DESCRIBER)]
    try:
        out = subprocess.run(
            command, input=request, capture_output=True, timeout=seconds, check=False
        ).stdout
    except subprocess.TimeoutExpired as error:
        out = error.stdout or b""
    return [json.loads(line) for line in out.split(b"\n")[:-1]]


def describe(
    given: Sequence[str], sources: Sequence[str]
) -> tuple[list[Described], list[Described]]:
    """Return the descriptions of given sources, and of students', as far as there was time.

    What cannot be read has the description {}.
    """
    first: list[Described] = []
    made: list[Described] = []
    end = time.monotonic() + DEADLINE
    for _ in range(ENDINGS):
        rows = run(given, sources[len(made) :], max(0.1, end - time.monotonic()))
        first = first or rows[: len(given)]
        made += rows[len(given) :]
        if len(made) == len(sources) or time.monotonic() > end:
            break
        made.append({})  # it ended at this one
    return first, made


def read_kept(path: Path | None, version: str) -> dict[str, Described]:
    """Return the descriptions kept from an earlier run, by digest of the source."""
    if path is None:
        return {}
    try:
        kept = json.loads(path.read_bytes())
        return dict(kept["described"]) if kept["version"] == version else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def descriptions(
    given: Sequence[str], sources: Sequence[str], kept: Path | None
) -> tuple[list[Described], list[Described]]:
    """Return the descriptions of given sources, and of others.

    Args:
        kept: a file to keep them in until the next run.
    """
    version = digest("\0".join([sha256(DESCRIBER), *given]).encode(errors="replace"))
    known = read_kept(kept, version)
    keys = [digest(text.encode(errors="replace")) for text in sources]
    starts = [f"given {number}" for number in range(len(given))]
    new = {key: text for key, text in zip(keys, sources, strict=True) if key not in known}
    if new or not known.keys() >= set(starts):
        first, made = describe(given, list(new.values()))
        known |= dict(zip(starts, first, strict=False)) | dict(zip(new, made, strict=False))
        used = {key: known[key] for key in (*starts, *keys) if key in known}
        if kept is not None:
            text = json.dumps({"version": version, "described": used}, separators=(",", ":"))
            write_whole(kept, text)
    return [known.get(key, {}) for key in starts], [known.get(key, {}) for key in keys]


# --- comparison -------------------------------------------------------------------------------


def numbers(described: Described) -> set[int]:
    """Return all descriptions of a source."""
    return set(itertools.chain(*described.values()))


class Comparison:
    """The submissions of a class, and how rare what they have is.

    Attributes:
        students: the descriptions of each, by file.
        own: all of each in one, without those that were given or known.
    """

    def __init__(self, students: Sequence[Sequence[Described]], allowed: set[int]) -> None:
        self.students = students
        self.own = [set().union(*map(numbers, each)) - allowed for each in students]
        self.size = max(len(students), SMALLEST)
        self.often = Counter(itertools.chain(*self.own))

    def functions(self, one: int, shared: set[int]) -> dict[str, float]:
        """Return how surprising, in bits, what is shared of each function is."""
        found = {
            name: min((self.often[number] for number in has if number in shared), default=0)
            for each in self.students[one]
            for name, has in each.items()
        }
        return {name: math.log2(self.size / least) for name, least in found.items() if least}

    def near_identical(self, one: int, other: int) -> float | None:
        """Return how much of the smaller one two have in common; None if that may be chance.

        Among all pairs of a class, chance must be expected to bring about less than one.
        """
        shared = self.own[one] & self.own[other]
        share = len(shared) / min(len(self.own[one]), len(self.own[other]))
        if len(shared) < ENOUGH or share < ALIKE:
            return None
        surprise = sum(self.functions(one, shared).values())
        return share if surprise >= 2 * math.log2(self.size) else None

    def pairs(self) -> Iterator[tuple[int, int, float]]:
        """Yield every two that are near-identical, and how much of the smaller one they share."""
        holders: dict[int, list[int]] = {}
        for place, each in enumerate(self.own):
            for one in each:
                if self.often[one] <= COMMON * self.size + 1:
                    holders.setdefault(one, []).append(place)
        both = (itertools.combinations(each, 2) for each in holders.values())
        for one, other in set(itertools.chain(*both)):
            if share := self.near_identical(one, other):
                yield one, other, share


def joined(found: Sequence[tuple[int, int, float]]) -> list[list[int]]:
    """Return groups in which everybody is connected, largest first."""
    group: dict[int, list[int]] = {}
    for one, other, _ in found:
        first, second = group.setdefault(one, [one]), group.setdefault(other, [other])
        if first is not second:
            first += second
            group |= dict.fromkeys(second, first)
    unique = {id(each): sorted(each) for each in group.values()}
    return sorted(unique.values(), key=lambda each: (-len(each), each))


@dataclass(frozen=True)
class Similar:
    """What the comparison of a class found.

    Attributes:
        groups: the largest first.
        unread: how many submissions were not compared, because they are not Python or took too
            long to read.
    """

    groups: tuple[Group, ...] = ()
    unread: int = 0


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
    everybody = [*known, *submissions]
    texts = [
        list(dict.fromkeys(t for name, t in each.items() if t and starter.get(name) != t))
        for each in everybody
    ]
    given, flat = descriptions(list(starter.values()), [*itertools.chain(*texts)], kept)
    rows = iter(flat)
    described = [[next(rows) for _ in each] for each in texts]
    allowed: set[int] = set().union(*map(numbers, given))
    for each in described[: len(known)]:
        allowed.update(*map(numbers, each))
    students = described[len(known) :]
    compared = Comparison(students, allowed)
    found = sorted(compared.pairs())
    made = []
    for members in joined(found):
        least = min(share for one, _, share in found if one in members)
        shared = Counter(itertools.chain(*(compared.own[member] for member in members)))
        several = {one for one, count in shared.items() if count > 1}
        places = tuple(compared.functions(members[0], several))
        made.append(Group(tuple(members), places, least))
    unread = sum(bool(each) and not any(each) for each in students)
    return Similar(tuple(made), unread)
