"""Whose is what was found: what the class's own list says, and nobody's where that is not certain.

A name may have several readings, and a list several people for one of them. Then a person has to
decide: it becomes a line of its own, with all of them in it. What somebody is called can so keep
their own hand-in from being graded, and never anybody else's.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from tensormark.classroom.found import CANVAS, GRADESCOPE, MOODLE, OWN, Found
from tensormark.classroom.people import Index, forms, places, words
from tensormark.classroom.roster import IDS, Listed

Who = frozenset[int]  # places in the list: of one person, or of a team's members
NOBODY: Who = frozenset()
STRANGER = "not on the roster"
DECIDE = "rename it, or put it into a roster's column file"
REPEAT = re.compile(r"(?P<own>.+?)(?: ?\((?P<browser>[0-9]{1,3})\)|-(?P<system>[0-9]{1,3}))", re.S)
SHOWN, LONGEST = 4, 60  # people who something may be of, and characters of what they are called


@dataclass
class Student:
    """Somebody, and everything that they handed in; see HandIn.

    Attributes:
        fault: why it is nobody's, if it is.
        known: see HandIn.
    """

    student: str
    name: str
    keys: tuple[str, ...] = ()
    found: list[Found] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    fault: str = ""
    known: bool = True


def _team_key(name: str) -> str:
    """Return the name of a team as it is compared: platforms change its spaces and marks."""
    return "".join(words(name))


def _label(student: str, name: str) -> str:
    return student if not name or name in student else f"{student} ({name})"


def _undecided(found: Sequence[Found], who: Iterable[str]) -> Student:
    """Return the line of something that may be several people's."""
    people = list(dict.fromkeys(one[:LONGEST] for one in who))
    more = [f"{len(people) - SHOWN} more"] if len(people) > SHOWN else []
    said = " or ".join([*people[:SHOWN], *more])
    label = found[0].path.name.encode("utf-8", "backslashreplace").decode()
    fault = f"could belong to {said}, so it is nobody's; {DECIDE}"
    return Student(label, label, (), list(found), fault=fault, known=False)


def _without_repeats(found: Sequence[Found], known: Callable[[Found], bool]) -> list[Found]:
    """Give `ada (2).zip` and `ada-1.zip` to ada, if there is one, and nobody else has that name.

    Args:
        known: says whether the list has somebody of a name.
    """
    own = {one.student for one in found if one.kind == OWN}
    made = []
    for one in found:
        repeat = REPEAT.fullmatch(one.student) if one.kind == OWN else None
        if repeat and not known(one):
            base = replace(one, student=repeat["own"], name=repeat["own"])
            if base.student in own or known(base):
                one = replace(base, again=int(repeat["browser"] or repeat["system"]))
        made.append(one)
    return made


def _groups(found: Iterable[Found]) -> list[list[Found]]:
    """Return what was found, by all that its name may stand for."""
    groups: dict[tuple[tuple[str, str], ...], list[Found]] = {}
    for one in found:
        key = tuple(reading.identity for reading in one.readings)
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def _student(group: Sequence[Found], *notes: str) -> Student:
    one = group[0]
    own = dict.fromkeys(note for found in group for note in found.notes)
    return Student(one.student, one.name, one.keys, list(group), (*own, *notes))


def by_name(found: Sequence[Found]) -> list[Student]:
    """Return what was found, by student, in order, where there is no list of the class."""
    made = []
    for group in _groups(_without_repeats(found, lambda _: False)):
        readings = group[0].readings
        if len(readings) > 1:
            made.append(_undecided(group, (_label(one.student, one.name) for one in readings)))
        else:
            made.append(_student(group))
    return _with_own_names(made)


def _with_own_names(students: Sequence[Student]) -> list[Student]:
    """Return students who all have names of their own: others than the first get that of a file.

    Different systems may use the same name for different people.
    """
    taken: set[str] = set()
    for one in students:
        name, number = one.student, 1
        while one.student in taken:
            path = str(one.found[0].path.name) if one.found else name
            one.student = f"{name}, {path}" if number == 1 else f"{name}, {path}, {number}"
            number += 1
        taken.add(one.student)
    return list(students)


class Owners:
    """The list of a class, and who of it may have handed something in."""

    def __init__(self, roster: Sequence[Listed]) -> None:
        """Index a list."""
        self.roster = roster
        self.index = Index([one.person for one in roster])
        self.platforms = {
            kind: places((one.platforms[kind],) if kind in one.platforms else () for one in roster)
            for kind in (CANVAS, MOODLE)
        }
        self.teams = places((_team_key(one.team),) if one.team else () for one in roster)
        self.nameless = all(one.name == one.student for one in roster)

    def by_ids(self, one: Found) -> set[int]:
        """Return who an id may stand for.

        Where the list says what a platform calls people, nothing else counts. A list that is not
        Moodle's knows nothing of its numbers; one without names may have them in their place.
        """
        known = self.platforms.get(one.kind)
        if one.kind != MOODLE and not known:
            return self.index.by_ids(dict.fromkeys((one.student, *one.keys)))
        hits = (known or {}).get(one.id or one.student, set())
        nameless = known and one.kind == MOODLE and self.nameless
        return hits or (self.index.by_id(one.name) if nameless else set())

    def team_of(self, one: Found) -> Who:
        """Return the members of the team that something is called after."""
        return frozenset(self.teams.get(_team_key(one.name), ()))

    def named(self, one: Found) -> set[int]:
        """Return who has a name."""
        return self.index.by_forms(forms(one.name))

    def has(self, one: Found) -> bool:
        """Say whether the list has somebody, or a team, of a name."""
        return bool(self.by_ids(one) or self.named(one) or self.team_of(one))

    def sure(self, one: Found) -> set[Who]:
        """Return who a reading may stand for by its id; a hand-in of a team's is its members'."""
        ids, team = self.by_ids(one), self.team_of(one)
        own: set[Who] = {frozenset({place}) for place in ids}
        if len(own) != 1 or not team or one.kind not in (CANVAS, MOODLE, OWN):
            return own
        member = ids <= team
        if one.kind == CANVAS and not member:
            return own
        return {team} if member and not ids & self.named(one) and one.kind != OWN else own | {team}

    def by_name(self, one: Found, known: set[str], taken: set[int]) -> set[Who]:
        """Return who may be meant by a name alone.

        Args:
            known: platforms whose ids the list has; there a name says nothing of a person.
            taken: who something was found of by id.
        """
        if len(one.readings) > 1 or (one.kind == CANVAS and CANVAS in known):
            return set()
        people = set() if one.kind in known else self.named(one) - taken
        if one.kind == GRADESCOPE and one.id:  # several gave this number: whose it is has the name
            people = (self.named(one) & self.index.by_id(one.id)) - taken
        team = self.team_of(one) if one.kind in (CANVAS, MOODLE, OWN) else frozenset()
        return {frozenset({place}) for place in people} | ({team} if team else set())

    def strength(self, one: Found, place: int) -> int:
        """Return how well an id tells that something is somebody's, the best lowest.

        On Gradescope people type a number of their own, and an address is that of an account.
        """
        keys = (one.student, *one.keys)
        columns = [
            column
            for column, known in enumerate(self.index.columns)
            if any(place in known.get(key, ()) for key in keys)
        ]
        email = one.kind == GRADESCOPE and IDS.index("email") in columns
        return -1 if email else min(columns, default=len(IDS))

    def outdone(self, whose: Sequence[tuple[Found, set[Who]]]) -> set[int]:
        """Return the places of those who claim somebody's line, and have a weaker claim to it.

        A platform knows everybody under one id, so two of them are not one person.
        """
        claims: dict[tuple[str, Who], dict[tuple[str, str], tuple[int, list[int]]]] = {}
        for place, (one, found) in enumerate(whose):
            who = next(iter(found), NOBODY)
            if len(found) == len(who) == 1 and one.kind != OWN:
                own = self.reading(one, who)
                rivals = claims.setdefault((own.kind, who), {})
                rivals.setdefault(own.identity, (self.strength(own, min(who)), []))[1].append(place)
        lost = set()
        for rivals in claims.values():
            best = min(strength for strength, _ in rivals.values())
            winners = [one for one, _ in rivals.values() if one == best]
            for strength, members in rivals.values():
                if strength > best or len(winners) > 1:
                    lost |= set(members)
        return lost

    def of(self, groups: Sequence[list[Found]]) -> list[set[Who]]:
        """Return for each group whom it may be of: nobody, one person or team, or several."""
        sure = [set().union(*map(self.sure, group[0].readings)) for group in groups]
        lost = self.outdone([(group[0], found) for group, found in zip(groups, sure, strict=True)])
        whose = [found | ({NOBODY} if place in lost else set()) for place, found in enumerate(sure)]
        certain = [
            (group[0].kind, who)
            for group, found in zip(groups, whose, strict=True)
            for who in found
            if len(found) == 1
        ]
        known = {kind for kind, found in self.platforms.items() if found}
        known |= {kind for kind, _ in certain} - {OWN}
        taken = {place for _, who in certain for place in who}
        claims = [
            set() if found else self.by_name(group[0], known, taken)
            for group, found in zip(groups, whose, strict=True)
        ]
        often = Counter(who for found in claims for who in found)
        for place, found in enumerate(claims):
            if found and all(often[who] == 1 for who in found):
                whose[place] = found
        return whose

    def called(self, who: Who) -> str:
        """Return what to call somebody of the list, or a team."""
        if who == NOBODY:
            return "somebody else"
        if len(who) > 1:
            return f"team {self.roster[min(who)].team}"
        one = self.roster[min(who)]
        return _label(one.student, one.name)

    def doubts(self, one: Found, who: Who) -> list[str]:
        """Return what a person should know of somebody's hand-in that is called after another.

        Canvas calls a group's after the group, and gives the id of one of its members.
        """
        if one.kind != CANVAS or not forms(one.name) or len(who) > 1 or not self.platforms[CANVAS]:
            return []
        if who & self.named(one):
            return []
        fix = "if that is a group's, give a roster with a column team"
        return [f"called {one.name[:LONGEST]!r} by Canvas; {fix}"]

    def reading(self, one: Found, who: Who) -> Found:
        """Return the reading of a name that is of somebody."""
        return next((found for found in one.readings if who in self.sure(found)), one)

    def told(self, group: Sequence[Found], whose: set[Who]) -> Student:
        """Return the line of what is not certainly anybody's of the list."""
        readings = group[0].readings
        people = [self.called(who) for who in sorted(whose, key=sorted)]
        if whose:
            return _undecided(group, people)
        if len(readings) > 1:
            return _undecided(group, (_label(one.student, one.name) for one in readings))
        return replace(_student(group, STRANGER), known=False)


def by_roster(found: Sequence[Found], roster: Sequence[Listed]) -> list[Student]:
    """Give what was found to the students of a list, in its order; the rest comes last."""
    made = [Student(one.student, one.name, one.keys) for one in roster]
    owners, rest = Owners(roster), []
    groups = _groups(_without_repeats(found, owners.has))
    for group, whose in zip(groups, owners.of(groups), strict=True):
        if len(whose) != 1:
            rest.append(owners.told(group, whose))
            continue
        (who,) = whose
        for place in sorted(who):
            own = [owners.reading(one, who) for one in group]
            made[place].found += own
            made[place].notes += (*_student(own).notes, *owners.doubts(own[0], who))
    return _with_own_names([*made, *rest])
