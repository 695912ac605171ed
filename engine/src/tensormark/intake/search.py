"""Choose the files of a hand-in that are graded, by their names.

They are in one folder: the one nearest to the top with a file whose name stands for the main file.
There, an exact name comes before inexact ones (file_names.py); two equally good matches are an
error. Without a match, the only archive is opened, or the only other Python file is taken. Files in
folders and in archives are treated alike.
"""

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence

from tensormark.intake.archives import unpacked
from tensormark.intake.disk import MAX_ENTRIES
from tensormark.intake.file_names import ARCHIVES, is_archive, is_hidden, target_of
from tensormark.intake.syntax import shown
from tensormark.intake.tree import ITSELF, Entry, File, Folder, UnreadableError, unreadable

MAX_DEPTH = 8  # of nested folders
MAX_NESTED = 2  # archives in archives
ONE = "give the folder starter/ or your one file, not a folder around it"
# what to do about a file of the wrong kind, by the end of its name
ADVICE = {
    (".ipynb",): "copy your code into {main}",
    (".html", ".htm", ".url", ".webloc"): "links and typed text cannot be graded, only {main}",
    ARCHIVES: "pack a zip instead",
    (".pdf", ".doc", ".docx", ".rtf", ".odt", ".pages", ".png", ".jpg"): "hand in {main} itself",
    ("",): "the name of a Python file ends in .py",
}


def _not_an_archive(file: File, main: str) -> str:
    advice = (text for endings, text in ADVICE.items() if file.name.lower().endswith(endings))
    what = f"there is no {main} in it, only {shown(file.name)}"
    if file.place == ITSELF:
        what = f"{ITSELF} is not a folder, a .py file, a zip or a tar"
    return f"{what}; {next(advice).format(main=main)}"


def _only(files: Sequence[File], file: str, fix: str) -> File | None:
    """Return the only one of some files, or None; several are an error."""
    if len(files) > 1 and files[0].place == files[1].place:
        raise UnreadableError(
            f"it has two files with the name {shown(files[0].place)}; pack it again"
        )
    if len(files) > 1:
        both = " and ".join(shown(match.place) for match in files[:2])
        raise UnreadableError(f"more than one {file}: {both}; {fix}")
    return files[0] if files else None


def _files(entries: Sequence[Entry]) -> list[File]:
    return [entry for entry in entries if isinstance(entry, File)]


@dataclasses.dataclass(frozen=True)
class Selection:
    """The files of a hand-in that are graded.

    Attributes:
        files: editable file to the file that stands for it.
        beside: everything in the same folder.
        notes: what the user should know about the choice.
    """

    files: Mapping[str, File]
    beside: Sequence[Entry]
    notes: tuple[str, ...] = ()


@dataclasses.dataclass
class Search:
    """A search through a hand-in.

    Attributes:
        editable: the files that students edit, the main one first.
        given: the names of all other files that students get.
        left: how many more entries may be examined.
    """

    editable: Sequence[str]
    given: Collection[str]
    left: int = MAX_ENTRIES

    @property
    def main(self) -> str:
        """The main file, without which there is nothing to grade."""
        return self.editable[0]

    def _visible(self, folder: Folder) -> list[Entry]:
        """Return the entries of a folder, without those that systems create."""
        entries = folder.entries()
        self.left -= len(entries)
        if self.left < 0:
            raise UnreadableError(f"it has more than {MAX_ENTRIES} files; {ONE}")
        return [entry for entry in entries if not is_hidden(entry.name)]

    def _best(self, entries: Sequence[Entry], file: str) -> File | None:
        matches = [f for f in _files(entries) if target_of(f.name, self.editable) == file]
        exact = [match for match in matches if match.name == file]
        return _only(exact or matches, file, "keep one of them")

    def _named_alike(self, entries: Sequence[Entry], graded: Collection[File]) -> dict[str, str]:
        """Return the other Python files whose names contain an editable file's, by that file."""
        names: dict[str, list[str]] = {}
        for file in _files(entries):
            lower = file.name.lower()
            if not lower.endswith(".py") or file.name in self.given or file in graded:
                continue
            stems = {each: each.removesuffix(".py").lower() for each in self.editable}
            if alike := [each for each, stem in stems.items() if stem in lower]:
                names.setdefault(max(alike, key=len), []).append(shown(file.name))
        return {file: ", ".join(own) for file, own in names.items()}

    def _notes(self, entries: Sequence[Entry], files: Mapping[str, File]) -> Iterator[str]:
        """Yield what the user should know of files that look like graded ones."""
        for file, names in self._named_alike(entries, files.values()).items():
            graded = files.get(file)
            if graded is None:
                yield f"not graded: {names}; the name must be {file}"
            elif graded in entries:  # otherwise it is not known which of them it is
                yield f"{shown(graded.name)} is graded, not {names}"

    def _extension(self, entries: Sequence[Entry], file: str) -> File | None:
        """Return the match for a file that only its own exercises need; errors wait until then."""
        try:
            return self._best(entries, file)
        except UnreadableError as error:
            return unreadable(file, "", str(error))

    def _with_extensions(self, entries: Sequence[Entry], main: File, note: str = "") -> Selection:
        others = {file: self._extension(entries, file) for file in self.editable[1:]}
        present = {file: match for file, match in others.items() if match is not None}
        files = {self.main: main} | present
        notes = tuple(filter(None, [note, *self._notes(entries, files)]))
        return Selection(files, entries, notes)

    def _levels(self, top: Folder) -> Iterator[list[list[Entry]]]:
        level = [top]
        for _ in range(MAX_DEPTH):
            inside = [self._visible(folder) for folder in level]
            yield inside
            level = [entry for entries in inside for entry in entries if isinstance(entry, Folder)]

    def select(self, top: Folder, nested: int = MAX_NESTED) -> Selection:
        """Return what is graded of a hand-in, given as a folder.

        Raises:
            UnreadableError: there is no main file, or more than one.
        """
        folders: list[list[Entry]] = []
        for inside in self._levels(top):
            mains = [(entries, self._best(entries, self.main)) for entries in inside]
            homes = [(entries, main) for entries, main in mains if main is not None]
            exact = [home for home in homes if home[1].name == self.main]
            _only([main for _, main in exact or homes], self.main, ONE)
            if homes:
                entries, main = (exact or homes)[0]
                return self._with_extensions(entries, main)
            folders += inside
        return self._without_main(folders, nested)

    def _without_main(self, folders: Sequence[Sequence[Entry]], nested: int) -> Selection:
        """Return what is graded if no name stands for the main file: an archive, or a .py file."""
        files = [file for entries in folders for file in _files(entries)]
        python = [file for file in files if file.name.lower().endswith(".py")]
        own = [file for file in python if not (file.name in self.given or self._is_extension(file))]
        packed = [file for file in files if is_archive(file.name)]
        only = packed if len(packed) == 1 else files if len(files) == 1 and not python else []
        if only and nested:
            return self.select(unpacked(only[0], _not_an_archive(only[0], self.main)), nested - 1)
        if len(own) == 1 and not packed:
            (entries,) = (entries for entries in folders if own[0] in entries)
            note = f"{shown(own[0].name)} is graded as {self.main}" if len(files) > 1 else ""
            return self._with_extensions(entries, own[0], note)
        raise UnreadableError(self._reason(python, own, packed))

    def _is_extension(self, file: File) -> bool:
        return target_of(file.name, self.editable) is not None

    def _reason(self, python: Sequence[File], own: Sequence[File], packed: Sequence[File]) -> str:
        names = ", ".join(shown(file.name) for file in (packed or own or python)[:3])
        missing = f"there is no {self.main} in it"
        if packed:
            return f"{missing}, but {names}; hand in the files themselves"
        if own:
            return f"{missing}, but {names}; rename the one to grade to {self.main}"
        if any(map(self._is_extension, python)):
            return f"{missing}, only {names}; give a folder or a zip of both"
        return missing
