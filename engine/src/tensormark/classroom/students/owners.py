"""Assigns uploads to people on the class list, and to nobody where that is uncertain.

A name may have several readings, and several people on the list may fit one of them. Then staff
have to decide: the upload gets a separate line that names them all. So an odd name can keep a
student's own hand-in from being graded, but never anybody else's.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from tensormark.classroom.entry import called, legible
from tensormark.classroom.students.people import Index, forms, places, words
from tensormark.classroom.students.roster import IDS, Listed
from tensormark.classroom.students.upload import CANVAS, GRADESCOPE, MOODLE, OWN, Upload

Owner = frozenset[int]  # indices in the list: of one person, or of a team's members
NOBODY: Owner = frozenset()
STRANGERS = NOT_ON_ROSTER, NOT_IN_EXPORT = "not on the roster", "not in the Canvas export"
DECIDE = "rename it, or name it in the file column of a roster"
REPEAT = re.compile(r"(?P<own>.+?)(?: ?\((?P<browser>[0-9]{1,3})\)|-(?P<system>[0-9]{1,3}))", re.S)
SHOWN, LONGEST = 4, 60  # possible owners that are named, and characters of a name


@dataclass
class Student:
    """Somebody, and everything that they handed in; see HandIn.

    Attributes:
        fault: why the uploads could not be assigned; "" if they were.
    """

    student: str
    name: str
    keys: tuple[str, ...] = ()
    uploads: list[Upload] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    fault: str = ""
    known: bool = True


def _team_key(name: str) -> str:
    """Return a team's name for comparison: platforms change its spaces and punctuation."""
    return "".join(words(name))


def _undecided(uploads: Sequence[Upload], names: Iterable[str]) -> Student:
    """Return the line of something that could belong to any of several people."""
    people = list(dict.fromkeys(name[:LONGEST] for name in names))
    more = [f"{len(people) - SHOWN} more"] if len(people) > SHOWN else []
    owners = " or ".join([*people[:SHOWN], *more])
    label = legible(uploads[0].path.name)
    fault = f"could belong to {owners}, so nobody gets it; {DECIDE}"
    return Student(label, label, (), list(uploads), fault=fault, known=False)


def _without_repeats(uploads: Sequence[Upload], listed: Callable[[Upload], bool]) -> list[Upload]:
    """Give `ada (2).zip` and `ada-1.zip` to ada, if there is one and nobody else has that name.

    Args:
        listed: says whether the list has somebody with a name.
    """
    own = {upload.student for upload in uploads if upload.kind == OWN}
    results = []
    for upload in uploads:
        repeat = REPEAT.fullmatch(upload.student) if upload.kind == OWN else None
        if repeat and not listed(upload):
            base = replace(upload, student=repeat["own"], name=repeat["own"])
            if base.student in own or listed(base):
                upload = replace(base, again=int(repeat["browser"] or repeat["system"]))
        results.append(upload)
    return results


def _groups(uploads: Iterable[Upload]) -> list[list[Upload]]:
    """Group the uploads by the possible readings of their names."""
    groups: dict[tuple[tuple[str, str], ...], list[Upload]] = {}
    for upload in uploads:
        key = tuple(reading.identity for reading in upload.readings)
        groups.setdefault(key, []).append(upload)
    return list(groups.values())


def _student(group: Sequence[Upload], *notes: str) -> Student:
    first = group[0]
    upload_notes = dict.fromkeys(note for upload in group for note in upload.notes)
    return Student(first.student, first.name, first.keys, list(group), (*upload_notes, *notes))


def _unlisted(group: Sequence[Upload], *notes: str) -> Student:
    """Return the student of uploads that belong to nobody on a list."""
    readings = group[0].readings
    if len(readings) > 1:
        return _undecided(group, (called(reading.student, reading.name) for reading in readings))
    return _student(group, *notes)


def by_name(uploads: Sequence[Upload]) -> list[Student]:
    """Return the uploads by student, in order, without a list of the class."""
    groups = _groups(_without_repeats(uploads, lambda _: False))
    return _with_unique_names(list(map(_unlisted, groups)))


def _with_unique_names(students: Sequence[Student]) -> list[Student]:
    """Return the students under unique names: all but the first of a name add that of a file.

    Different systems may use the same name for different people.
    """
    names: set[str] = set()
    for student in students:
        name, count = student.student, 1
        while student.student in names:
            path = str(student.uploads[0].path.name) if student.uploads else name
            student.student = f"{name}, {path}" if count == 1 else f"{name}, {path}, {count}"
            count += 1
        names.add(student.student)
    return list(students)


class _ClassList:
    """The list of a class, in which owners of uploads are looked up."""

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
        """Return the people whom an id may identify.

        Where the list has a platform's own ids, nothing else counts. Only Moodle's list has its
        numbers; if it has no names, an upload's name may be an id.
        """
        platform_ids = self.platforms.get(upload.kind)
        if upload.kind != MOODLE and not platform_ids:
            return self.index.by_ids(dict.fromkeys((upload.student, *upload.keys)))
        hits = (platform_ids or {}).get(upload.id or upload.student, set())
        nameless = platform_ids and upload.kind == MOODLE and self.nameless
        return hits or (self.index.by_id(upload.name) if nameless else set())

    def team_of(self, upload: Upload) -> Owner:
        return frozenset(self.teams.get(_team_key(upload.name), ()))

    def by_forms(self, upload: Upload) -> set[int]:
        return self.index.by_forms(forms(upload.name))

    def has(self, upload: Upload) -> bool:
        """Say whether the list has a person or team with an upload's name."""
        return bool(self.by_ids(upload) or self.by_forms(upload) or self.team_of(upload))

    def owners_by_ids(self, upload: Upload) -> set[Owner]:
        """Return a reading's possible owners by id; a team's hand-in belongs to its members."""
        ids, team = self.by_ids(upload), self.team_of(upload)
        own: set[Owner] = {frozenset({index}) for index in ids}
        if len(own) != 1 or not team or upload.kind not in (CANVAS, MOODLE, OWN):
            return own
        member = ids <= team
        if upload.kind == CANVAS and not member:
            return own
        other_name = not ids & self.by_forms(upload)
        return {team} if member and other_name and upload.kind != OWN else own | {team}

    def owners_by_name(self, upload: Upload, covered: set[str], matched: set[int]) -> set[Owner]:
        """Return the possible owners by name alone.

        Args:
            covered: platforms whose ids the list has; there a name does not identify a person.
            matched: indices of people who own something by id.
        """
        if len(upload.readings) > 1 or (upload.kind == CANVAS and CANVAS in covered):
            return set()
        people = set() if upload.kind in covered else self.by_forms(upload) - matched
        if upload.kind == GRADESCOPE and upload.id:
            # several gave this number: the owner is the one with the name
            people = (self.by_forms(upload) & self.index.by_id(upload.id)) - matched
        team = self.team_of(upload) if upload.kind in (CANVAS, MOODLE, OWN) else frozenset()
        return {frozenset({index}) for index in people} | ({team} if team else set())

    def strength(self, upload: Upload, index: int) -> int:
        """Return how well an id shows that something is somebody's; lower is better.

        On Gradescope, people type their number themselves, but an address is that of an account.
        """
        keys = (upload.student, *upload.keys)
        columns = [
            column
            for column, indices in enumerate(self.index.columns)
            if any(index in indices.get(key, ()) for key in keys)
        ]
        email = upload.kind == GRADESCOPE and IDS.index("email") in columns
        return -1 if email else min(columns, default=len(IDS))

    def weaker_claims(self, claimants: Sequence[tuple[Upload, set[Owner]]]) -> set[int]:
        """Return the indices of claims to a line that another of the platform outdoes or equals.

        A platform knows everybody under one id, so two ids are not one person.
        """
        claims: dict[tuple[str, Owner], dict[tuple[str, str], tuple[int, list[int]]]] = {}
        for index, (upload, owners) in enumerate(claimants):
            owner = next(iter(owners), NOBODY)
            if len(owners) == len(owner) == 1 and upload.kind != OWN:
                reading = self.reading(upload, owner)
                rivals = claims.setdefault((reading.kind, owner), {})
                strength = self.strength(reading, min(owner))
                rivals.setdefault(reading.identity, (strength, []))[1].append(index)
        lost = set()
        for rivals in claims.values():
            best = min(strength for strength, _ in rivals.values())
            winners = [strength for strength, _ in rivals.values() if strength == best]
            for strength, members in rivals.values():
                if strength > best or len(winners) > 1:
                    lost |= set(members)
        return lost

    def owners(self, groups: Sequence[list[Upload]]) -> list[set[Owner]]:
        """Return each group's possible owners: nobody, one person or team, or several."""
        by_ids = [set().union(*map(self.owners_by_ids, group[0].readings)) for group in groups]
        firsts = [group[0] for group in groups]
        lost = self.weaker_claims(list(zip(firsts, by_ids, strict=True)))
        results = [own | ({NOBODY} if index in lost else set()) for index, own in enumerate(by_ids)]
        certain = [
            (group[0].kind, owner)
            for group, owners in zip(groups, results, strict=True)
            for owner in owners
            if len(owners) == 1
        ]
        covered = {kind for kind, ids in self.platforms.items() if ids}
        covered |= {kind for kind, _ in certain} - {OWN}
        matched = {index for _, owner in certain for index in owner}
        claims = [
            set() if owners else self.owners_by_name(group[0], covered, matched)
            for group, owners in zip(groups, results, strict=True)
        ]
        counts = Counter(owner for owners in claims for owner in owners)
        for index, owners in enumerate(claims):
            if owners and all(counts[owner] == 1 for owner in owners):
                results[index] = owners
        return results

    def label(self, owner: Owner) -> str:
        """Return what to call a person or team on the list."""
        if owner == NOBODY:
            return "somebody else"
        if len(owner) > 1:
            return f"team {self.roster[min(owner)].team}"
        student = self.roster[min(owner)]
        return called(student.student, student.name)

    def doubts(self, upload: Upload, owner: Owner) -> list[str]:
        """Return what staff should know about a hand-in that does not have its owner's name.

        Canvas names a group's hand-in after the group, and gives the id of one of its members.
        """
        named_otherwise = (
            upload.kind == CANVAS and forms(upload.name) and not owner & self.by_forms(upload)
        )
        if not named_otherwise or len(owner) > 1 or not self.platforms[CANVAS]:
            return []
        fix = "if that is a group, give a roster with a team column"
        return [f"called {upload.name[:LONGEST]!r} by Canvas; {fix}"]

    def reading(self, upload: Upload, owner: Owner) -> Upload:
        """Return the reading of a name that identifies an owner."""
        return next(
            (reading for reading in upload.readings if owner in self.owners_by_ids(reading)), upload
        )

    def unassigned(self, group: Sequence[Upload], owners: set[Owner]) -> Student:
        if owners:
            return _undecided(group, [self.label(owner) for owner in sorted(owners, key=sorted)])
        return replace(_unlisted(group, self.stranger), known=False)


def by_roster(uploads: Sequence[Upload], roster: Sequence[Listed]) -> list[Student]:
    """Give uploads to the students of a list, in its order; the rest come last."""
    students = [Student(member.student, member.name, member.keys) for member in roster]
    class_list, rest = _ClassList(roster), []
    groups = _groups(_without_repeats(uploads, class_list.has))
    for group, owners in zip(groups, class_list.owners(groups), strict=True):
        if len(owners) != 1:
            rest.append(class_list.unassigned(group, owners))
            continue
        (owner,) = owners
        for index in sorted(owner):
            own = [class_list.reading(upload, owner) for upload in group]
            students[index].uploads += own
            students[index].notes += (*_student(own).notes, *class_list.doubts(own[0], owner))
    return _with_unique_names([*students, *rest])
