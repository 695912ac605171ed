"""The references on disk, trusted only if every digest in their manifest matches.

reference_outputs/manifest.json          what was recorded, with what, and all sha256 digests
reference_outputs/<exercise>.safetensors <number of the call>/in|out|grad/<name>, and fingerprints
                                         of known wrong variants, <number>/wrong
"""

import contextlib
import copy
import dataclasses
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load

from tensormark.files import digest, python_files
from tensormark.usage import UserError, command

FORMAT = 1  # of the manifest and of the names in the files
Tensors = dict[str, np.ndarray]


OTHER = "@"  # between the names of an exercise and of another solution


def again() -> str:
    """Return the fix for references that cannot be used."""
    return f"run `{command('references')}`"


def restored() -> str:
    """Return the fix for a checkpoint or data file that differs from the recorded one."""
    return f"restore the one that the references were recorded with, or {again()}"


class ReferencesError(UserError):
    """A reference, the checkpoint or data cannot be used; the message gives the fix."""


def under(tensors: Mapping[str, np.ndarray], prefix: str) -> Tensors:
    """Return the tensors whose names start with `prefix`, without that prefix."""
    size = len(prefix)
    # sorted: safetensors returns them in a different order on every run
    return {name[size:]: tensors[name] for name in sorted(tensors) if name.startswith(prefix)}


@dataclasses.dataclass(frozen=True)
class Recording:
    """The inputs of one call, the outputs of solution/, and fingerprints of wrong variants."""

    inputs: Tensors
    outputs: Tensors
    gradients: Tensors
    wrong: np.ndarray  # see judging/fingerprints.py; the rows' names are in the manifest
    known: np.ndarray | None = None  # prints of what correct code computes; see judging/place.py

    @property
    def answers(self) -> Tensors:
        """The outputs and gradients under a reply's names."""
        outputs = {f"out/{name}": value for name, value in self.outputs.items()}
        return outputs | {f"grad/{name}": value for name, value in self.gradients.items()}


def recordings(tensors: Tensors, count: int) -> list[Recording]:
    """Sort the tensors of an exercise's file by their calls."""
    calls: list[Tensors] = [{} for _ in range(count)]
    for name, value in tensors.items():
        index, _, rest = name.partition("/")
        calls[int(index)][rest] = value
    return [
        Recording(
            under(own, "in/"),
            under(own, "out/"),
            under(own, "grad/"),
            own["wrong"],
            own.get("known"),
        )
        for own in calls
    ]


def read_checked(path: Path, expected: str, fix: Callable[[], str] = again) -> bytes:
    """Read a file whose digest is known; git may have given its lines Windows line endings.

    Args:
        fix: returns it.

    Raises:
        ReferencesError: it is missing, or differs from the recorded file.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ReferencesError(f"{path} is missing or cannot be read; {fix()}") from error
    if digest(content) != expected:
        content = content.replace(b"\r\n", b"\n")
    if digest(content) != expected:
        raise ReferencesError(f"{path} is damaged or was changed (sha256 differs); {fix()}")
    return content


class References:
    """A folder of references.

    Attributes:
        other: the solution whose answers are right instead of the first one's, where it has its
            own; see `others`.
    """

    def __init__(self, folder: str | Path, public: Path | None = None) -> None:
        """Open a folder of references.

        Args:
            public: the folder of those that every student has, if others are called private.

        Raises:
            ReferencesError: there is no usable manifest.
        """
        self.folder = Path(folder)
        self.public = public
        self.other = ""
        self.checked: set[str | Path] = set()
        self.cache: dict[tuple[str, str], list[Recording]] = {}
        self.path = self.folder / "manifest.json"
        try:
            content = self.path.read_bytes()
            self.digest = digest(content)
            self.manifest: dict[str, Any] = json.loads(content)
            self.manifest["files"], self.manifest["exercises"], self.manifest["checkpoint"]
        except OSError as error:
            raise ReferencesError(f"{self.path} is missing or cannot be read; {again()}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise ReferencesError(f"{self.path} is damaged; {again()}") from error
        version = self.manifest.get("format")
        if version != FORMAT:
            raise ReferencesError(
                f"{self.path} has format {version}, but this grader reads {FORMAT}; {again()}"
            )

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the manifest and the files that it lists: all that a copy of the folder needs.

        Raises:
            ReferencesError: one is missing, or differs from the recorded file.
        """
        digests = {"manifest.json": self.digest, **self.manifest["files"]}
        for name, expected in digests.items():
            yield name, read_checked(self.folder / name, expected)

    @functools.cached_property
    def private(self) -> bool:
        """Whether they are called private, and most of their numbers are not the public ones."""
        if not self.manifest.get("private", True) or self.public is None:
            return bool(self.manifest.get("private", True))
        same = count = 0
        for name in self.manifest["files"]:
            with contextlib.suppress(SafetensorError, OSError, TypeError):
                theirs = load((self.public / name).read_bytes())
                for key, own in load((self.folder / name).read_bytes()).items():
                    count += own.size
                    if key in theirs and own.shape == theirs[key].shape:
                        same += int(np.equal(own, theirs[key]).sum())
        return same * 2 <= count

    def others(self, exercise: str) -> list[str]:
        """Return the other solutions whose answers to an exercise are right, too."""
        names = (name.partition(OTHER) for name in self.manifest["exercises"])
        return [other for own, _, other in names if own == exercise and other]

    def with_other(self, other: str) -> "References":
        """Return these references with another solution's answers where it has its own."""
        view = copy.copy(self)
        view.other = other
        return view

    def name(self, exercise: str) -> str:
        """Return the name under which an exercise's answers are recorded."""
        name = f"{exercise}{OTHER}{self.other}"
        return name if name in self.manifest["exercises"] else exercise

    def entry(self, exercise: str) -> dict[str, Any]:
        """Return the manifest's entry for an exercise.

        Raises:
            ReferencesError: there is none.
        """
        try:
            entry: dict[str, Any] = self.manifest["exercises"][self.name(exercise)]
        except KeyError:
            raise ReferencesError(f"{self.path} has no exercise {exercise}; {again()}") from None
        return entry

    def recordings(self, exercise: str, calls_digest: str) -> list[Recording]:
        """Return a recording for each call of an exercise's probes, in order; read once.

        Args:
            exercise: the exercise's id.
            calls_digest: the digest of its calls, which must equal the recorded one.

        Raises:
            ReferencesError: the file is missing, damaged, or was recorded with other calls.
        """
        key = self.name(exercise), calls_digest
        if key in self.cache:
            return self.cache[key]
        name = f"{self.name(exercise)}.safetensors"
        path = self.folder / name
        entry = self.entry(exercise)
        if entry["calls"] != calls_digest:
            raise ReferencesError(f"{path} was recorded with other calls; {again()}")
        content = read_checked(path, self.manifest["files"].get(name, ""))
        try:
            tensors = load(content)
        except (SafetensorError, ValueError, TypeError, KeyError) as error:
            raise ReferencesError(f"{path} is damaged ({error}); {again()}") from error
        self.cache[key] = recordings(tensors, entry["count"])
        return self.cache[key]

    def check_file(self, name: str) -> Path:
        """Return the path of a recorded file.

        Raises:
            ReferencesError: it is missing or differs.
        """
        read_checked(self.folder / name, self.manifest["files"][name])
        return self.folder / name

    def check_solution(self, folder: Path) -> None:
        """Check that they were recorded with the solution as it is now, where there is one.

        Raises:
            ReferencesError: they were not.
        """
        if not folder.is_dir():
            return
        recorded = self.manifest["solution"]
        try:
            for name in {*recorded, *python_files(folder)}:
                read_checked(folder / name, recorded.get(name, ""))
        except ReferencesError:
            raise ReferencesError(f"{self.path} is older than {folder}; {again()}") from None

    def check_checkpoint(self, checkpoint: str | Path | None) -> None:
        """Check that the checkpoint is the one that the references were recorded with.

        Raises:
            ReferencesError: one of its files is missing or differs.
        """
        recorded = self.manifest["checkpoint"]
        if checkpoint is None and recorded:
            raise ReferencesError(f"{self.folder} needs a checkpoint, but there is none")
        if checkpoint is None or checkpoint in self.checked:
            return
        for name, expected in recorded.items():
            read_checked(Path(checkpoint) / name, expected, restored)
        self.checked.add(checkpoint)

    def check_data(self, folder: str | Path, names: Iterable[str]) -> None:
        """Check that data files are those that a threshold was measured on.

        Raises:
            ReferencesError: one is missing or differs.
        """
        recorded = self.manifest["data"]
        for name in names:
            if name not in recorded:
                raise ReferencesError(f"{self.path} has no entry for data/{name}; {again()}")
            read_checked(Path(folder) / name, recorded[name], restored)
