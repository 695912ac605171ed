"""Whose is what was found: what the class's own list says, and nobody's where that is not certain.

A name may have several readings, and a list several people for one of them. Then a person has to
decide: it becomes a line of its own, with all of them in it. What somebody is called can so keep
their own hand-in from being graded, and never anybody else's.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from tensormark.classroom.entry import called, legible
from tensormark.classroom.people import Index, forms, places, words
from tensormark.classroom.roster import IDS, Listed
from tensormark.classroom.upload import CANVAS, GRADESCOPE, MOODLE, OWN, Upload

Who = frozenset[int]  # places in the list: of one person, or of a team's members
NOBODY: Who = frozenset()
STRANGERS = NOT_ON_ROSTER, NOT_IN_EXPORT = "not on the roster", "not in the Canvas export"
DECIDE = "rename it, or name it in the column file of a roster"
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
    uploads: list[Upload] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    fault: str = ""
    known: bool = True


def _team_key(name: str) -> str:
    """Return the name of a team as it is compared: platforms change its spaces and marks."""
    return "".join(words(name))


def _undecided(uploads: Sequence[Upload], who: Iterable[str]) -> Student:
    """Return the line of something that may be several people's."""
    people = list(dict.fromkeys(name[:LONGEST] for name in who))
    more = [f"{len(people) - SHOWN} more"] if len(people) > SHOWN else []
    names = " or ".join([*people[:SHOWN], *more])
    label = legible(uploads[0].path.name)
    fault = f"could belong to {names}, so nobody gets it; {DECIDE}"
    return Student(label, label, (), list(uploads), fault=fault, known=False)


def _without_repeats(uploads: Sequence[Upload], known: Callable[[Upload], bool]) -> list[Upload]:
    """Give `ada (2).zip` and `ada-1.zip` to ada, if there is one, and nobody else has that name.

    Args:
        known: says whether the list has somebody of a name.
    """
    own = {upload.student for upload in uploads if upload.kind == OWN}
    results = []
    for upload in uploads:
        repeat = REPEAT.fullmatch(upload.student) if upload.kind == OWN else None
        if repeat and not known(upload):
            base = replace(upload, student=repeat["own"], name=repeat["own"])
            if base.student in own or known(base):
                upload = replace(base, again=int(repeat["browser"] or repeat["system"]))
        results.append(upload)
    return results


def _groups(uploads: Iterable[Upload]) -> list[list[Upload]]:
    """Return what was found, by all that its name may stand for."""
    groups: dict[tuple[tuple[str, str], ...], list[Upload]] = {}
    for upload in uploads:
        key = tuple(reading.identity for reading in upload.readings)
        groups.setdefault(key, []).append(upload)
    return list(groups.values())


def _student(group: Sequence[Upload], *notes: str) -> Student:
    first = group[0]
    doubts = dict.fromkeys(note for upload in group for note in upload.notes)
    return Student(first.student, first.name, first.keys, list(group), (*doubts, *notes))


def by_name(uploads: Sequence[Upload]) -> list[Student]:
    """Return what was found, by student, in order, where there is no list of the class."""
    students = []
    for group in _groups(_without_repeats(uploads, lambda _: False)):
        readings = group[0].readings
        if len(readings) > 1:
            students.append(
                _undecided(group, (called(reading.student, reading.name) for reading in readings))
            )
        else:
            students.append(_student(group))
    return _with_own_names(students)


def _with_own_names(students: Sequence[Student]) -> list[Student]:
    """Return students who all have names of their own: others than the first get that of a file.

    Different systems may use the same name for different people.
    """
    taken: set[str] = set()
    for student in students:
        name, count = student.student, 1
        while student.student in taken:
            path = str(student.uploads[0].path.name) if student.uploads else name
            student.student = f"{name}, {path}" if count == 1 else f"{name}, {path}, {count}"
            count += 1
        taken.add(student.student)
    return list(students)


class _Owners:
    """The list of a class, and who of it may have handed something in."""

    def __init__(self, roster: Sequence[Listed]) -> None:
        self.roster = roster
        self.index = Index([student.person for student in roster])
        self.platforms = {
            kind: places(
                (student.platforms[kind],) if kind in student.platforms else ()
                for student in roster
            )
            for kind in (CANVAS, MOODLE)
        }
        self.teams = places(
            (_team_key(student.team),) if student.team else () for student in roster
        )
        self.stranger = NOT_IN_EXPORT if any(s.exported for s in roster) else NOT_ON_ROSTER
        self.nameless = all(student.name == student.student for student in roster)

    def by_ids(self, upload: Upload) -> set[int]:
        """Return who an id may stand for.

        Where the list says what a platform calls people, nothing else counts. A list that is not
        Moodle's knows nothing of its numbers; one without names may have them in their place.
        """
        known = self.platforms.get(upload.kind)
        if upload.kind != MOODLE and not known:
            return self.index.by_ids(dict.fromkeys((upload.student, *upload.keys)))
        hits = (known or {}).get(upload.id or upload.student, set())
        nameless = known and upload.kind == MOODLE and self.nameless
        return hits or (self.index.by_id(upload.name) if nameless else set())

    def team_of(self, upload: Upload) -> Who:
        return frozenset(self.teams.get(_team_key(upload.name), ()))

    def named(self, upload: Upload) -> set[int]:
        return self.index.by_forms(forms(upload.name))

    def has(self, upload: Upload) -> bool:
        """Say whether the list has somebody, or a team, of a name."""
        return bool(self.by_ids(upload) or self.named(upload) or self.team_of(upload))

    def sure(self, upload: Upload) -> set[Who]:
        """Return who a reading may stand for by its id; a hand-in of a team's is its members'."""
        ids, team = self.by_ids(upload), self.team_of(upload)
        own: set[Who] = {frozenset({index}) for index in ids}
        if len(own) != 1 or not team or upload.kind not in (CANVAS, MOODLE, OWN):
            return own
        member = ids <= team
        if upload.kind == CANVAS and not member:
            return own
        others_name = not ids & self.named(upload)
        return {team} if member and others_name and upload.kind != OWN else own | {team}

    def by_name(self, upload: Upload, known: set[str], taken: set[int]) -> set[Who]:
        """Return who may be meant by a name alone.

        Args:
            known: platforms whose ids the list has; there a name says nothing of a person.
            taken: who something was found of by id.
        """
        if len(upload.readings) > 1 or (upload.kind == CANVAS and CANVAS in known):
            return set()
        people = set() if upload.kind in known else self.named(upload) - taken
        if upload.kind == GRADESCOPE and upload.id:
            # several gave this number: whose it is has the name
            people = (self.named(upload) & self.index.by_id(upload.id)) - taken
        team = self.team_of(upload) if upload.kind in (CANVAS, MOODLE, OWN) else frozenset()
        return {frozenset({index}) for index in people} | ({team} if team else set())

    def strength(self, upload: Upload, index: int) -> int:
        """Return how well an id tells that something is somebody's, the best lowest.

        On Gradescope people type a number of their own, and an address is that of an account.
        """
        keys = (upload.student, *upload.keys)
        columns = [
            column
            for column, known in enumerate(self.index.columns)
            if any(index in known.get(key, ()) for key in keys)
        ]
        email = upload.kind == GRADESCOPE and IDS.index("email") in columns
        return -1 if email else min(columns, default=len(IDS))

    def outdone(self, whose: Sequence[tuple[Upload, set[Who]]]) -> set[int]:
        """Return the places of those who claim somebody's line, and have a weaker claim to it.

        A platform knows everybody under one id, so two of them are not one person.
        """
        claims: dict[tuple[str, Who], dict[tuple[str, str], tuple[int, list[int]]]] = {}
        for index, (upload, owners) in enumerate(whose):
            who = next(iter(owners), NOBODY)
            if len(owners) == len(who) == 1 and upload.kind != OWN:
                reading = self.reading(upload, who)
                rivals = claims.setdefault((reading.kind, who), {})
                strength = self.strength(reading, min(who))
                rivals.setdefault(reading.identity, (strength, []))[1].append(index)
        lost = set()
        for rivals in claims.values():
            best = min(strength for strength, _ in rivals.values())
            winners = [strength for strength, _ in rivals.values() if strength == best]
            for strength, members in rivals.values():
                if strength > best or len(winners) > 1:
                    lost |= set(members)
        return lost

    def of(self, groups: Sequence[list[Upload]]) -> list[set[Who]]:
        """Return for each group whom it may be of: nobody, one person or team, or several."""
        sure = [set().union(*map(self.sure, group[0].readings)) for group in groups]
        firsts = [group[0] for group in groups]
        lost = self.outdone(list(zip(firsts, sure, strict=True)))
        whose = [own | ({NOBODY} if index in lost else set()) for index, own in enumerate(sure)]
        certain = [
            (group[0].kind, who)
            for group, owners in zip(groups, whose, strict=True)
            for who in owners
            if len(owners) == 1
        ]
        known = {kind for kind, owners in self.platforms.items() if owners}
        known |= {kind for kind, _ in certain} - {OWN}
        taken = {index for _, who in certain for index in who}
        claims = [
            set() if owners else self.by_name(group[0], known, taken)
            for group, owners in zip(groups, whose, strict=True)
        ]
        counts = Counter(who for owners in claims for who in owners)
        for index, owners in enumerate(claims):
            if owners and all(counts[who] == 1 for who in owners):
                whose[index] = owners
        return whose

    def called(self, who: Who) -> str:
        """Return what to call somebody of the list, or a team."""
        if who == NOBODY:
            return "somebody else"
        if len(who) > 1:
            return f"team {self.roster[min(who)].team}"
        student = self.roster[min(who)]
        return called(student.student, student.name)

    def doubts(self, upload: Upload, who: Who) -> list[str]:
        """Return what a person should know of somebody's hand-in that is called after another.

        Canvas calls a group's after the group, and gives the id of one of its members.
        """
        named_otherwise = (
            upload.kind == CANVAS and forms(upload.name) and not who & self.named(upload)
        )
        if not named_otherwise or len(who) > 1 or not self.platforms[CANVAS]:
            return []
        fix = "if that is a group's, give a roster with a column team"
        return [f"called {upload.name[:LONGEST]!r} by Canvas; {fix}"]

    def reading(self, upload: Upload, who: Who) -> Upload:
        """Return the reading of a name that is of somebody."""
        return next((reading for reading in upload.readings if who in self.sure(reading)), upload)

    def told(self, group: Sequence[Upload], whose: set[Who]) -> Student:
        readings = group[0].readings
        people = [self.called(who) for who in sorted(whose, key=sorted)]
        if whose:
            return _undecided(group, people)
        if len(readings) > 1:
            return _undecided(
                group, (called(reading.student, reading.name) for reading in readings)
            )
        return replace(_student(group, self.stranger), known=False)


def by_roster(uploads: Sequence[Upload], roster: Sequence[Listed]) -> list[Student]:
    """Give what was found to the students of a list, in its order; the rest comes last."""
    students = [Student(member.student, member.name, member.keys) for member in roster]
    owners, rest = _Owners(roster), []
    groups = _groups(_without_repeats(uploads, owners.has))
    for group, whose in zip(groups, owners.of(groups), strict=True):
        if len(whose) != 1:
            rest.append(owners.told(group, whose))
            continue
        (who,) = whose
        for index in sorted(who):
            own = [owners.reading(upload, who) for upload in group]
            students[index].uploads += own
            students[index].notes += (*_student(own).notes, *owners.doubts(own[0], who))
    return _with_own_names([*students, *rest])
