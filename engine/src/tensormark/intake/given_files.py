"""Lay a submission over the given files, and note which of those were modified.

A student's copy has them twice: in starter/, where students work, and in an archive, whose copy is
used for each file that was modified in starter/.
"""

import dataclasses
import functools
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from tensormark.exercise import Assignment
from tensormark.files import module_of, python_files, read_regular
from tensormark.intake.sources import DIFFERS, MAX_SOURCE, is_given
from tensormark.intake.submission import Submission

PRISTINE = "reference_outputs/starter.zip"  # in a student's copy: the starter as it was given


@functools.cache
def _pristine(path: Path) -> Mapping[str, bytes]:
    """Return the files of the archive, or nothing if it is missing or damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile, zlib.error):
        return {}


def _content(path: Path) -> bytes | None:
    """Read a file of the starter, which a student may have replaced; None if it cannot be used."""
    try:
        content, _ = read_regular(path, MAX_SOURCE + 1, follow=True)
        content.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return content if len(content) <= MAX_SOURCE else None


@dataclasses.dataclass(frozen=True)
class FileOverlay:
    """A submission laid over the given files.

    Attributes:
        sources: module name to text of all of them. Other files in the starter's folder are left
            out, because the instructor's grader will not have them either.
        given: module name to text of the editable files, as they were given.
        untouched: the editable files that were not handed in, or are unchanged.
        notes: which given files were modified here.
        fault: why a given file cannot be used, if one cannot.
    """

    sources: dict[str, str]
    given: dict[str, str]
    untouched: frozenset[str]
    notes: tuple[str, ...] = ()
    fault: str = ""


@dataclasses.dataclass(frozen=True)
class GivenFiles:
    """The starter's files, as they are now and as they were given; each is read once.

    Attributes:
        assignment: the assignment whose starter it is.
        digests: name to sha256 of the original, from the manifest; students work in the starter
            itself.
    """

    assignment: Assignment
    digests: Mapping[str, str]

    @functools.cached_property
    def current(self) -> Mapping[str, bytes | None]:
        """The current contents of the starter's files, by name; None if a file cannot be used."""
        starter = self.assignment.starter
        names = self.digests or python_files(starter)
        return {name: _content(starter / name) for name in names}

    @property
    def fixed(self) -> dict[str, str]:
        """The digests of the files that students do not edit, by name."""
        editable = self.assignment.editable
        return {name: self.digests[name] for name in sorted(self.digests) if name not in editable}

    def untouched(self, submission: Submission, file: str) -> bool:
        """Return whether a file was not handed in, or is unchanged."""
        text = submission.sources.get(file.removesuffix(".py"))
        return text is None or is_given(text.encode(), self.digests.get(file))

    def others_in(self, path: Path) -> Mapping[str, str]:
        """Return the digests that a submission's own copies of given files should have, by name.

        Args:
            path: the submission. For the starter, whose notes `under` writes, they are "" but for
                files that students edit.
        """
        where = Path(os.path.realpath(path))
        in_starter = self.assignment.starter in (where, where.parent)
        return {**self.digests, **dict.fromkeys(self.fixed if in_starter else (), "")}

    def under(self, submission: Submission) -> FileOverlay:
        """Lay a submission over the given files."""
        archive = _pristine(self.assignment.folder / PRISTINE)
        sources: dict[str, str] = {}
        notes: list[str] = []
        faults: list[str] = []
        for name, current in self.current.items():
            expected = self.digests.get(name)
            archived = archive.get(name)
            if archived is not None and not is_given(archived, expected):
                archived = None
            if name in self.fixed and not is_given(current or b"", expected):
                used = DIFFERS if archived else "was modified, and this run uses the modified file"
                notes.append(f"starter/{name} {used}")
            content = archived or current
            if content is None:
                fix = "restore it from the files you were given"
                path = self.assignment.starter / name
                faults.append(f"{path}: missing, or not UTF-8 text; {fix}")
            else:
                text = content.decode("utf-8").replace("\r\n", "\n")
                sources[module_of(name)] = text
        editable = self.assignment.editable
        modules = [name.removesuffix(".py") for name in editable]
        return FileOverlay(
            sources | submission.sources,
            {name: sources[name] for name in modules if name in sources},
            frozenset(name for name in editable if self.untouched(submission, name)),
            tuple(notes),
            "".join(faults[:1]),
        )
