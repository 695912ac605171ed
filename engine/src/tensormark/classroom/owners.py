"""Who handed in what: everything goes to a student, or to nobody where that is uncertain.

A name may have several readings, and several people may fit one of them. Then staff have to decide:
it gets a line of its own that names them all. So an odd name can keep a student's own hand-in from
being graded, but never give it to anybody else, nor anybody else's to its author. Nothing and
nobody is left out: every file becomes part of a hand-in or one of its `others`, and a student on
the list who handed in nothing has a hand-in without a path.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tensormark.characters import shown
from tensormark.classroom.entry import ANY, Claim, Entry, Upload, called, legible
from tensormark.classroom.people import Person, forms, words
from tensormark.classroom.platforms.base import DOCUMENTS, Platform
from tensormark.files import is_folder
from tensormark.intake.file_names import is_archive, target_of
from tensormark.intake.submission import Part

NOT_LISTED = "not on the list of the class"
DECIDE = "rename it, or name it in a column `file` of the list"
CHOSEN_BY_DATE = "of several, the newest by file date was chosen"
BY_STAFF = "~"  # the attempt of what the list names, which counts before any other
Owner = frozenset[int]  # places in the list: of one person, or of a team's members
SOMEBODY = Owner()  # else


def _groups(uploads: Iterable[Upload]) -> list[list[Upload]]:
    """Group the uploads by the possible readings of their names."""
    groups: dict[tuple[tuple[str, ...], ...], list[Upload]] = {}
    for upload in uploads:
        key = tuple(claim.identity for claim in upload.claims)
        groups.setdefault(key, []).append(upload)
    return list(groups.values())


def _undecided(group: Sequence[Upload], names: Iterable[str]) -> Entry:
    """Return the line of something that could belong to any of several people."""
    label = legible(group[0].path.name)
    whose = " or ".join(dict.fromkeys(map(legible, names)))
    problem = f"could belong to {whose}, so nobody gets it; {DECIDE}"
    return Entry(label, label, uploads=[*group], problem=problem)


def _unlisted(group: Sequence[Upload], platform: Platform, *notes: str) -> Entry:
    """Return the hand-in of somebody who is not on a list."""
    claims = group[0].claims
    if len(claims) > 1 and not platform.chosen_by_students:
        return _undecided(group, [called(each.student or each.name, each.name) for each in claims])
    claim = claims[0]
    student = legible(claim.student or claim.name)
    return Entry(student, legible(claim.name), uploads=[*group], remarks=[*notes])


def _rivals(owners: Iterable[Owner], counts: Mapping[Owner, int]) -> set[Owner]:
    """Return SOMEBODY if one of these owners owns something else, too."""
    return {SOMEBODY} if any(counts[owner] > 1 for owner in owners) else set()


class Owners:
    """The owners of uploads, by a platform's ids and the people of the class."""

    def __init__(self, people: Sequence[Person], platform: Platform) -> None:
        self.people = people
        self.platform = platform
        self.ids: dict[str, dict[str, set[int]]] = {}  # kind to id to places
        self.names: dict[str, set[int]] = {}
        self.teams: dict[str, Owner] = {}
        for place, person in enumerate(people):
            for kind, text in person.ids.items():
                self.ids.setdefault(kind, {}).setdefault(text, set()).add(place)
            for form in forms(person.name) if person.name != person.student else ():
                self.names.setdefault(form, set()).add(place)
            if person.team:
                team = "".join(words(person.team))
                self.teams[team] = self.teams.get(team, SOMEBODY) | {place}

    def by_ids(self, claim: Claim) -> set[int]:
        """Return the people whom the ids of a claim may mean."""
        for kind, text in claim.ids.items():
            if kind in self.ids:  # the strongest kind that the list has decides
                return self.ids[kind].get(text, set())
            if kind != self.platform.own:
                found = [places[text] for places in self.ids.values() if text in places]
                if found:
                    return set().union(*found)
        return set()

    def by_claim(self, claim: Claim) -> set[Owner]:
        """Return a claim's possible owners by id; a team's hand-in belongs to its members."""
        people = self.by_ids(claim)
        owners = {frozenset({place}) for place in people}
        # a platform may have changed a team's name a little
        team = self.teams.get("".join(words(claim.name)))
        if team is None:
            return owners
        return {team} if people <= team else owners | {team}

    def by_name(self, group: Sequence[Upload], taken: set[int]) -> set[Owner]:
        """Return the possible owners by name alone, which counts only where no id can.

        Args:
            taken: people who own something by id.
        """
        claims = group[0].claims
        if len(claims) > 1 or any(kind in self.ids for kind in claims[0].ids):
            return set()
        if self.platform.own in self.ids and ANY not in claims[0].ids:
            return set()
        people = [self.names.get(form, set()) for form in forms(claims[0].name)]
        return {frozenset({place}) for place in set().union(*people) - taken}

    def of(self, groups: Sequence[Sequence[Upload]]) -> list[set[Owner]]:
        """Return each group's possible owners: none, one person or team, or several."""
        results = [set[Owner]().union(*map(self.by_claim, group[0].claims)) for group in groups]
        if not self.platform.chosen_by_students:
            self._dispute(groups, results)
        taken = {place for owners in results for owner in owners for place in owner}
        named = [
            set() if owners else self.by_name(group, taken)
            for group, owners in zip(groups, results, strict=True)
        ]
        counts = Counter(owner for owners in named for owner in owners)
        for owners, own in zip(results, named, strict=True):
            owners |= own | _rivals(own, counts)
        return results

    def _dispute(self, groups: Sequence[Sequence[Upload]], results: list[set[Owner]]) -> None:
        """Add SOMEBODY to the owners of what only seems to be theirs.

        A platform knows everybody under one id, so two ids are not one person. A name with one
        reading is not disputed by one with several, which somebody may have chosen.
        """
        every = Counter[Owner]()
        plain = Counter[Owner]()
        for group, owners in zip(groups, results, strict=True):
            claims = group[0].claims
            # what a student chose follows the own id, which the list may lack
            if owners and len(claims) > 1 and not self.by_claim(claims[0]):
                owners.add(SOMEBODY)
            if len(owners) == 1 and len(min(owners)) == 1:
                every.update(owners)
                plain.update(owners if len(claims) == 1 else ())
        for group, owners in zip(groups, results, strict=True):
            owners.update(_rivals(owners, plain if len(group[0].claims) == 1 else every))

    def label(self, owner: Owner) -> str:
        """Return what to call a person or team on the list."""
        if not owner:
            return "somebody else"
        person = self.people[min(owner)]
        if len(owner) > 1:
            return f"team {person.team}"
        return called(person.student, person.name)


def entries_by_owner(
    uploads: Sequence[Upload], platform: Platform, people: Sequence[Person], folder: Path
) -> list[Entry]:
    """Give uploads to students: those on the list in its order, and then everybody else.

    Args:
        people: those on the list; none if there is no list.
    """
    students = [Entry(person.student, person.name, person.row) for person in people]
    within: set[Path] = set()
    for student, person in zip(students, people, strict=True):
        if Path(person.file).parts:
            path = folder / person.file  # read like an upload: never outside of the folder
            student.uploads.append(Upload(path, (), path.name, attempt=BY_STAFF))
            within.update([path, *path.parents])
    groups = _groups(upload for upload in uploads if upload.path not in within)
    owners = Owners(people, platform)
    notes = [NOT_LISTED] if people else []
    rest = []
    for group, possible in zip(groups, owners.of(groups), strict=True):
        if not possible:
            rest.append(_unlisted(group, platform, *notes))
        elif len(possible) > 1:
            rest.append(_undecided(group, map(owners.label, sorted(possible, key=sorted))))
        else:
            for place in min(possible):
                students[place].uploads += group
    return _with_unique_names([*students, *rest])


def _with_unique_names(entries: list[Entry]) -> list[Entry]:
    """Return the entries under unique names: all but the first of a name add that of a file."""
    names: set[str] = set()
    for each in entries:
        while each.student in names:
            each.student += f", {legible(each.uploads[0].path.name)}"
        names.add(each.student)
    return entries


# --- which of several is graded ---------------------------------------------------------------


def _target(upload: Upload, editable: Sequence[str]) -> str | None:
    """Return the editable file that an upload stands for, if it is a file and stands for one."""
    name = upload.file or upload.path.name
    return target_of(name, editable) if upload.path.is_file() else None


def _is_code(upload: Upload) -> bool:
    """Say whether something may be code: it is no document, or text typed into a form."""
    document = upload.path.name.lower().endswith(DOCUMENTS) and not is_folder(upload.path)
    return not upload.typed and not document


def _graded(uploads: Sequence[Upload], editable: Sequence[str]) -> list[Upload]:
    """Return the newest attempt without old versions of its files; no document replaces code."""
    code = [upload for upload in uploads if _is_code(upload)] or uploads
    last = max(code, key=lambda upload: (upload.attempt == BY_STAFF, upload.order))
    attempt = [upload for upload in code if upload.together == last.together]
    newest: dict[str | None, int] = {}
    for upload in attempt:
        file = _target(upload, editable)
        if file is not None:
            newest[file] = max(upload.again, newest.get(file, 0))
    return [
        upload
        for upload in attempt
        if upload.again == newest.get(_target(upload, editable), upload.again)
    ]


def _main(attempt: Sequence[Upload], editable: Sequence[str]) -> Upload:
    """Return what to show people of an attempt; the intake decides what is graded."""

    def rank(upload: Upload) -> tuple[object, ...]:
        packed = is_folder(upload.path) or is_archive(upload.path.name)
        return _target(upload, editable) == editable[0], packed, upload.order

    return max(attempt, key=rank)


def _fault(path: Path) -> str:
    if os.path.islink(path):
        return f"{shown(path.name)} is a link, which is not followed; hand in the file itself"
    return "" if os.path.exists(path) else f"{shown(path.name)} is missing from the folder"


def choose(entry: Entry, folder: Path, editable: Sequence[str]) -> None:
    """Decide which of a student's uploads are graded: the newest, however late."""
    faults = {upload.path: entry.problem or _fault(upload.path) for upload in entry.uploads}
    messages = list(dict.fromkeys(fault for fault in faults.values() if fault))
    gradable = [upload for upload in entry.uploads if not faults[upload.path]]
    files = _graded(gradable, editable) if gradable else []
    entry.others = [upload.path for upload in entry.uploads if upload not in files]
    if not files:
        entry.problem = "; ".join(messages)
        return
    main = _main(files, editable)
    entry.path = main.path
    entry.parts = [Part.under(folder, each.path, each.file) for each in files]
    entry.submitted = main.submitted
    entry.late = any(upload.late for upload in files)
    entry.remarks += messages
    several = len({upload.together for upload in gradable}) > 1
    dated = all(upload.submitted for upload in gradable)
    if several and not dated and main.attempt != BY_STAFF:
        entry.remarks.append(CHOSEN_BY_DATE)
