"""The given files, which a submission is laid over, and which of them were modified.

A student's copy has them twice: in starter/, where students work, and in an archive. Where a file
in starter/ was modified, the archive's is used.
"""

import dataclasses
import functools
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from grader.exercise import Assignment
from grader.files import read_regular
from grader.intake.submission import Submission, SubmissionError
from grader.intake.texts import DIFFERS, MAX_SOURCE, is_given

PRISTINE = "reference_outputs/starter.zip"  # in a student's copy: the starter as it was given


def as_given(path: Path, expected: str) -> bool:
    """Say whether a file of the starter, which a student may have replaced, is the given one."""
    try:
        content, _ = read_regular(path, MAX_SOURCE + 1, follow=True)
    except OSError:  # missing, or no file that can be read
        return False
    return is_given(content, expected)


@functools.cache
def pristine(path: Path) -> Mapping[str, bytes]:
    """Return the files of the archive; none, if it is missing or damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile, zlib.error):
        return {}


@dataclasses.dataclass(frozen=True)
class GivenFiles:
    """The starter's files, as they are now and as they were given.

    Attributes:
        assignment: whose starter it is.
        digests: name to sha256 of the original, from the manifest. The starter itself cannot tell:
            students work in it.
    """

    assignment: Assignment
    digests: Mapping[str, str]

    def untouched(self, submission: Submission, file: str) -> bool:
        """Say whether a file was not handed in, or is unchanged."""
        text = submission.sources.get(file.removesuffix(".py"))
        return text is None or is_given(text.encode(), self.digests.get(file))

    def modified_here(self) -> list[str]:
        """Return a note for each given file that was modified in the starter."""
        starter = self.assignment.starter
        return [
            f"starter/{name} {DIFFERS}"
            if self.kept(name) is not None
            else f"starter/{name} was modified, and this run uses the modified file"
            for name, expected in self.fixed.items()
            if not as_given(starter / name, expected)
        ]

    def others_in(self, path: Path) -> Mapping[str, str]:
        """Return the digests that a submission's own copies of given files should have.

        Args:
            path: the submission. In the starter itself, `modified_here` notes them.
        """
        where = Path(os.path.realpath(path))
        return {} if self.assignment.starter in (where, where.parent) else self.fixed

    @property
    def fixed(self) -> dict[str, str]:
        """The digests of the files that students do not edit, by name."""
        editable = self.assignment.editable
        return {name: self.digests[name] for name in sorted(self.digests) if name not in editable}

    def kept(self, name: str) -> bytes | None:
        """Return the archive's copy of a file, if it is the given one."""
        content = pristine(self.assignment.folder / PRISTINE).get(name)
        return content if content and is_given(content, self.digests.get(name)) else None

    def sources(self, submission: Submission) -> dict[str, str]:
        """Return module name to text: the submission's files over the given ones.

        Other files of the starter's folder are not there for a submission, as they will not be for
        the instructor's grader.

        Raises:
            SubmissionError: a given file is missing, or no longer text.
        """
        given = {}
        for name in self.digests or [path.name for path in self.assignment.starter.glob("*.py")]:
            path = self.assignment.starter / name
            kept = self.kept(name)
            try:
                given[path.stem] = kept.decode() if kept else path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                fix = "restore it from the files you were given"
                raise SubmissionError(f"{path}: missing, or not UTF-8 text; {fix}") from error
        return given | submission.sources
