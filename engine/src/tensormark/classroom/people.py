"""The same student under different names: matched by id, login or address, else by name.

Ids are compared as they are written; what looks alike is not the same. Names are matched whatever
their case, accents, spaces and order, so that `lovelaceada`, `Lovelace, Ada` and `Ada Lovelace` are
one; but only a name that one person of each list has, and never to somebody whom an id points to.
"""

import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WORDS = 32  # of a name that are looked at; none is compared as text longer than LONGEST
LONGEST = 200


@dataclass(frozen=True)
class Person:
    """What is known of somebody.

    Attributes:
        ids: the strongest first, "" where one is lacking.
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
    """Return a name without spaces, for each word that may come first."""
    parts = words(name)
    return frozenset("".join(parts[i:] + parts[:i]) for i in range(len(parts)))


def _all_forms(person: Person) -> frozenset[str]:
    return frozenset(itertools.chain.from_iterable(map(forms, person.names)))


def places(keys: Iterable[Iterable[str]]) -> dict[str, set[int]]:
    """Return where each key stands."""
    indices: dict[str, set[int]] = {}
    for index, names in enumerate(keys):
        for key in names:
            indices.setdefault(key, set()).add(index)
    return indices


class Index:
    """Where the ids and names of a list stand in it."""

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
        """Return the places with an id, in the strongest column that has it anywhere."""
        return next((indices[key] for indices in self.columns if key and key in indices), set())

    def by_ids(self, keys: Iterable[str]) -> set[int]:
        """Return the one place that all ids point to that are in the list, else all such places."""
        hits = [indices for key in keys if (indices := self.by_id(key))]
        agreed = set.intersection(*hits) if hits else set()
        return agreed or set().union(*hits)

    def by_forms(self, known: Iterable[str]) -> set[int]:
        """Return the places of a name."""
        return set().union(*(self.forms.get(form, ()) for form in known))

    def candidates(self, name: str) -> set[int]:
        """Return the places of those with this id, else with this name."""
        return self.by_id(name) or self.by_forms(forms(name))


def matches(people: Sequence[Person], others: Sequence[Person]) -> list[int | None]:
    """Return for each person found the place in a list, or None if that is not certain."""
    known = Index(others)
    hits = [known.by_ids(person.ids) for person in people]
    taken = set().union(*hits)
    names = [
        frozenset() if hit else _all_forms(person) for person, hit in zip(people, hits, strict=True)
    ]
    counts = Counter(itertools.chain.from_iterable(names))
    for index, own in enumerate(names):
        if all(counts[form] == 1 for form in own):
            hits[index] = hits[index] or known.by_forms(own) - taken
    return [next(iter(hit)) if len(hit) == 1 else None for hit in hits]
