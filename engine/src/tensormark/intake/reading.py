"""Choose the files of a submission that are graded, by their names, and read them.

They are in one folder: the one nearest to the top with a file whose name stands for the main file.
An exact name comes before inexact ones (file_names.py); two equally good matches are an error.
Without a match, the only archive is opened, but none in another one, or the only other Python file
is taken. Files in folders and in archives are treated alike. Runs in limited.py only.
"""

import contextlib
import dataclasses
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tensormark.characters import listed, shown
from tensormark.files import digest
from tensormark.intake import archives, sources
from tensormark.intake.entries import (
    MAX_ENTRIES,
    Disk,
    Entry,
    File,
    Folder,
    Stamp,
    UnreadableError,
    read_as,
)
from tensormark.intake.file_names import (
    ARCHIVES,
    is_archive,
    is_from_platform,
    is_hidden,
    placeholder,
    target_of,
)

MAX_DEPTH = 8  # of nested folders
MAX_NAME = 100  # characters of another module's name
MAX_NOTES = 20
MAX_OTHERS = 20  # files elsewhere that are compared with those that are graded
MAX_OPENED = 3  # archives beside what is graded
SMALL = 4 << 20  # bytes of such an archive that is looked into
ITSELF = "it"  # the place of a submission that is a single file
ONE = "give the folder starter/ or your one file, not a folder around it"
DOWNLOAD = "download it in Finder, and then try again"
# what to do about a file of the wrong kind, by the end of its name
ADVICE = {
    (".icloud",): f"this stands for a file in iCloud; {DOWNLOAD}",
    (".ipynb",): "copy your code into {main}",
    (".html", ".htm", ".url", ".webloc"): "links and typed text cannot be graded, only {main}",
    ARCHIVES: "pack a zip instead",
    (".pdf", ".doc", ".docx", ".rtf", ".odt", ".pages", ".png", ".jpg"): "hand in {main} itself",
    ("",): "the name of a Python file ends in .py",
}
# what a file with the name of an archive may be instead, by its first bytes, in lower case
DISGUISED = {
    b"rar!": "a RAR archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"(\xb5/\xfd": "a Zstandard archive",
    b"%pdf": "a PDF",
    b"<!doctype html": "a web page",
    b"<html": "a web page",
    b"\xd0\xcf\x11\xe0": "an Office document",
}


def _files(entries: Iterable[Entry]) -> list[File]:
    return [entry for entry in entries if isinstance(entry, File)]


def _text(file: File) -> bytes:
    return file.read(sources.MAX_SOURCE).replace(b"\r\n", b"\n")


def _only(files: Sequence[File], file: str) -> File | None:
    """Return the only one of the files that stand for a file, or None; several are an error."""
    if len(files) > 1:
        first = shown(files[0].place)
        second = shown(files[1].place)
        if first == second:
            raise UnreadableError(f"it has two files with the name {first}; pack it again")
        together = first.rpartition("/")[0] == second.rpartition("/")[0]
        fix = "keep one of them" if together else ONE
        raise UnreadableError(f"more than one {file}: {first} and {second}; {fix}")
    return files[0] if files else None


def _levels(top: Folder, main: str) -> Iterator[Sequence[Sequence[Entry]]]:
    """Yield what is in the folders of each level, without what systems leave there."""
    level = [top]
    count = 0
    for _ in range(MAX_DEPTH):
        contents = []
        for folder in level:
            entries = folder.read()
            count += len(entries)
            if count > MAX_ENTRIES:
                raise UnreadableError(f"it has more than {MAX_ENTRIES} files; {ONE}")
            contents.append(
                [
                    entry
                    for entry in entries
                    if not is_hidden(entry.name) or entry.name == placeholder(main)
                ]
            )
        yield contents
        everything = itertools.chain(*contents)
        level = [entry for entry in everything if isinstance(entry, Folder)]


@dataclasses.dataclass
class Reading:
    """Reads one submission.

    Attributes:
        editable: the files that students edit; without the first, there is nothing to grade.
        given: the digests of the files that students get, by name.
        stamps: see Disk.
    """

    editable: Sequence[str]
    given: Mapping[str, str]
    stamps: dict[str, Stamp] = dataclasses.field(default_factory=dict)

    @property
    def main(self) -> str:
        """The main file."""
        return self.editable[0]

    @property
    def given_names(self) -> set[str]:
        """The names of the given files, without the folders that they are in."""
        return {os.path.basename(name) for name in self.given if name not in self.editable}

    # --- from paths to one folder ---------------------------------------------------------------

    def _part(self, part: Mapping[str, Any], place: str) -> Entry:
        below = part["below"]
        if any(name in ("", ".", "..") or "/" in name for name in below):
            raise UnreadableError("its path leads outside the folder")
        disk = Disk(part["root"], self.stamps)
        with read_as(""):
            try:
                entry = disk.entry(below, part["name"].lstrip(".") or part["name"], place)
            except FileNotFoundError as error:
                folder, name = os.path.split(part["root"])
                if os.path.lexists(os.path.join(folder, placeholder(name))):
                    raise UnreadableError(f"is in iCloud; {DOWNLOAD}") from error
                raise UnreadableError(sources.MISSING) from error
        return entry

    def _neighbours(self, path: str) -> list[Entry]:
        """Return what is beside the main file that the user named, if it has its exact name.

        Of the editable files, only those with their exact names are returned: a file with another
        name may be somebody else's.
        """
        try:
            entries = Disk(os.path.dirname(path), self.stamps).listed((), "")
        except OSError:
            return []
        return [
            entry
            for entry in entries
            if entry.name != self.main
            and target_of(entry.name, self.editable) in (None, entry.name)
        ]

    def top(self, parts: Sequence[Mapping[str, Any]]) -> Folder:
        """Return a folder of what was handed in; several parts are in it under their names."""
        if len(parts) > 1:
            entries = [self._part(part, part["name"]) for part in parts]
            return Folder("", "", lambda: entries)
        (part,) = parts
        entry = self._part(part, "")
        if isinstance(entry, Folder):
            return entry
        files: list[Entry] = [dataclasses.replace(entry, place=ITSELF)]
        if entry.name == self.main and not part["below"]:
            files += self._neighbours(part["root"])
        return Folder("", "", lambda: files)

    # --- from a folder to the files that are graded ---------------------------------------------

    def _matches(self, entries: Sequence[Entry], file: str) -> list[File]:
        """Return the files whose names stand for a file: the exact ones, or else all others."""
        files = _files(entries)
        exact = [each for each in files if each.name == file]
        return exact or [each for each in files if target_of(each.name, self.editable) == file]

    def read(self, top: Folder, in_archive: bool = False) -> dict[str, Any]:
        """Choose the files, and read them; return the answer to the request.

        Raises:
            UnreadableError: there is no main file, or more than one.
        """
        folders: list[Sequence[Entry]] = []
        for contents in _levels(top, self.main):
            everything = list(itertools.chain(*contents))
            main = _only(self._matches(everything, self.main), self.main)
            if main is not None:
                return self._answer(contents, main, top)
            if any(entry.name == placeholder(self.main) for entry in everything):
                raise UnreadableError(f"{self.main} is not here, but in iCloud; {DOWNLOAD}")
            folders += contents
        return self._without_main(folders, in_archive)

    def _without_main(self, folders: Sequence[Sequence[Entry]], in_archive: bool) -> dict[str, Any]:
        """Take the only archive, or the only Python file that is not given, for the main file."""
        files = _files(itertools.chain(*folders))
        python = [file for file in files if file.name.lower().endswith(".py")]
        packed = [file for file in files if is_archive(file.name)]
        if len(packed) == 1 and not in_archive:
            return self.read(self._unpacked(packed[0]), in_archive=True)
        if len(files) == 1 and not python and not packed:
            return self.read(self._unpacked(files[0], in_archive), in_archive=True)
        extensions = [file for file in python if target_of(file.name, self.editable)]
        own = [
            file for file in python if file.name not in self.given_names and file not in extensions
        ]
        if len(own) == 1 and not packed:
            return self._answer(folders, own[0], Folder("", "", lambda: ()))
        notebooks = [file for file in files if file.name.lower().endswith(".ipynb")]
        reasons = (
            (packed, "but {}; hand in the files themselves"),
            (own, "but {}; rename the one to grade to {main}"),
            (notebooks, "but {}; copy your code into {main}"),
            (extensions, "only {}; give a folder or a zip that also has {main}"),
        )
        fault = f"there is no {self.main} in it"
        for found, reason in reasons:
            if found:
                names = listed([file.name for file in found])
                raise UnreadableError(f"{fault}, {reason.format(names, main=self.main)}")
        raise UnreadableError(fault)

    def _unpacked(self, file: File, in_archive: bool = False) -> Folder:
        """Open an archive, but none in another one; else say what to do about the file."""
        content = file.read(archives.MAX_ARCHIVE)
        kind = archives.archive_type(content)
        if kind is not None and not in_archive:
            return archives.unpacked(content, kind)
        name = shown(file.name)
        ending = file.name.lower()
        start = content[:64].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
        if is_archive(file.name) and not ending.endswith((".7z", ".rar")):
            for magic, what in DISGUISED.items():
                if start.startswith(magic):
                    raise UnreadableError(f"{name} is {what}; pack a zip with the files instead")
            if content and kind is None:
                raise UnreadableError(f"{name} is no archive, or damaged; pack it again")
        if not content:
            raise UnreadableError(f"{shown(file.place)} is an empty file")
        advice = next(text for endings, text in ADVICE.items() if ending.endswith(endings))
        fault = f"there is no {self.main} in it, only {name}"
        if file.place == ITSELF:
            fault = "it is not a folder, a .py file, a zip or a tar"
        raise UnreadableError(f"{fault}; {advice.format(main=self.main)}")

    # --- from the files to the answer -----------------------------------------------------------

    def _answer(
        self, folders: Sequence[Sequence[Entry]], main: File, top: Folder
    ) -> dict[str, Any]:
        (beside,) = [entries for entries in folders if main in entries]
        files = {self.main: main}
        for name in self.editable[1:]:
            matches = self._matches(beside, name)
            if len(matches) == 1:  # else there is a note on them
                files[name] = matches[0]
        texts, faults = self._texts(files)
        graded = list(files.values())
        modules = [each.name.removesuffix(".py") for each in beside if each not in graded]
        others = [name for name in modules if name.isidentifier() and len(name) <= MAX_NAME]
        notes = [
            f"{shown(file.name)} is graded as {name}"
            for name, file in files.items()
            if name != file.name and file.place != ITSELF and not is_from_platform(file.name)
        ]
        notes += [*self._named_alike(beside, files), *dict.fromkeys(self._modified(beside))]
        if main.place != ITSELF:
            notes += self._elsewhere(top, main.place.rpartition("/")[0], files)
        if len(notes) > MAX_NOTES:
            notes[MAX_NOTES:] = [f"{len(notes) - MAX_NOTES} more such notes are left out"]
        return {
            "sources": texts,
            "faults": faults,
            "others": dict.fromkeys(sorted(others)[: sources.MAX_TEXTS], ""),
            "notes": dict(enumerate(notes)),
            "stamps": self.stamps,
        }

    def _texts(self, files: Mapping[str, File]) -> tuple[dict[str, str], dict[str, str]]:
        """Return the texts of files, by module, and why some cannot be used."""
        texts = {}
        faults = {}
        for name, file in files.items():
            module = name.removesuffix(".py")
            texts[module] = ""
            try:
                content = file.read(sources.MAX_SOURCE, ", too large for a solution")
                texts[module] = sources.decoded(name, content)
            except ValueError as error:
                faults[module] = str(error)
            except UnreadableError as error:
                if name == self.main:
                    raise
                faults[module] = str(error)
        return texts, faults

    def _named_alike(self, beside: Sequence[Entry], files: Mapping[str, File]) -> Iterator[str]:
        """Yield a note on the Python files whose names contain that of an editable file."""
        names: dict[str, list[str]] = {}
        for entry in _files(beside):
            name = entry.name.lower()
            if (
                name.endswith(".py")
                and entry.name not in self.given_names
                and entry not in files.values()
            ):
                alike = [file for file in self.editable if file.removesuffix(".py").lower() in name]
                if alike:
                    names.setdefault(max(alike, key=len), []).append(entry.name)
        for file, others in names.items():
            if file in files:
                yield f"{shown(files[file].name)} is graded, not {listed(others)}"
            else:
                yield f"not graded: {listed(others)}; the name must be {file}"

    def _everything(self, top: Folder) -> list[File]:
        """Return all files of a folder, or those that are found before it is too much."""
        found: list[File] = []
        with contextlib.suppress(UnreadableError):
            for contents in _levels(top, self.main):
                for entries in contents:
                    found += _files(entries)
        return found

    def _elsewhere(self, top: Folder, folder: str, files: Mapping[str, File]) -> Iterator[str]:
        """Yield a note on each file outside of the graded folder that may be what was meant."""
        everything = self._everything(top)
        others = [file for file in everything if file.place.rpartition("/")[0] != folder]
        for archive in [file for file in everything if is_archive(file.name)][:MAX_OPENED]:
            try:
                content = archive.read(SMALL)
                kind = archives.archive_type(content)
                inside = archives.unpacked(content, kind) if kind else None
            except UnreadableError:
                inside = None
            if inside is None:
                yield f"{shown(archive.place)} is not opened, as there is a {self.main}"
                continue
            for file in self._everything(inside):
                place = f"{file.place} in {archive.place}"
                others.append(dataclasses.replace(file, place=place))
        alike = [file for file in others if target_of(file.name, self.editable)]
        for file in alike[:MAX_OTHERS]:
            yield from self._other(file, files)

    def _other(self, file: File, files: Mapping[str, File]) -> Iterator[str]:
        """Yield a note on a file elsewhere unless it is as given, or equal to what is graded."""
        name = target_of(file.name, self.editable) or ""
        own = files.get(name)
        try:
            text = _text(file)
            if digest(text) == self.given.get(name) or (own is not None and text == _text(own)):
                return
        except UnreadableError:
            return
        reason = f"put it beside {self.main}"
        if own is not None:
            reason = f"{shown(own.place)} is, and they differ"
        yield f"{shown(file.place)} is not graded: {reason}"

    def _modified(self, beside: Sequence[Entry]) -> Iterator[str]:
        """Yield a note on each given file that differs from the original."""
        for entry in _files(beside):
            expected = self.given.get(entry.name)
            if expected and entry.name not in self.editable:
                try:
                    unchanged = sources.is_given(entry.read(sources.MAX_SOURCE), expected)
                except UnreadableError:
                    unchanged = False
                if not unchanged:
                    yield f"{entry.name} {sources.DIFFERS}"


def read(
    parts: Sequence[Mapping[str, Any]], editable: Sequence[str], given: Mapping[str, str]
) -> dict[str, Any]:
    """Return the texts of what was handed in, or why there are none; see submission.py.

    Args:
        parts: paths, with the names that the student gave them. A single folder, archive or file is
            read as it is; several are graded as if they were in one folder under these names.
    """
    try:
        reading = Reading(editable, given)
        return reading.read(reading.top(parts))
    except UnreadableError as error:
        return {"error": str(error)}
    except (MemoryError, RecursionError):
        return {"error": sources.TOO_MUCH}
