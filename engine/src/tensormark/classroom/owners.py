"""Whose everything is that was handed in.

Everything goes to a student, or to nobody where that is uncertain. A name may have several
readings, and several people may fit one of them. Then staff have to decide: it gets a line of its
own that names them all. So an odd name can keep a student's own submission from being graded, but
never give it to anybody else, nor anybody else's to its author. Nothing and nobody is left out:
every file becomes part of an entry, and a student on the list who handed in nothing has an entry
without uploads.
"""

import difflib
import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tensormark.characters import first_of
from tensormark.classroom.entry import Entry, label, legible
from tensormark.classroom.people import forms, plain, words
from tensormark.classroom.platforms.base import Platform
from tensormark.classroom.upload import ANY, Claim, Upload

NOT_LISTED = "not on the class list"
UNNAMED = "has the name of the assignment's file and of no student"
EACH = "write into the column `file` of each of these rows what is theirs"
BY_STAFF = "by staff"  # the attempt of what the list names, which alone counts
NAME = "name"  # the kind of names, which no id may be of
People = set[Entry]  # of the list
Owner = tuple[Entry, ...]  # one person on the list, or the members of a team, in its order
SOMEBODY: Owner = ()  # else
Names = defaultdict[str, set[str]]
# whose a text of the list is, by its form that is compared, and beside the text as it is
Texts = defaultdict[str, list[tuple[str, Entry]]]


@dataclass
class _Group:
    """What was handed in under names with the same readings.

    Attributes:
        owners: whose it may be: a person's or team's on the list, any of several, or nobody's.
        rivals: other names that claim the same person.
    """

    claims: Sequence[Claim]
    uploads: list[Upload] = field(default_factory=list)
    owners: set[Owner] = field(default_factory=set)
    rivals: list[str] = field(default_factory=list)

    @property
    def owner(self) -> Owner:
        """Whose it is; SOMEBODY if that is not certain, or it is of another assignment."""
        certain = len(self.owners) == 1 and not self.stray
        return next(iter(self.owners)) if certain else SOMEBODY

    @property
    def label(self) -> str:
        """The name of the first file or folder."""
        return legible(self.uploads[0].path.name)

    @property
    def stray(self) -> str:
        """The title of another assignment, of which it is; "" for none."""
        return self.uploads[0].stray


def _members(owners: Iterable[Iterable[Entry]]) -> People:
    return People().union(*owners)


def _nobodys(uploads: list[Upload], why: str, fix: str = "") -> Entry:
    """Return the line of something that staff have to give to somebody."""
    name = legible(uploads[0].path.name)
    own = f"rename it, or write {name!r} into the column `file` of its owner's row in the list"
    why = f"{why}, so nobody gets it; {fix or own}"
    return Entry(name, name, uploads=uploads, problem=why, unowned=True)


class Owners:
    """The owners of uploads, by a platform's ids and the people of the class.

    Attributes:
        people: those on the list; none if there is no list.
        column: the words in the name of the column of marks; None if nobody has named it.
        given: what several students got by the list's column `file`, or another than a name says.
        doubts: what else staff should know about the whole.
    """

    def __init__(self, people: Sequence[Entry], platform: Platform, column: str = "") -> None:
        self.people = people
        self.column = words(column) or None
        self.given: list[str] = []
        self.doubts: list[str] = []
        self.platform = platform
        self.texts = defaultdict[str, Texts](lambda: Texts(list))  # by kind
        self.teams: dict[str, Owner] = {}
        for person in people:
            for title, text in person.ids.items():
                for kind in (title.partition(":")[0], ANY):
                    self.texts[kind][plain(text)].append((text, person))
            if person.name != person.student or not person.ids:
                for form in forms(person.name):
                    self.texts[NAME][form].append((form, person))
            if person.team:
                team = "".join(words(person.team))
                self.teams[team] = (*self.teams.get(team, ()), person)

    def entries(self, uploads: Sequence[Upload], folder: Path, main: str) -> list[Entry]:
        """Give uploads to students.

        Args:
            folder: in which they are.
            main: the assignment's main file, whose name says nothing of anybody.

        Returns: students on the list in its order, then everybody else.
        """
        uploads = self._after_title(uploads)
        named = [each for each in uploads if each.path.name != main]
        unnamed = [each for each in uploads if each.path.name == main]
        within, rest = self._give_named(named, folder)
        rest += [_nobodys([each], UNNAMED) for each in unnamed if each.path not in within]
        groups = self._groups([each for each in named if each.path not in within])
        self._note_rivals(groups)
        for group in groups:
            if group.owner and not group.rivals:
                for person in group.owner:
                    person.uploads += group.uploads
            else:
                rest.append(self._entry(group))
                remark = rest[-1].problem if group.stray else f"{group.label!r} could be theirs"
                for person in _members(group.owners):
                    person.remarks.append(remark)
        return _with_unique_names([*self.people, *rest])

    # --- the assignment's title, which comes before the owner in some names -----------------------

    def _after_title(self, uploads: Sequence[Upload]) -> list[Upload]:
        """Return the uploads with the claims that follow the assignment's title, else the whole.

        It is what most names begin with, or what more than half have before an id of the list: a
        name of another assignment may begin like them. Another title is known by an id of the list
        in a name that does not begin so; if it is that of the column of marks, it is meant.
        """
        begun, known = self._titles(uploads)
        half = len(set[str]().union(*begun.values())) / 2

        def rank(title: str) -> tuple[int, int]:
            sure = len(known[title])
            return sure if sure > half else 0, len(begun[title])

        def beside(title: str) -> list[str]:
            return [other for other in known if known[other] - begun[title]]

        best = max(begun, key=rank, default="")
        meant = [title for title in (best, *beside(best)) if words(title) == self.column]
        best = (meant or [best])[0]
        titles = [title for title, names in begun.items() if names == begun[best]]
        others = beside(best)
        results = [self._titled(upload, titles, others) for upload in uploads]
        strays = list(dict.fromkeys(repr(each.stray) for each in results if each.stray))
        if strays and not meant:
            self.doubts.append(
                f"submissions of several assignments: {legible(best[:-1])!r} is graded, and not "
                f"{first_of(strays)}; name its column in class.toml, or move the others elsewhere"
            )
        return results

    def _titles(self, uploads: Sequence[Upload]) -> tuple[Names, Names]:
        """Return what may be a title: with all names that begin so, and where an id follows."""
        begun = Names(set)
        known = Names(set)
        for upload in uploads:
            name = upload.claims[-1].name
            for claim in upload.claims:
                if claim.title:
                    begun[claim.title].add(name)
                    if self._by_ids(claim):
                        known[claim.title].add(name)
        return begun, known

    def _titled(self, upload: Upload, titles: list[str], strays: list[str]) -> Upload:
        """Return an upload with the claims after one of the titles, or else after a stray one."""
        whole = upload.claims[-1]
        claims = [claim for claim in upload.claims if claim.name and claim.title in titles]
        others = [claim for claim in upload.claims if claim.title in strays]
        if others and not claims and not self._by_ids(whole):
            return replace(upload, claims=(others[0],), stray=legible(others[0].title[:-1]))
        if upload.claims[0].title:
            return replace(upload, claims=tuple(claims or [whole]))
        return upload

    # --- whom a name may mean ---------------------------------------------------------------------

    def _groups(self, uploads: Sequence[Upload]) -> list[_Group]:
        """Group uploads by the possible readings of their names, with their possible owners."""
        groups: dict[object, _Group] = {}
        for upload in uploads:
            key = (upload.stray, tuple(claim.identity for claim in upload.claims))
            groups.setdefault(key, _Group(upload.claims)).uploads.append(upload)
        for group in groups.values():
            for claim in group.claims:
                people = self._by_ids(claim)
                if people or not self.platform.gives_ids:
                    group.owners |= self._owners(people, claim.name)
            group.owners = group.owners or self._by_name(group.claims)
            if group.owners and self._may_be_unlisted(group):
                group.owners.add(SOMEBODY)
        return list(groups.values())

    def _by_ids(self, claim: Claim) -> People:
        """Return the people whom the ids of a claim may mean."""
        for text in claim.ids:
            alike = self._listed(claim.kind).get(plain(text), ())
            exact = {person for own, person in alike if own == text}
            people = exact or {person for _, person in alike}
            if exact or len(people) == 1:
                return people
        return set()

    def _listed(self, kind: str) -> Texts:
        """Return the ids of the list that one of a kind may be; none if only a platform has it."""
        is_known = kind in self.texts or kind == self.platform.name
        return self.texts[kind if is_known else ANY]

    def _owners(self, people: People, name: str) -> set[Owner]:
        """Return people, or the team of a name, whose submission belongs to its members."""
        owners: set[Owner] = {(person,) for person in people}
        # a platform may have changed a team's name a little
        team = self.teams.get("".join(words(name)))
        if team is None:
            return owners
        return {team} if people.issubset(team) else owners | {team}

    def _by_name(self, claims: Sequence[Claim]) -> set[Owner]:
        """Return the possible owners by name alone, which counts only where no id can."""
        claim, *others = claims
        names = claim.ids
        if claim.kind != ANY:
            if others or self._listed(self.platform.name) or self._listed(claim.kind):
                return set()
            names = (claim.name,)
        for name in names:
            alike = (self.texts[NAME].get(form, ()) for form in forms(name))
            people = {person for _, person in itertools.chain(*alike)}
            owners = self._owners(people, name)
            if owners:
                return owners
        return set()

    def _may_be_unlisted(self, group: _Group) -> bool:
        """Return whether it may be somebody's who is not listed, although it fits others.

        Of several readings the first is right where the platform gives ids, and the name is that of
        the list: what students chose follows.
        """
        if len(group.claims) == 1 or not self.platform.gives_ids:
            return False
        first = group.claims[0]
        own = forms(first.name)
        people = self._by_ids(first)
        return all(own.isdisjoint(forms(each.name) | forms(each.team)) for each in people)

    # --- what the list names ----------------------------------------------------------------------

    def _give_named(self, uploads: Sequence[Upload], folder: Path) -> tuple[set[Path], list[Entry]]:
        """Give people what the list names in the column `file` of their rows.

        Nobody gets what is another's by its name or id, unless that one's row names a file, too:
        then staff have decided about both. Others of a team or group get what one of them gets.

        Returns: what the list names, and what nobody gets of that.
        """
        named = defaultdict[Path, People](set)  # and in whose rows
        for person in self.people:
            if Path(person.file).parts:
                named[folder / person.file].add(person)
        decided = _members(named.values())
        within: set[Path] = set()
        nobodys = []
        for path, rows in named.items():
            here = {path, *path.parents}
            within |= here
            own = [each for each in uploads if each.path in here]
            groups = self._groups(own)
            owners = set[Owner]().union(*(group.owners for group in groups))
            others = _members(owners)
            if others & rows:
                rows |= _members(group.owner for group in groups) - decided
                others = set()
            if others - decided and SOMEBODY not in owners:
                why = f"is in the row of {self._labels(rows)}, but its name or id is that of "
                nobodys.append(_nobodys(own[:1], why + self._labels(others), EACH))
                line = f"{legible(path.name)!r} could be theirs"
                others |= rows
            else:
                for person in rows:  # read like an upload: never outside of the folder
                    person.uploads.append(Upload(path, (), path.name, attempt=BY_STAFF))
                line = f"{legible(path.name)!r} goes to {self._labels(rows)}"
                whose = self._labels(others) or self._unlisted(groups)
                if whose:
                    line += f", although its name or id is that of {whose}"
                if whose or len(rows) > 1:
                    self.given.append(line)
            for person in others:
                person.remarks.append(line)
        return within, nobodys

    def _unlisted(self, groups: Sequence[_Group]) -> str:
        """Return the names in groups that have an id which the list lacks."""
        names = []
        for group in groups:
            claim = group.claims[0]
            if claim.kind != ANY and self._listed(claim.kind) and not group.owners:
                names.append(repr(legible(claim.name)))
        return " and ".join(names)

    def _labels(self, people: Iterable[Entry]) -> str:
        return " and ".join(each.label for each in sorted(people, key=self.people.index))

    # --- what nobody on the list gets -------------------------------------------------------------

    def _note_rivals(self, groups: Sequence[_Group]) -> None:
        """Note in each group the names of others that claim the same person."""
        claimed = defaultdict[object, list[_Group]](list)
        for group in groups:
            for key in self._keys(group):
                claimed[key].append(group)
        for sharing in claimed.values():
            for group, other in itertools.permutations(sharing, 2):
                # one with several readings disputes no plain one: somebody may have chosen it
                if len(other.claims) == 1 or len(group.claims) > 1:
                    group.rivals.append(other.label)

    def _keys(self, group: _Group) -> Sequence[object]:
        """Return what only one group may claim: people without any, or an unlisted name."""
        if group.owner:
            return [person for person in group.owner if not person.uploads]
        if group.owners or group.stray or len(group.claims) > 1:
            return []
        return group.claims[0].identity[-1:]  # of a copy, the name without its number

    def _entry(self, group: _Group) -> Entry:
        """Return the line of what nobody on the list gets."""
        claim, *others = group.claims
        if group.stray:
            why = f"{legible(claim.name)}'s file of another assignment, {group.stray!r}"
            return Entry(group.label, group.label, uploads=group.uploads, problem=why, unowned=True)
        owners = sorted(
            group.owners - {SOMEBODY},
            key=lambda owner: [self.people.index(person) for person in owner],
        )
        whose = [f"team {first.team}" if members else first.label for first, *members in owners]
        if SOMEBODY in group.owners:
            whose.append("somebody else")
        if not whose and group.rivals:
            whose = [claim.identity[-1]]
        if not whose and others and self.platform.gives_ids:
            whose = [label(each.student, each.name) for each in group.claims]
        if whose:
            why = f"could belong to {' or '.join(dict.fromkeys(map(legible, whose)))}"
            if group.rivals:
                why += f", as could {first_of(list(dict.fromkeys(group.rivals)))}"
            return _nobodys(group.uploads, why)
        student = legible(claim.student or claim.name)
        remarks = [f"{NOT_LISTED}, {self._why(claim)}"] if self.people else []
        return Entry(student, legible(claim.name), uploads=group.uploads, remarks=remarks)

    def _why(self, claim: Claim) -> str:
        """Say what the list lacks, and what of it is nearest: no number that a platform gave."""
        text = claim.identity[0]
        given = claim.kind == self.platform.name and self.platform.gives_ids
        known = self.texts[NAME] if given else self._listed(claim.kind) | self.texts[NAME]
        near = difflib.get_close_matches(plain(claim.name if given else text), known, 1, 0.8)
        if not near:
            return f"which has no {text!r}"
        people = {person for _, person in known[near[0]]}
        exact = ", so that only the exact one counts" if len(people) > 1 else ""
        return f"which has no {text!r}; nearest is {near[0]!r}, of {self._labels(people)}{exact}"


def _with_unique_names(entries: list[Entry]) -> list[Entry]:
    """Return the entries under unique names: all but the first of a name add that of a file."""
    names: set[str] = set()
    for each in entries:
        while each.student in names:
            each.student += f", {legible(each.uploads[0].path.name)}"
        names.add(each.student)
    return entries
