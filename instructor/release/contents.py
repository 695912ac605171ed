"""What students get: the files of a release, by name.

Nothing is taken because it happens to lie there: each file is on a list, in the manifest of the
public references, or derived here. The starter comes from the solution, so that an edited starter/
cannot get in; the test sentences come without their labels.
"""

from collections.abc import Iterator
from pathlib import Path

from grader.assignment import MINBERT
from grader.assignment.sentiment import read_sentences
from grader.files import ROOT, digest
from grader.intake.given_files import PRISTINE
from grader.references import References, ReferencesError
from grader.settings import CHECKPOINT, REFERENCES
from grader.zipped import zipped
from instructor.references.course import SEED
from instructor.references.strip import derive
from instructor.release.cards import for_students
from instructor.release.given_out import COPIED, STUDENTS, UNLABELLED, given
from instructor.release.page import page_of


class ReleaseError(Exception):
    """A release cannot be built; the message gives the fix."""


def copied(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files that are given out as they are, or as an edition for students.

    Raises:
        ReleaseError: there are none of a kind.
    """
    for pattern in COPIED.split():
        found = sorted(path for path in root.glob(pattern) if given(path))
        if not found:
            raise ReleaseError(f"there is no {pattern} to give out")
        for path in found:
            name, content = path.relative_to(root).as_posix(), path.read_bytes()
            if path.name == "README.md":
                content = for_students(name, content.decode("utf-8")).encode()
            yield name, content


def starter(references: References) -> Iterator[tuple[str, bytes]]:
    """Yield the starter, and a copy of it that students do not edit.

    Raises:
        ReleaseError: references were recorded with another.
    """
    files = {name: text.encode() for name, text in derive(MINBERT).items()}
    if {name: digest(content) for name, content in files.items()} != references.manifest["starter"]:
        raise ReleaseError("the starter is not the recorded one; run `make starter references`")
    yield from ((f"starter/{name}", content) for name, content in files.items())
    yield PRISTINE, zipped(files)


def public_references(references: References) -> Iterator[tuple[str, bytes]]:
    """Yield the public references: the files that the manifest lists, and no others.

    Raises:
        ReleaseError: they are private, or damaged.
    """
    if references.manifest.get("seed") != SEED or references.private:
        raise ReleaseError(f"{references.folder} has private inputs; run `make references`")
    for name, content in references.files():
        yield f"reference_outputs/{name}", content


def sentences(root: Path) -> bytes:
    """Return the test sentences without their labels."""
    texts = read_sentences(root / UNLABELLED).texts
    return ("\n".join(texts) + "\n").encode()


def release(root: Path = ROOT) -> dict[str, bytes]:
    """Return every file of a release, by its path.

    Raises:
        ReleaseError, ReferencesError, ValueError, OSError: what it is made from is not up to date.
    """
    references = References(REFERENCES)
    references.check_checkpoint(CHECKPOINT)
    references.check_data(root / "data", ("train.txt", "dev.txt", "test.txt"))
    files = dict(copied(root))
    files |= starter(references)
    files |= public_references(references)
    files[UNLABELLED] = sentences(root)
    for path in sorted(STUDENTS.rglob("*")):
        if path.is_file():
            files[path.relative_to(STUDENTS).as_posix()] = path.read_bytes()
    files["handout.html"] = page_of(files["handout.md"].decode("utf-8"), root).encode()
    return files


__all__ = ["UNLABELLED", "ReferencesError", "ReleaseError", "release"]
