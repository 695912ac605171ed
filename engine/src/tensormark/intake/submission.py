"""A submission: the texts of the editable files that were handed in, and facts about them.

A hand-in is read in another process (door.py), within limits for all of it together. The trusted
side gets texts of bounded length, or one sentence that says why there are none.
"""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tensormark.intake.door import DOOR
from tensormark.intake.texts import MAX_OTHERS, MAX_SOURCE, MISSING, TOO_MUCH
from tensormark.letters import is_visible
from tensormark.usage import UserError

SECONDS = 1.0  # of processor time; a folder or a zip takes a hundredth of one
SENTENCE = 1000  # characters


class SubmissionError(UserError):
    """A submission that cannot be graded; the message is one sentence."""


@dataclasses.dataclass(frozen=True)
class Submission:
    """The editable files of one submission.

    Attributes:
        name: as given on the command line.
        sources: module name to text, such as "main" to the text of main.py.
        faults: module name to why it cannot be imported, for files that are not Python.
        others: names of further modules and folders beside them, which are not graded.
        notes: what the user should know about how it was read, such as modified given files.
        stamps: modification time, size and inode number of each file on disk that was read.
        hints: module and function, such as "main.Layer.forward", to why a function that was
            written counts as not written; filled by inspection.py.
    """

    name: str
    sources: dict[str, str]
    faults: dict[str, str]
    others: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    stamps: Mapping[str, Sequence[int]] = dataclasses.field(default_factory=dict)
    hints: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Part:
    """A file or folder that was handed in.

    Attributes:
        root: a path that the user typed; it may be a link, which is followed.
        below: the names that lead from the root to it, none of which may be a link.
        name: what the student called it.
    """

    root: Path
    below: tuple[str, ...] = ()
    name: str = ""

    @classmethod
    def under(cls, root: Path, path: Path, name: str = "") -> "Part":
        """Return the part at a path under a folder, where somebody else may have put links."""
        return cls(root, Path(os.path.relpath(path, root)).parts, name or path.name)

    def message(self) -> dict[str, Any]:
        """Return it as JSON."""
        root = os.path.join(os.getcwd(), self.root)
        name = self.name or os.path.basename(os.path.normpath(root))
        return {"root": root, "below": list(self.below), "name": name}


def _bounded(value: Any, count: int, length: int) -> list[str]:
    texts = value if isinstance(value, list) else []
    return [text[:length] for text in texts[:count] if isinstance(text, str)]


def _by_module(value: Any, editable: Sequence[str], length: int) -> dict[str, str]:
    texts = value if isinstance(value, dict) else {}
    modules = [name.removesuffix(".py") for name in editable]
    return {
        module: text
        for module in modules
        if isinstance(text := texts.get(module), str) and len(text) <= length
    }


def _sentence(value: Any) -> str:
    text = value[:SENTENCE] if isinstance(value, str) else TOO_MUCH
    return "".join(c if is_visible(c) else "?" for c in text)


def read_parts(
    parts: Sequence[Part], editable: Sequence[str], given: Mapping[str, str], name: str = ""
) -> Submission:
    """Read what was handed in.

    Args:
        editable: the files that students edit; without the first, there is nothing to grade.
        given: the digests of all other given files, by name.
        name: the submission's name.

    Raises:
        SubmissionError: nothing to grade. InspectionError: submissions cannot be read here.
    """
    request = {
        "parts": [part.message() for part in parts],
        "editable": list(editable),
        "given": dict(given),
    }
    answer = DOOR.ask("read", SECONDS, request)
    row = answer.rows[0] if answer.complete and answer.rows else {}
    sources = _by_module(row.get("sources"), editable, MAX_SOURCE)
    if editable[0].removesuffix(".py") not in sources:
        raise SubmissionError(_sentence(row.get("error")))
    stamps = row.get("stamps")
    return Submission(
        name,
        sources,
        _by_module(row.get("faults"), editable, SENTENCE),
        frozenset(_bounded(row.get("others"), MAX_OTHERS, SENTENCE)),
        tuple(_bounded(row.get("notes"), MAX_OTHERS, SENTENCE)),
        stamps if isinstance(stamps, dict) else {},
    )


def read_submission(
    path: str | Path, editable: Sequence[str], given: Mapping[str, str] | None = None
) -> Submission:
    """Read a submission at a path that the user named.

    Args:
        path: a folder, a file that ends in .py, a zip or a tar.
        editable, given: see `read_parts`.

    Raises:
        SubmissionError: nothing to grade. InspectionError: submissions cannot be read here.
    """
    try:
        return read_parts([Part(Path(path))], editable, given or {}, str(path))
    except SubmissionError as error:
        message = str(error)
        if message == MISSING and not os.path.isabs(path):
            message = f"{MISSING} in {Path.cwd()}"
        raise SubmissionError(f"{path}: {message}") from error
