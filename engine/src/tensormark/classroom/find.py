"""Who handed in what in a folder, and whose platform's download it is.

Everything goes to a student, or to nobody where that is uncertain. A name may have several
readings, and several people may fit one of them. Then staff have to decide: it gets a line of its
own that names them all. So an odd name can keep a student's own hand-in from being graded, but
never give it to anybody else, nor anybody else's to its author. Nothing and nobody is left out:
every file becomes part of a hand-in or one of its `others`, and a student on the list who handed in
nothing has a hand-in without a path.

No path is built from a name, no link is followed, and no list is taken from where students write.
"""

import datetime
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tensormark.characters import shown
from tensormark.classroom.entry import ANY, Claim, Entry, Upload, called, first_of, legible
from tensormark.classroom.people import FileError, Table, forms, people_in, read_table, words
from tensormark.classroom.platforms import BY_NAME, FOLDER, PLATFORMS
from tensormark.classroom.platforms.base import DOCUMENTS, Platform
from tensormark.classroom.platforms.gradescope import METADATA, strangers
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
TEST_STUDENTS = ("student, test", "test student")  # of Canvas
NOT_LISTED = "not on the list of the class"
DECIDE = "rename it, or name it in a column `file` of the list"
CHOSEN_BY_DATE = "of several, the newest by file date was chosen"
BY_STAFF = "~"  # the attempt of what the list names, which counts before any other
Owner = frozenset[int]  # places in the list: of one person, or of a team's members
SOMEBODY = Owner()  # else


# --- whose it is ------------------------------------------------------------------------------


@dataclass
class _Group:
    """What was handed in under names with the same readings.

    Attributes:
        owners: whose it may be: a person's or team's on the list, any of several, or nobody's.
    """

    claims: Sequence[Claim]
    uploads: list[Upload] = field(default_factory=list)
    owners: set[Owner] = field(default_factory=set)


def _groups(uploads: Iterable[Upload]) -> list[_Group]:
    """Group the uploads by the possible readings of their names."""
    groups: dict[tuple[tuple[str, ...], ...], _Group] = {}
    for upload in uploads:
        key = tuple(claim.identity for claim in upload.claims)
        groups.setdefault(key, _Group(upload.claims)).uploads.append(upload)
    return list(groups.values())


def _undecided(group: _Group, names: Iterable[str]) -> Entry:
    """Return the line of something that could belong to any of several people."""
    label = legible(group.uploads[0].path.name)
    whose = " or ".join(dict.fromkeys(map(legible, names)))
    problem = f"could belong to {whose}, so nobody gets it; {DECIDE}"
    return Entry(label, label, uploads=group.uploads, problem=problem)


def _unlisted(group: _Group, platform: Platform, remarks: Iterable[str]) -> Entry:
    """Return the hand-in of somebody who is not on a list."""
    claim, *others = group.claims
    if others and not platform.chosen_by_students:
        names = [called(each.student or each.name, each.name) for each in group.claims]
        return _undecided(group, names)
    student = legible(claim.student or claim.name)
    return Entry(student, legible(claim.name), uploads=group.uploads, remarks=[*remarks])


def _sole(groups: Iterable[_Group]) -> Counter[Owner]:
    """Return how many groups can only be one person's, by person."""
    owners = [min(group.owners) for group in groups if len(group.owners) == 1]
    return Counter(owner for owner in owners if len(owner) == 1)


def _contest(groups: Iterable[_Group], counts: Mapping[Owner, int]) -> None:
    """Add SOMEBODY to the owners of what may belong to somebody who owns something else, too."""
    for group in groups:
        if any(counts[owner] > 1 for owner in group.owners):
            group.owners.add(SOMEBODY)


class Owners:
    """The owners of uploads, by a platform's ids and the people of the class."""

    def __init__(self, people: Sequence[Entry], platform: Platform) -> None:
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
            if kind != self.platform.name:
                found = set[int]().union(*(ids.get(text, ()) for ids in self.ids.values()))
                if found:
                    return found
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

    def by_name(self, claims: Sequence[Claim], taken: set[int]) -> set[Owner]:
        """Return the possible owners by name alone, which counts only where no id can.

        Args:
            taken: people who own something by id.
        """
        if len(claims) > 1 or any(kind in self.ids for kind in claims[0].ids):
            return set()
        if self.platform.name in self.ids and ANY not in claims[0].ids:
            return set()
        people = [self.names.get(form, set()) for form in forms(claims[0].name)]
        return {frozenset({place}) for place in set().union(*people) - taken}

    def find(self, groups: Sequence[_Group]) -> None:
        """Note the possible owners of each group."""
        for group in groups:
            group.owners.update(*map(self.by_claim, group.claims))
        if not self.platform.chosen_by_students:
            self._dispute(groups)
        taken = {place for group in groups for owner in group.owners for place in owner}
        unknown = [group for group in groups if not group.owners]
        for group in unknown:
            group.owners = self.by_name(group.claims, taken)
        _contest(unknown, Counter(owner for group in unknown for owner in group.owners))

    def _dispute(self, groups: Sequence[_Group]) -> None:
        """Add SOMEBODY to the owners of what only seems to be theirs.

        A platform knows everybody under one id, so two ids are not one person. A name with one
        reading is not disputed by one with several, which somebody may have chosen.
        """
        plain = [group for group in groups if len(group.claims) == 1]
        several = [group for group in groups if len(group.claims) > 1]
        for group in several:
            # what a student chose follows the own id, which the list may lack
            if group.owners and not self.by_claim(group.claims[0]):
                group.owners.add(SOMEBODY)
        _contest(several, _sole(groups))
        _contest(plain, _sole(plain))

    def label(self, owner: Owner) -> str:
        """Return what to call a person or team on the list."""
        if not owner:
            return "somebody else"
        person = self.people[min(owner)]
        if len(owner) > 1:
            return f"team {person.team}"
        return person.called


def entries_by_owner(
    uploads: Sequence[Upload], platform: Platform, people: Sequence[Entry], folder: Path
) -> list[Entry]:
    """Give uploads to students; return those on the list in its order, and then everybody else.

    Args:
        people: those on the list; none if there is no list.
    """
    within: set[Path] = set()
    for person in people:
        if Path(person.file).parts:
            path = folder / person.file  # read like an upload: never outside of the folder
            person.uploads.append(Upload(path, (), path.name, attempt=BY_STAFF))
            within.update([path, *path.parents])
    groups = _groups(upload for upload in uploads if upload.path not in within)
    owners = Owners(people, platform)
    owners.find(groups)
    rest = []
    for group in groups:
        if len(group.owners) > 1:
            names = map(owners.label, sorted(group.owners, key=sorted))
            rest.append(_undecided(group, names))
        elif group.owners:
            for place in min(group.owners):
                people[place].uploads += group.uploads
        else:
            rest.append(_unlisted(group, platform, [NOT_LISTED] if people else []))
    return _with_unique_names([*people, *rest])


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
    said = [upload.late for upload in files if upload.late is not None]
    entry.late = any(said) if said else None
    entry.remarks += messages
    several = len({upload.together for upload in gradable}) > 1
    dated = all(upload.submitted for upload in gradable)
    if several and not dated and main.attempt != BY_STAFF:
        entry.remarks.append(CHOSEN_BY_DATE)


def note_late(found: "Found", deadline: datetime.datetime | None) -> None:
    """Note who was late, as the platform says or, where it only gives times, by a deadline."""
    for entry in found.entries:
        if entry.late is None and entry.path is not None:
            entry.late = _late(found, entry, deadline)


def _late(found: "Found", entry: Entry, deadline: datetime.datetime | None) -> bool | None:
    if found.table is not None and entry.row is not None:
        said = found.listed_by.late(found.table.named(found.table.rows[entry.row]))
        if said is not None:
            return said
    when = entry.submitted
    if when is None and found.platform is FOLDER and entry.path is not None:
        when = datetime.datetime.fromtimestamp(entry.path.lstat().st_mtime, datetime.UTC)
    return when > deadline if when and deadline else None


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


def read_list(path: Path) -> tuple[Table, list[Entry], Platform]:
    """Read a list of the class: its table, its people, and the platform whose own it is.

    Raises:
        FileError: it cannot be used.
    """
    table = read_table(path)
    platform = next((each for each in PLATFORMS if each.is_list(table.titles)), FOLDER)
    return table, people_in(table, platform.columns), platform


@dataclass(frozen=True)
class Found:
    """What was found in a folder.

    Attributes:
        folder: the folder itself, or the only one in it.
        table: the list of the class, if there is one.
        listed_by: the platform whose own list it is.
    """

    folder: Path
    platform: Platform
    entries: list[Entry]
    table: Table | None = None
    listed_by: Platform = FOLDER

    @property
    def warnings(self) -> list[str]:
        """What staff should know about the whole."""
        if os.path.lexists(self.folder / METADATA) and self.platform.name != "gradescope":
            others = strangers(handed_in(self.folder))
            fix = 'platform = "gradescope" in class.toml reads it'
            if others:
                fix = f"move {legible(others[0].name)} to a folder of its own"
            return [f"{METADATA} is not read, as the platform is {self.platform.name}; {fix}"]
        found = [each for each in self.entries if each.path]
        unlisted = [each.called for each in found if NOT_LISTED in each.remarks]
        if self.table is None or not unlisted:
            return []
        listed = self.table.path
        if len(unlisted) < len(found):
            return [f"not in {listed}: {first_of(unlisted)}"]
        example = f"{unlisted[0]!r}, for instance, is none of its ids, logins, addresses or names"
        fix = "name another list in class.toml, or add a column `file`"
        return [f"none of the hand-ins matches {listed}: {example}; {fix}"]


def _entered(folder: Path, paths: Sequence[Path]) -> tuple[Path, list[Path]]:
    """Enter a platform's folder in which an unzipped download lies alone."""
    if len(paths) == 1 and is_folder(paths[0]):
        inner = handed_in(paths[0])
        if any(platform.wrote(inner) for platform in PLATFORMS if inner):
            return paths[0], inner
    return folder, list(paths)


def find(
    folder: Path, editable: Sequence[str], list_file: Path | None = None, platform: str = ""
) -> Found:
    """Return who handed in what.

    Args:
        folder: an unpacked bulk download, or any files and folders that are named after students.
        editable: the files that students edit.
        list_file: a list of the class; its students come first.
        platform: the name of the one that the folder is from; "" to judge by the names in it.

    Raises:
        FileError: there is nothing to grade, or the list cannot be used.
    """
    paths = handed_in(folder, list_file)
    if any(path.name == editable[0] and path.is_file() for path in paths):
        raise FileError(
            f"{folder}: contains {editable[0]} itself, so it is one submission, not a folder of "
            f"submissions; use {command('grade')}, or give its parent folder"
        )
    if not paths:
        raise FileError(f"{folder}: is empty; unpack the hand-ins into it")
    folder, paths = _entered(folder, paths)
    table, people, listed_by = read_list(list_file) if list_file else (None, [], FOLDER)
    chosen = next((each for each in PLATFORMS if each.wrote(paths)), FOLDER)
    if chosen is FOLDER and listed_by.known_by_list:
        chosen = listed_by
    if platform:
        chosen = BY_NAME[platform]
    entries = entries_by_owner(chosen.uploads(paths), chosen, people, folder)
    for each in entries:
        choose(each, folder, editable)
    entries = [each for each in entries if each.path or each.name.casefold() not in TEST_STUDENTS]
    return Found(folder, chosen, entries, table, listed_by)
