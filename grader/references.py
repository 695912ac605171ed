"""The references on disk, trusted only if every digest in their manifest matches.

reference_outputs/manifest.json          what was recorded, with what, and sha256 of everything
reference_outputs/<exercise>.safetensors <number of the call>/in|out|grad/<name>, and fingerprints
                                         of known wrong variants, <number>/wrong
"""

import dataclasses
import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load

from grader.files import ROOT, digest

FORMAT = 1  # of the manifest and of the names in the files
Tensors = dict[str, np.ndarray]


class ReferencesError(Exception):
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
    wrong: (
        np.ndarray
    )  # fingerprints, see judging/fingerprints.py; the rows' names stand in the manifest


def read_checked(path: Path, expected: str, fix: str) -> bytes:
    """Read a file whose digest is known.

    Raises:
        ReferencesError: it is missing, or differs from the recorded file.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ReferencesError(f"{path} is missing or cannot be read; run `{fix}`") from error
    if digest(content) != expected:
        raise ReferencesError(f"{path} is damaged or was changed (sha256 differs); run `{fix}`")
    return content


class References:
    """A folder of references."""

    def __init__(self, folder: str | Path) -> None:
        """Open a folder of references.

        Raises:
            ReferencesError: there is no usable manifest.
        """
        self.folder = Path(folder)
        self.checked: set[str | Path] = set()
        self.kept: dict[tuple[str, str], list[Recording]] = {}
        path = self.folder / "manifest.json"
        fix = "make references"
        try:
            content = path.read_bytes()
            self.digest = digest(content)
            self.manifest: dict[str, Any] = json.loads(content)
            self.manifest["files"], self.manifest["exercises"], self.manifest["checkpoint"]
        except OSError as error:
            raise ReferencesError(f"{path} is missing or cannot be read; run `{fix}`") from error
        except (ValueError, KeyError, TypeError) as error:
            raise ReferencesError(f"{path} is damaged; run `{fix}`") from error
        if self.manifest.get("format") != FORMAT:
            found = self.manifest.get("format")
            raise ReferencesError(
                f"{path} has format {found}, but this grader reads {FORMAT}; run `{fix}`"
            )

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the manifest and the files that it lists: all that a copy of the folder needs.

        Raises:
            ReferencesError: one is missing, or differs from the recorded file.
        """
        digests = {"manifest.json": self.digest, **self.manifest["files"]}
        for name, expected in digests.items():
            yield name, read_checked(self.folder / name, expected, "make references")

    @property
    def private(self) -> bool:
        """Whether their inputs are not those of the public references."""
        return self.public_seed is None or self.manifest.get("seed") != self.public_seed

    @functools.cached_property
    def public_seed(self) -> int | None:
        """The seed of the references that every student has."""
        try:
            text = (ROOT / "reference_outputs" / "manifest.json").read_text(encoding="utf-8")
            return int(json.loads(text)["seed"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def entry(self, exercise: str) -> dict[str, Any]:
        """Return the manifest's entry for an exercise.

        Raises:
            ReferencesError: there is none.
        """
        try:
            found: dict[str, Any] = self.manifest["exercises"][exercise]
        except KeyError:
            path = self.folder / "manifest.json"
            raise ReferencesError(
                f"{path} has no exercise {exercise}; run `make references`"
            ) from None
        return found

    def recordings(self, exercise: str, calls_digest: str) -> list[Recording]:
        """Return a recording for each call of an exercise's probes, in order; read once.

        Args:
            exercise: the exercise's id.
            calls_digest: the digest of its calls, which must equal the recorded one.

        Raises:
            ReferencesError: the file is missing, damaged, or was recorded with other calls.
        """
        key = exercise, calls_digest
        if key not in self.kept:
            self.kept[key] = self.read(exercise, calls_digest)
        return self.kept[key]

    def read(self, exercise: str, calls_digest: str) -> list[Recording]:
        """Read an exercise's file."""
        name, fix = f"{exercise}.safetensors", "make references"
        path, entry = self.folder / name, self.entry(exercise)
        if entry["calls"] != calls_digest:
            raise ReferencesError(f"{path} was recorded with other calls; run `{fix}`")
        content = read_checked(path, self.manifest["files"].get(name, ""), fix)
        try:
            tensors = load(content)
        except (SafetensorError, ValueError, TypeError, KeyError) as error:
            raise ReferencesError(f"{path} is damaged ({error}); run `{fix}`") from error
        calls: list[Tensors] = [{} for _ in range(entry["count"])]
        for name, value in tensors.items():
            number, _, rest = name.partition("/")
            calls[int(number)][rest] = value
        return [
            Recording(under(own, "in/"), under(own, "out/"), under(own, "grad/"), own["wrong"])
            for own in calls
        ]

    def check_file(self, name: str) -> Path:
        """Return the path of a recorded file.

        Raises:
            ReferencesError: it is missing or differs.
        """
        read_checked(self.folder / name, self.manifest["files"][name], "make references")
        return self.folder / name

    def check_checkpoint(self, checkpoint: str | Path) -> None:
        """Check that the checkpoint is the one that the references were recorded with.

        Raises:
            ReferencesError: one of its files is missing or differs.
        """
        if checkpoint in self.checked:
            return
        for name, expected in self.manifest["checkpoint"].items():
            read_checked(Path(checkpoint) / name, expected, "make checkpoint")
        self.checked.add(checkpoint)

    def check_data(self, folder: str | Path, names: Iterable[str]) -> None:
        """See that data files are those that a threshold was measured on.

        Raises:
            ReferencesError: one is missing or differs.
        """
        for name in names:
            read_checked(Path(folder) / name, self.manifest["data"].get(name, ""), "make data")
