"""A submission: the texts of the editable files that were handed in, and facts about them.

It is read and parsed in another process (process.py), within limits for all of it together. The
trusted side gets texts of bounded length, or one sentence that says why there are none.
"""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tensormark.characters import masked
from tensormark.intake.process import READER
from tensormark.intake.sources import MAX_SOURCE, MAX_TEXTS, MISSING, TOO_COMPLEX, TOO_MUCH
from tensormark.predictions import PredictionsError
from tensormark.usage import UserError

READING = 1.0  # seconds of processor time; a folder or a zip takes a hundredth of one
PARSING = 0.4  # the same, for each source; all of the solution's take a tenth of it
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
            written counts as not written; filled by `inspected`.
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


def _texts(value: Any, length: int = SENTENCE) -> dict[str, str]:
    """Return the texts of a JSON object, by name, with bounded length; a bounded number of them."""
    texts = list(value.items())[:MAX_TEXTS] if isinstance(value, dict) else []
    return {name[:SENTENCE]: text[:length] for name, text in texts if isinstance(text, str)}


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
    messages = [part.message() for part in parts]
    answer = READER.ask("read", READING, parts=messages, editable=list(editable), given=dict(given))
    modules = [file.removesuffix(".py") for file in editable]
    sources = _texts(answer.get("sources"), MAX_SOURCE)
    if modules[0] not in sources:
        error = str(answer.get("error", TOO_MUCH))[:SENTENCE]
        raise SubmissionError(masked(error))
    stamps = answer.get("stamps")
    return Submission(
        name,
        {module: sources[module] for module in modules if module in sources},
        _texts(answer.get("faults")),
        frozenset(_texts(answer.get("others"))),
        tuple(_texts(answer.get("notes")).values()),
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


def read_beside(parts: Sequence[Part], editable: Sequence[str], file: str) -> str | None:
    """Return a text that was handed in beside the main file; None if it was not.

    Raises:
        PredictionsError: it cannot be read, or is elsewhere.
    """
    read = read_parts(parts, [*editable, file], {})
    faults = [
        *filter(None, [read.faults.get(file)]),
        *(each for each in read.notes if file in each),
    ]
    if faults:
        raise PredictionsError(faults[0])
    return read.sources.get(file)


def inspected(submission: Submission) -> Submission:
    """Parse a submission's sources; add why some are not Python, hints, and notes on new syntax.

    Raises:
        InspectionError: sources cannot be parsed on this machine.
    """
    sources = dict(submission.sources)
    faults = dict(submission.faults)
    hints: dict[str, str] = {}
    newer: list[str] = []
    for module, text in submission.sources.items():
        if text:
            answer = READER.ask("inspect", PARSING, module=module, text=text)
            fault = str(answer.get("fault", f"{module}.py: {TOO_COMPLEX}"))[:SENTENCE]
            if fault:
                sources[module] = ""
                faults[module] = fault
            newer.append(str(answer.get("newer", ""))[:SENTENCE])
            for path, hint in _texts(answer.get("hints")).items():
                hints[f"{module}.{path}"] = hint
    notes = (*submission.notes, *filter(None, newer))
    return dataclasses.replace(submission, sources=sources, faults=faults, hints=hints, notes=notes)
