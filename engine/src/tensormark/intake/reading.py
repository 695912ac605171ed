"""Read what was handed in, from its paths to the texts to grade. Runs in limited.py only.

A hand-in is one or more paths with the names that the student gave them. A single folder, archive
or file is read as it is; several are graded as if they were in one folder under these names.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tensormark.intake import texts
from tensormark.intake.disk import Disk, sentence
from tensormark.intake.file_names import target_of
from tensormark.intake.search import Search, Selection
from tensormark.intake.tree import ITSELF, Entry, File, Folder, UnreadableError

MAX_NAME = 100  # characters of another module's name
Request = Mapping[str, Any]
Answer = dict[str, Any]


def _entry(part: Mapping[str, Any], disk: Disk, place: str) -> Entry:
    below, name = part["below"], part["name"]
    if any(part_name in ("", ".", "..") or "/" in part_name for part_name in below):
        raise UnreadableError("its path leads out of the folder")
    try:
        status = disk.status(below)
    except FileNotFoundError as error:
        raise UnreadableError(texts.MISSING) from error
    except (OSError, ValueError) as error:  # a name with a null character
        raise UnreadableError(sentence(error)) from error
    if stat.S_ISDIR(status.st_mode):
        return Folder(name, place, lambda: disk.listed(below, place))
    return disk.entry(below, name.lstrip(".") or name, place or ITSELF, status)


def _with_neighbours(file: File, editable: Sequence[str], disk: Disk) -> list[Entry]:
    """Return a file that the user named, with its neighbours in the same folder.

    Neighbours are added only if the file has the main file's exact name, and editable neighbours
    only under their exact names: a file with another name may be somebody else's.
    """
    if file.name != editable[0]:
        return [file]
    try:
        entries = disk.listed((), "")
    except UnreadableError:
        return [file]
    others = [entry for entry in entries if entry.name != file.name]
    return [
        file,
        *(entry for entry in others if target_of(entry.name, editable) in (None, entry.name)),
    ]


def _top(parts: Sequence[Mapping[str, Any]], editable: Sequence[str], disks: list[Disk]) -> Folder:
    disks += [Disk(part["root"]) for part in parts]
    places = [part["name"] if len(parts) > 1 else "" for part in parts]
    entries = [*map(_entry, parts, disks, places)]
    if len(entries) == 1 and isinstance(entries[0], Folder):
        return entries[0]
    if len(entries) == 1 and isinstance(entries[0], File) and not parts[0]["below"]:
        disks.append(Disk(os.path.dirname(parts[0]["root"])))
        entries = _with_neighbours(entries[0], editable, disks[-1])
    return Folder("", "", lambda: entries)


def _modified_notes(beside: Sequence[Entry], given: Mapping[str, str]) -> Iterator[str]:
    for entry in beside:
        if not given.get(entry.name) or not isinstance(entry, File):
            continue
        try:
            unchanged = texts.is_given(entry.content(texts.MAX_SOURCE + 1), given[entry.name])
        except UnreadableError:
            unchanged = False
        if not unchanged:
            yield f"{entry.name} {texts.DIFFERS}"


def _texts(selection: Selection, main: str) -> tuple[dict[str, str], dict[str, str]]:
    sources, faults = {}, {}
    for name, file in selection.files.items():
        module = name.removesuffix(".py")
        try:
            content = file.read(texts.MAX_SOURCE, ", too large for a solution")
            sources[module], fault = texts.decoded(name, content)
        except UnreadableError as error:
            if name == main:
                raise
            sources[module], fault = "", str(error)
        if fault is not None:
            faults[module] = fault
    return sources, faults


def _others(selection: Selection) -> list[str]:
    graded = [*selection.files.values()]
    names = (entry.name.removesuffix(".py") for entry in selection.beside if entry not in graded)
    return sorted(name for name in names if name.isidentifier() and len(name) <= MAX_NAME)


def _reading(request: Request) -> Answer:
    editable, given, parts = request["editable"], request["given"], request["parts"]
    disks: list[Disk] = []
    names = {os.path.basename(name) for name in given}
    selection = Search(editable, names).select(_top(parts, editable, disks))
    sources, faults = _texts(selection, editable[0])
    stamps = {place: stamp for disk in disks for place, stamp in disk.stamps.items()}
    notes = [*selection.notes, *_modified_notes(selection.beside, given)]
    return {
        "sources": sources,
        "faults": faults,
        "others": _others(selection)[: texts.MAX_OTHERS],
        "notes": notes,
        "stamps": stamps,
    }


def read(request: Request) -> Iterator[Answer]:
    """Yield the answer to a request."""
    try:
        yield _reading(request)
    except UnreadableError as error:
        yield {"error": str(error)}
    except (MemoryError, RecursionError):
        yield {"error": texts.TOO_MUCH}
