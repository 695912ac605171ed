"""Matches a student under different names: by id, login or address, or else by name.

Ids must be written identically; ids that merely look alike do not match. Names match regardless of
case, accents, spaces and order: `lovelaceada`, `Lovelace, Ada` and `Ada Lovelace` are one name. A
name counts only if one person in each list has it, and never for somebody whom an id points to.
"""

import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WORDS, LONGEST = 32, 200  # words and characters of a name that are compared


@dataclass(frozen=True)
class Person:
    """What identifies a person.

    Attributes:
        ids: the strongest first, "" where one is missing.
        names: in any order of first and last names.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]


def words(name: str) -> list[str]:
    """Return the words of a name, in lower case and without accents."""
    plain = unicodedata.normalize("NFKD", name[:LONGEST]).casefold()
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    spaced = "".join(char if char.isalnum() else " " for char in letters)
    return spaced.split()[:WORDS]


def forms(name: str) -> frozenset[str]:
    """Return a name without spaces, once for each word that may come first."""
    parts = words(name)
    return frozenset("".join(parts[i:] + parts[:i]) for i in range(len(parts)))


def _all_forms(person: Person) -> frozenset[str]:
    return frozenset(itertools.chain.from_iterable(map(forms, person.names)))


def places(keys: Iterable[Iterable[str]]) -> dict[str, set[int]]:
    """Return the positions of each key."""
    indices: dict[str, set[int]] = {}
    for index, names in enumerate(keys):
        for key in names:
            indices.setdefault(key, set()).add(index)
    return indices


class Index:
    """The positions of ids and names in a list of people."""

    def __init__(self, people: Sequence[Person]) -> None:
        width = max((len(person.ids) for person in people), default=0)
        self.columns = [
            places(
                {person.ids[column]} - {""} if column < len(person.ids) else () for person in people
            )
            for column in range(width)
        ]
        self.forms = places(map(_all_forms, people))

    def by_id(self, key: str) -> set[int]:
        """Return the places with an id, in the strongest column that contains it."""
        return next((indices[key] for indices in self.columns if key and key in indices), set())

    def by_ids(self, keys: Iterable[str]) -> set[int]:
        """Return the places on which all listed ids agree, or else all that any points to."""
        hits = [indices for key in keys if (indices := self.by_id(key))]
        agreed = set.intersection(*hits) if hits else set()
        return agreed or set().union(*hits)

    def by_forms(self, names: Iterable[str]) -> set[int]:
        """Return the places of a name, given its forms."""
        return set().union(*(self.forms.get(form, ()) for form in names))

    def candidates(self, name: str) -> set[int]:
        """Return the places of those with this id, else with this name."""
        return self.by_id(name) or self.by_forms(forms(name))


def matches(people: Sequence[Person], others: Sequence[Person]) -> list[int | None]:
    """Return each person's place among others; None where it is uncertain."""
    index = Index(others)
    hits = [index.by_ids(person.ids) for person in people]
    claimed = set().union(*hits)
    names = [
        frozenset() if hit else _all_forms(person) for person, hit in zip(people, hits, strict=True)
    ]
    counts = Counter(itertools.chain.from_iterable(names))
    for place, own in enumerate(names):
        if all(counts[form] == 1 for form in own):
            hits[place] = hits[place] or index.by_forms(own) - claimed
    return [next(iter(hit)) if len(hit) == 1 else None for hit in hits]
