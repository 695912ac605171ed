"""Who handed in what in a folder, and whose platform's download it is.

Everything goes to a student, or to nobody where that is uncertain. A name may have several
readings, and several people may fit one of them. Then staff have to decide: it gets a line of its
own that names them all. So an odd name can keep a student's own submission from being graded, but
never give it to anybody else, nor anybody else's to its author. Nothing and nobody is left out:
every file becomes part of an entry or one of its `others`, and a student on the list who handed in
nothing has an entry without a path.

No path is built from a name, no link is followed, and no list is taken from where students write.
"""

import datetime
import difflib
import itertools
import os
import re
from collections import ChainMap, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tensormark.characters import listed, shown
from tensormark.classroom.entry import (
    ANY,
    Claim,
    Entry,
    Upload,
    called,
    first_of,
    legible,
    number_of,
)
from tensormark.classroom.people import (
    CsvTable,
    FileError,
    forms,
    people_in,
    plain,
    read_table,
    unread,
    words,
)
from tensormark.classroom.platforms import BY_NAME, FOLDER, PLATFORMS
from tensormark.classroom.platforms.base import DOCUMENTS, Platform
from tensormark.files import is_folder
from tensormark.intake.file_names import is_archive, target_of
from tensormark.intake.submission import Part
from tensormark.usage import command

# what systems, editors and office programs leave behind; any other name may be a student's
IGNORED = re.compile(
    r"__MACOSX|Thumbs\.db|desktop\.ini|\.DS_Store|\.localized|\.directory|Icon\r?"
    r"|\.Spotlight-V100|\.Trashes|\.fseventsd|\.git|\.gitignore|\.gitattributes|\.gitkeep|\.hg|\.svn"
    r"|\.idea|\.vscode|\.venv|\.ipynb_checkpoints|\.mypy_cache|\.pytest_cache|\.ruff_cache"
    r"|__pycache__|\.~lock\..*|~\$.*|\.nfs.*|\.fuse_hidden.*|\.Trash-.*|.*:Zone\.Identifier",
    re.S,
)
COMPANION = "._"  # begins the name of the metadata that macOS keeps beside a file or folder
NEAREST = "; nearest is "
NOT_LISTED = "not on the class list"
UNNAMED = "has the name of the assignment's file and of no student"
NO_FILE = "no file was handed in, only a text or note that the platform keeps"
CHOSEN_BY_DATE = "of several, the newest by file date was chosen"
# what is noted where an old version may be graded, by the intake, too
VERSIONS = re.compile(
    rf"{CHOSEN_BY_DATE}|.* is (?:graded, not|not opened, as|not graded: .* and they differ).*", re.S
)
SEVERAL = (
    "with several versions of a file, of which notes say what is graded; unzip a later download "
    "into an empty folder"
)
EACH = "write into the column `file` of each of these rows what is theirs"
BY_STAFF = "by staff"  # the attempt of what the list names, which alone counts
Owner = frozenset[int]  # places in the list: of one person, or of a team's members
SOMEBODY = Owner()  # else


# --- whose it is ------------------------------------------------------------------------------


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
    def label(self) -> str:
        """The name of the first file or folder."""
        return legible(self.uploads[0].path.name)


def _groups(uploads: Iterable[Upload]) -> list[_Group]:
    """Group the uploads by the possible readings of their names."""
    groups: dict[tuple[str, tuple[tuple[str, ...], ...]], _Group] = {}
    for upload in uploads:
        key = (upload.stray, tuple(claim.identity for claim in upload.claims))
        groups.setdefault(key, _Group(upload.claims)).uploads.append(upload)
    return list(groups.values())


def _nobodys(uploads: list[Upload], why: str, fix: str = "") -> Entry:
    """Return the line of something that staff have to give to somebody."""
    label = legible(uploads[0].path.name)
    own = f"rename it, or write {label!r} into the column `file` of its owner's row in the list"
    why = f"{why}, so nobody gets it; {fix or own}"
    return Entry(label, label, uploads=uploads, problem=why, unowned=True)


class Owners:
    """The owners of uploads, by a platform's ids and the people of the class.

    Attributes:
        people: those on the list; none if there is no list.
        column: the words in the name of the column of marks; None if nobody has named it.
        doubts: what staff should know about the whole.
    """

    def __init__(self, people: Sequence[Entry], platform: Platform, column: str = "") -> None:
        self.people = people
        self.column = words(column) or None
        self.doubts: list[str] = []
        self.platform = platform
        self.ids: dict[str, dict[str, set[int]]] = {}  # kind to id to places
        self.plain: dict[str, dict[str, set[int]]] = {}  # kind to plain id to places
        self.names: dict[str, set[int]] = {}
        self.teams: dict[str, Owner] = {}
        for place, person in enumerate(people):
            for title, text in person.ids.items():
                kind = title.partition(":")[0]
                self.ids.setdefault(kind, {}).setdefault(text, set()).add(place)
                self.plain.setdefault(kind, {}).setdefault(plain(text), set()).add(place)
            named = person.name != person.student or not person.ids
            for form in forms(person.name) if named else ():
                self.names.setdefault(form, set()).add(place)
            if person.team:
                team = "".join(words(person.team))
                self.teams[team] = self.teams.get(team, SOMEBODY) | {place}

    def after_title(self, uploads: Sequence[Upload]) -> list[Upload]:
        """Return the uploads with the claims that follow the assignment's title, else the whole.

        It is what most names begin with, or what more than half have before an id of the list: a
        name of another assignment may begin like them. Another title is known by an id of the list
        in a name that does not begin so; if it is that of the column of marks, it is meant.
        """
        begun = defaultdict[str, set[str]](set)  # title to names
        known = defaultdict[str, set[str]](set)  # title to those in which an id follows
        for each in uploads:
            name = each.claims[-1].name
            for claim in each.claims:
                if claim.title:
                    begun[claim.title].add(name)
                    if self.by_ids(claim):
                        known[claim.title].add(name)
        count = len(set[str]().union(*begun.values()))

        def rank(title: str) -> tuple[int, int]:
            sure = len(known[title])
            return sure if 2 * sure > count else 0, len(begun[title])

        def beside(title: str) -> list[str]:
            return [other for other in known if known[other] - begun[title]]

        best = max(begun, key=rank, default="")
        meant = [title for title in (best, *beside(best)) if words(title) == self.column]
        best = (meant or [best])[0]
        strays = beside(best)
        titles = [title for title, names in begun.items() if names == begun[best]]
        results = []
        for each in uploads:
            claims = [claim for claim in each.claims if claim.name and claim.title in titles]
            others = [claim for claim in each.claims if claim.title in strays]
            if others and not claims and not self.by_ids(each.claims[-1]):
                each = replace(each, claims=(others[0],), stray=legible(others[0].title[:-1]))
            elif each.claims[0].title:
                each = replace(each, claims=tuple(claims) or each.claims[-1:])
            results.append(each)
        left = list(dict.fromkeys(repr(each.stray) for each in results if each.stray))
        if left and not meant:
            self.doubts.append(
                f"submissions of several assignments: {legible(best[:-1])!r} is graded, and not "
                f"{first_of(left)}; name its column in class.toml, or move the others elsewhere"
            )
        return results

    def by_id(self, kinds: Collection[str], text: str) -> set[int]:
        """Return the people with an id, or else the only one with an id that is alike."""
        exact = set[int]().union(*(self.ids[kind].get(text, ()) for kind in kinds))
        if exact:
            return exact
        alike = set[int]().union(*(self.plain[kind].get(plain(text), ()) for kind in kinds))
        return alike if len(alike) == 1 else set()

    def kinds(self, kind: str) -> Collection[str]:
        """Return the kinds of the list's ids that an id of this kind may be of."""
        if kind in self.ids:
            return [kind]
        return () if kind == self.platform.name else self.ids.keys()

    def by_ids(self, claim: Claim) -> set[int]:
        """Return the people whom the ids of a claim may mean."""
        for kind, text in claim.ids.items():
            found = self.by_id(self.kinds(kind), text)
            if found or kind in self.ids:  # the strongest kind that the list has decides
                return found
        return set()

    def owners(self, people: set[int], name: str) -> set[Owner]:
        """Return people, or the team of a name, whose submission belongs to its members."""
        owners = {frozenset({place}) for place in people}
        # a platform may have changed a team's name a little
        team = self.teams.get("".join(words(name)))
        if team is None:
            return owners
        return {team} if people <= team else owners | {team}

    def by_claim(self, claim: Claim) -> set[Owner]:
        """Return a claim's possible owners by id, and by team where students choose all names."""
        people = self.by_ids(claim)
        if people or self.platform.chosen_by_students:
            return self.owners(people, claim.name)
        return set()

    def by_name(self, claims: Sequence[Claim]) -> set[Owner]:
        """Return the possible owners by name alone, which counts only where no id can."""
        claim, *others = claims
        names: Iterable[str] = claim.ids.values()
        if ANY not in claim.ids:
            if others or any(map(self.kinds, (self.platform.name, *claim.ids))):
                return set()
            names = [claim.name]
        for name in names:
            people = set[int]().union(*(self.names.get(form, ()) for form in forms(name)))
            owners = self.owners(people, name)
            if owners:
                return owners
        return set()

    def _note_owners(self, group: _Group) -> None:
        owners = set[Owner]().union(*map(self.by_claim, group.claims))
        group.owners = owners or self.by_name(group.claims)
        if group.owners and self._may_be_unlisted(group):
            group.owners.add(SOMEBODY)

    def give_named(
        self, uploads: Sequence[Upload], folder: Path
    ) -> tuple[set[Path], list[Entry], list[str]]:
        """Give people what the list names in the column `file` of their rows.

        Nobody gets what is another's by its name or id, unless that one's row names a file, too:
        then staff have decided about both. Others of a team or group get what one of them gets.

        Returns: what the list names, what nobody gets of that, and lines for staff.
        """
        named: dict[Path, set[int]] = {}  # and in whose rows
        for place, person in enumerate(self.people):
            if Path(person.file).parts:
                named.setdefault(folder / person.file, set()).add(place)
        decided = set[int]().union(*named.values())
        within: set[Path] = set()
        nobodys: list[Entry] = []
        lines: list[str] = []
        for path, rows in named.items():
            here = {path, *path.parents}
            within |= here
            own = [each for each in uploads if each.path in here]
            groups = _groups(own)
            for group in groups:
                self._note_owners(group)
            owners = set[Owner]().union(*(group.owners for group in groups))
            others = set[int]().union(*owners)
            if others & rows:
                sure = [min(group.owners) for group in groups if len(group.owners) == 1]
                rows |= set[int]().union(*sure) - decided
                others = set()
            line = f"{legible(path.name)!r} goes to {self._called(rows)}"
            unlisted = []
            for group in groups:
                claim = group.claims[0]
                kind = next(iter(claim.ids), ANY)
                if kind != ANY and self.kinds(kind) and not group.owners:
                    unlisted.append(repr(legible(claim.name)))
            whose = self._called(others) or " and ".join(unlisted)
            if whose:
                line += f", although its name or id is that of {whose}"
            if others - decided and SOMEBODY not in owners:
                why = f"is in the row of {self._called(rows)}, but its name or id is that of "
                nobodys.append(_nobodys(own[:1], why + self._called(others), EACH))
                line = f"{legible(path.name)!r} could be theirs"
                others |= rows
            else:
                for place in rows:  # read like an upload: never outside of the folder
                    upload = Upload(path, (), path.name, attempt=BY_STAFF)
                    self.people[place].uploads.append(upload)
                lines += [line] if whose or len(rows) > 1 else []
            for place in others:
                self.people[place].remarks.append(line)
        return within, nobodys, lines

    def _called(self, places: Iterable[int]) -> str:
        return " and ".join(self.people[place].called for place in sorted(places))

    def find(self, groups: Sequence[_Group]) -> None:
        """Note the possible owners of each group, and the names that claim the same person."""
        claimed: dict[object, list[_Group]] = {}
        for group in groups:
            self._note_owners(group)
            for key in self._keys(group):
                claimed.setdefault(key, []).append(group)
        for sharing in claimed.values():
            for group, other in itertools.permutations(sharing, 2):
                # one with several readings disputes no plain one: somebody may have chosen it
                if len(other.claims) == 1 or len(group.claims) > 1:
                    group.rivals.append(other.label)

    def _may_be_unlisted(self, group: _Group) -> bool:
        """Say whether something may be somebody's who is not listed, although it fits others.

        Of several readings the first is right where the platform gives ids, and the name is that of
        the list: what students chose follows, unless they choose what they are called.
        """
        if any(upload.doubtful for upload in group.uploads):
            return True
        if len(group.claims) == 1 or self.platform.chosen_by_students:
            return False
        first = group.claims[0]
        people = [self.people[place] for place in self.by_ids(first)]
        own = forms(first.name)
        return all(own.isdisjoint(forms(each.name) | forms(each.team)) for each in people)

    def _keys(self, group: _Group) -> Sequence[object]:
        """Return what only one group may claim: people without any, or an unlisted name."""
        if group.uploads[0].stray:
            return []
        if len(group.owners) == 1:
            return [place for place in min(group.owners) if not self.people[place].uploads]
        if group.owners or len(group.claims) > 1:
            return []
        return group.claims[0].identity[-1:]  # of a copy, the name without its number

    def label(self, owner: Owner) -> str:
        """Return what to call a person or team on the list."""
        person = self.people[min(owner)]
        if len(owner) > 1:
            return f"team {person.team}"
        return person.called

    def entry(self, group: _Group) -> Entry:
        """Return the line of what nobody on the list gets."""
        claim, *others = group.claims
        stray = group.uploads[0].stray
        if stray:
            why = f"{legible(claim.name)}'s file of another assignment, {stray!r}"
            return Entry(group.label, group.label, uploads=group.uploads, problem=why, unowned=True)
        whose = [self.label(owner) for owner in sorted(group.owners - {SOMEBODY}, key=sorted)]
        if SOMEBODY in group.owners:
            whose.append("somebody else")
        if not whose and group.rivals:
            whose = [claim.identity[-1]]
        if not whose and others and not self.platform.chosen_by_students:
            whose = [called(each.student, each.name) for each in group.claims]
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
        kind, text = next(iter(claim.ids.items()), (ANY, claim.name))
        given = kind == self.platform.name and not self.platform.chosen_by_students
        kinds = () if given else self.kinds(kind)
        known = ChainMap(self.names, *(self.plain[each] for each in kinds))
        near = difflib.get_close_matches(plain(claim.name if given else text), known, 1, 0.8)
        if not near:
            return f"which has no {text!r}"
        people = known[near[0]]
        exact = ", so that only the exact one counts" if len(people) > 1 else ""
        return f"which has no {text!r}{NEAREST}{near[0]!r}, of {self._called(people)}{exact}"


def entries_by_owner(
    uploads: Sequence[Upload], owners: Owners, folder: Path, main: str
) -> tuple[list[Entry], list[str]]:
    """Give uploads to students.

    Args:
        main: the assignment's main file, whose name says nothing of anybody.

    Returns: students on the list in its order, then everybody else; and lines for staff.
    """
    people = owners.people
    uploads = owners.after_title(uploads)
    named = [upload for upload in uploads if upload.path.name != main]
    within, rest, lines = owners.give_named(named, folder)
    left = [upload for upload in uploads if upload.path not in within]
    rest += [_nobodys([each], UNNAMED) for each in left if each.path.name == main]
    groups = _groups(each for each in left if each.path.name != main)
    owners.find(groups)
    for group in groups:
        stray = group.uploads[0].stray
        if len(group.owners) == 1 and not group.rivals and not stray:
            for place in min(group.owners):
                people[place].uploads += group.uploads
        else:
            rest.append(owners.entry(group))
            remark = rest[-1].problem if stray else f"{group.label!r} could be theirs"
            for place in set[int]().union(*group.owners):
                people[place].remarks.append(remark)
    return _with_unique_names([*people, *rest]), lines


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
    last = max(code, key=lambda upload: upload.order)
    own = [each for each in uploads if last.typed or not each.typed]
    attempt = [each for each in own if each.together == last.together]
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


def _fault(path: Path, folder: Path) -> str:
    if os.path.islink(path):
        return f"{shown(path.name)} is a link, which is not followed; hand in the file itself"
    if os.path.exists(path):
        return ""
    there = f"; there is {shown(path.name)}" if (folder / path.name).exists() else ""
    return f"{shown(os.path.relpath(path, folder))} is missing from the folder{there}"


def choose(entry: Entry, folder: Path, editable: Sequence[str]) -> None:
    """Decide which of a student's uploads are graded: what staff chose, or the newest."""
    uploads = [each for each in entry.uploads if each.attempt == BY_STAFF] or entry.uploads
    faults = {upload.path: entry.problem or _fault(upload.path, folder) for upload in uploads}
    messages = list(dict.fromkeys(fault for fault in faults.values() if fault))
    gradable = [upload for upload in uploads if not faults[upload.path]]
    files = _graded(gradable, editable) if gradable else []
    entry.others = [upload.path for upload in entry.uploads if upload not in files]
    if not files:
        entry.problem = "; ".join(messages)
        return
    main = _main(files, editable)
    entry.path = main.path
    entry.parts = [Part.under(folder, each.path, each.file) for each in files]
    entry.submitted = main.submitted
    said = [upload.late for upload in files if upload.late is not None]
    entry.late = any(said) if said else None
    entry.remarks += messages
    several = len({upload.together for upload in gradable}) > 1
    dated = all(upload.submitted for upload in gradable)
    if several and not dated:
        entry.remarks.append(CHOSEN_BY_DATE)
    if all(upload.typed for upload in files):
        entry.problem = NO_FILE


def note_status(found: "Found") -> list[str]:
    """Note what the platform's list says of each submission; return the same for staff.

    And return who handed in several versions of a file, once everything is read.
    """
    noted = defaultdict[str, list[str]](list)
    for entry in found.entries:
        if entry.path and entry.row is not None and found.table:
            cells = found.table.named(found.table.rows[entry.row])
            remark = found.listed_by.remark(cells, entry)
            if remark:
                entry.remarks.append(remark)
                noted[remark].append(entry.called)
            if entry.late is None:
                entry.late = found.listed_by.late(cells)
        notes = entry.submission.notes if entry.submission else ()
        if any(map(VERSIONS.fullmatch, (*entry.remarks, *notes))):
            noted[SEVERAL].append(entry.called)
    return [
        f"{number_of(len(names), 'submission')} ({remark}): {first_of(names)}"
        for remark, names in noted.items()
    ]


def note_late(found: "Found", deadline: datetime.datetime) -> list[str]:
    """Note who was late, where a platform only gives times; return why it does not, for staff.

    A time without an offset is in the deadline's.
    """
    unknown = [entry for entry in found.entries if entry.path and entry.late is None]
    for entry in unknown:
        if found.platform is FOLDER and entry.path:
            time = entry.path.lstat().st_mtime
            entry.submitted = datetime.datetime.fromtimestamp(time, deadline.tzinfo)
        when = entry.submitted
        if when:
            entry.late = when.replace(tzinfo=when.tzinfo or deadline.tzinfo) > deadline
    if found.platform is FOLDER:
        return ["deadline in class.toml: the times of the files say who was late"]
    if any(entry.late is not None for entry in unknown):
        return []
    why = "gives no times" if unknown else "says itself who was late"
    return [f"deadline in class.toml is not used: {found.platform.name} {why}"]


# --- what is in a folder ----------------------------------------------------------------------


def real(path: Path) -> Path:
    """Return a path with its links resolved as far as possible: they may be circular."""
    return Path(os.path.realpath(path))


def handed_in(folder: Path, list_file: Path | None = None) -> list[Path]:
    """Return what was handed in: all in a folder but the list and what systems put there, sorted.

    Raises:
        FileError: the folder cannot be read.
    """
    try:
        paths = {path.name: path for path in folder.iterdir()}
    except OSError as error:
        raise FileError(f"{folder}: cannot be read ({error.strerror or error})") from error
    excluded = real(list_file) if list_file else None
    return sorted(
        path
        for name, path in paths.items()
        if not IGNORED.fullmatch(name)
        and name.removeprefix(COMPANION) not in paths.keys() - {name}
        and real(folder) / name != excluded
    )


def read_list(path: Path) -> tuple[CsvTable, list[Entry], Platform]:
    """Read a class list: its table, its people, and the platform whose own it is.

    Raises:
        FileError: it cannot be used.
    """
    table = read_table(path)
    platform = next((each for each in PLATFORMS if each.is_list(table.titles)), FOLDER)
    return table, people_in(table, dict(platform.columns)), platform


@dataclass(frozen=True)
class Found:
    """What was found in a folder.

    Attributes:
        folder: the folder itself, or the only one in it.
        table: the class list, if there is one.
        listed_by: the platform whose own list it is.
        given: what several students got by its column `file`, or another than a name says.
        doubts: what else staff should know about the whole.
    """

    folder: Path
    platform: Platform
    entries: list[Entry]
    table: CsvTable | None = None
    listed_by: Platform = FOLDER
    given: Sequence[str] = ()
    doubts: Sequence[str] = ()

    @property
    def warnings(self) -> list[str]:
        """What staff should know about the whole."""
        for platform in PLATFORMS:
            line = platform.overlooked(handed_in(self.folder), self.platform.name)
            if line and platform != self.platform:
                return [line]
        found = [each for each in self.entries if each.path]
        unlisted = [each.called for each in found if each.row is None]
        if self.table is None or not unlisted:
            return []
        path = self.table.path
        titles = unread(self.table) if self.listed_by is FOLDER else []
        columns = f"; columns of it that identify nobody: {listed(titles)}" if titles else ""
        if len(unlisted) < len(found):
            is_near = any(NEAREST in "\n".join(each.remarks) for each in found)
            hint = " (notes say what is nearest)" if is_near else ""
            return [f"not in {path}{hint}: {first_of(unlisted)}{columns}"]
        example = f"{unlisted[0]!r}, for instance, is no id, login, e-mail or name in it"
        fix = f"use {self.platform.wanted}, or add a column `file`"
        return [f"none of the submissions matches {path}: {example}{columns}; {fix}"]


def _entered(folder: Path, paths: Sequence[Path]) -> tuple[Path, list[Path]]:
    """Enter a platform's folder in which an unzipped download lies alone."""
    if len(paths) == 1 and is_folder(paths[0]):
        inner = handed_in(paths[0])
        if any(platform.wrote(inner) for platform in PLATFORMS if inner):
            return paths[0], inner
    return folder, list(paths)


def find(
    folder: Path,
    editable: Sequence[str],
    list_file: Path | None = None,
    platform: str = "",
    given: Collection[str] = (),
    column: str = "",
) -> Found:
    """Return who handed in what.

    Args:
        folder: an unpacked bulk download, or any files and folders that are named after students.
        editable: the files that students edit.
        list_file: a class list; its students come first.
        platform: the name of the one that the folder is from; "" to judge by the names in it.
        given: the files that students get.
        column: the list's column of marks, as in class.toml.

    Raises:
        FileError: there is nothing to grade, or the list cannot be used.
    """
    paths = handed_in(folder, list_file)
    own = [path for path in paths if path.name in (*editable, *given) and path.is_file()]
    main = editable[0]
    if 2 * len(own) > len(paths) and main in (path.name for path in own):
        raise FileError(
            f"{folder}: contains {main} itself, so it is one submission, not a folder of "
            f"submissions; use {command('grade')}, or give its parent folder"
        )
    if not paths:
        raise FileError(f"{folder}: is empty; unpack the submissions into it")
    folder, paths = _entered(folder, paths)
    table, people, listed_by = read_list(list_file) if list_file else (None, [], FOLDER)
    chosen = next((each for each in PLATFORMS if each.wrote(paths)), FOLDER)
    if chosen is FOLDER and listed_by.known_by_list:
        chosen = listed_by
    if platform:
        chosen = BY_NAME[platform]
    match = listed_by.grades.fullmatch(column.casefold())
    owners = Owners(people, chosen, match["name"] if match else column)
    entries, given_to = entries_by_owner(chosen.uploads(paths), owners, folder, main)
    for each in entries:
        choose(each, folder, editable)
    tests = (*chosen.test_students, *listed_by.test_students)
    entries = [each for each in entries if each.path or each.name.casefold() not in tests]
    return Found(folder, chosen, entries, table, listed_by, given_to, owners.doubts)
