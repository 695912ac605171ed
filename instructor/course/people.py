"""The same student under different names: matched by id, login or address, else by name.

Names are matched whatever their case, accents, spaces and order, so that `lovelaceada`, `Lovelace,
Ada` and `Ada Lovelace` are one; but only a name that one person of each list has.
"""

import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WORDS = 8  # of a name that are looked at; none is compared as text longer than LONGEST
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


def folded(key: str) -> str:
    """Return an id as it is compared."""
    return unicodedata.normalize("NFKC", key[:LONGEST]).strip().casefold()


def words(name: str) -> list[str]:
    """Return the words of a name, in lower case and without accents."""
    plain = unicodedata.normalize("NFKD", name[:LONGEST]).casefold()
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    spaced = "".join(char if char.isalnum() else " " for char in letters)
    return spaced.split()[:WORDS]


def forms(name: str) -> frozenset[str]:
    """Return a name without spaces, for each word that may come first."""
    found = words(name)
    return frozenset("".join(found[i:] + found[:i]) for i in range(len(found)))


def all_forms(person: Person) -> frozenset[str]:
    """Return the forms of every name of somebody."""
    return frozenset(itertools.chain.from_iterable(map(forms, person.names)))


def places(keys: Iterable[Iterable[str]]) -> dict[str, set[int]]:
    """Return where each key stands."""
    found: dict[str, set[int]] = {}
    for place, several in enumerate(keys):
        for key in several:
            found.setdefault(key, set()).add(place)
    return found


def matches(found: Sequence[Person], listed: Sequence[Person]) -> list[int | None]:
    """Return for each person found the place in a list, or None if that is not certain.

    The listed persons' first ids are tried against all ids of those found, then their second ones,
    and so on; names come last.
    """
    made: list[int | None] = [None] * len(found)
    for column in range(max((len(person.ids) for person in listed), default=0)):
        index = places({folded(one.ids[column])} - {""} if column < len(one.ids) else ()
                       for one in listed)  # fmt: skip
        for place, person in enumerate(found):
            if made[place] is None:
                hits = set().union(*(index.get(folded(key), ()) for key in person.ids if key))
                made[place] = hits.pop() if len(hits) == 1 else None
    index = places(map(all_forms, listed))
    own = [all_forms(person) for person in found]
    often = Counter(itertools.chain.from_iterable(own))
    for place, known in enumerate(own):
        if made[place] is None and all(often[form] == 1 for form in known):
            hits = set().union(*(index.get(form, ()) for form in known))
            made[place] = hits.pop() if len(hits) == 1 else None
    return made
