"""The references on disk, trusted only when every digest in their manifest is right.

reference_outputs/manifest.json          what was recorded, with what, and sha256 of everything
reference_outputs/<exercise>.safetensors <number of the call>/in|out|grad/<name>, and fingerprints
                                         of known wrong variants, <number>/wrong
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load

FORMAT = 1  # of the manifest and of the names in the files
Tensors = dict[str, np.ndarray]


class StoreError(Exception):
    """A reference, the checkpoint or data cannot be used; the message names file and mend."""


def sha256(path: Path) -> str:
    """Return the digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def under(tensors: Mapping[str, np.ndarray], prefix: str) -> Tensors:
    """Return the tensors whose names start with `prefix`, under the rest of their names."""
    size = len(prefix)
    # in one order: safetensors gives them in another on every run
    return {name[size:]: tensors[name] for name in sorted(tensors) if name.startswith(prefix)}


@dataclasses.dataclass(frozen=True)
class Recording:
    """What one call was given and gave when solution/ answered, and when wrong variants did."""

    inputs: Tensors
    outputs: Tensors
    gradients: Tensors
    wrong: np.ndarray  # fingerprints, see diagnose.py; the rows' names stand in the manifest


def read_checked(path: Path, digest: str, mend: str) -> bytes:
    """Read a file whose digest is known.

    Raises:
        StoreError: it is missing, or not the file that was recorded.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path} is missing or cannot be read; run `{mend}`") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise StoreError(f"{path} is damaged or was changed (sha256 differs); run `{mend}`")
    return content


class Store:
    """One folder of references."""

    def __init__(self, folder: str | Path) -> None:
        """Open a folder of references.

        Raises:
            StoreError: there is no usable manifest.
        """
        self.folder = Path(folder)
        path = self.folder / "manifest.json"
        mend = "make references"
        try:
            self.manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            self.manifest["files"], self.manifest["exercises"], self.manifest["checkpoint"]
        except OSError as error:
            raise StoreError(f"{path} is missing or cannot be read; run `{mend}`") from error
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{path} is damaged; run `{mend}`") from error
        if self.manifest.get("format") != FORMAT:
            found = self.manifest.get("format")
            raise StoreError(f"{path} has format {found}, this grader reads {FORMAT}; run `{mend}`")

    def entry(self, exercise: str) -> dict[str, Any]:
        """Return what the manifest says of an exercise.

        Raises:
            StoreError: it says nothing.
        """
        try:
            found: dict[str, Any] = self.manifest["exercises"][exercise]
        except KeyError:
            path = self.folder / "manifest.json"
            raise StoreError(f"{path} has no exercise {exercise}; run `make references`") from None
        return found

    def recordings(self, exercise: str, digest: str) -> list[Recording]:
        """Read an exercise's file: a recording for each call of its probes, in order.

        Args:
            exercise: the exercise's id.
            digest: the case table's fingerprint of its calls, which must be the recorded one.

        Raises:
            StoreError: the file is missing, damaged, or of another case table.
        """
        name, mend = f"{exercise}.safetensors", "make references"
        path, entry = self.folder / name, self.entry(exercise)
        if entry["calls"] != digest:
            raise StoreError(f"{path} was recorded with another case table; run `{mend}`")
        content = read_checked(path, self.manifest["files"].get(name, ""), mend)
        try:
            tensors = load(content)
        except (SafetensorError, ValueError, TypeError, KeyError) as error:
            raise StoreError(f"{path} is not whole ({error}); run `{mend}`") from error
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
            StoreError: it is missing or differs.
        """
        read_checked(self.folder / name, self.manifest["files"][name], "make references")
        return self.folder / name

    def check_checkpoint(self, checkpoint: str | Path) -> None:
        """See that the checkpoint is the one that the references were recorded with.

        Raises:
            StoreError: a file of it is missing or differs.
        """
        for name, digest in self.manifest["checkpoint"].items():
            read_checked(Path(checkpoint) / name, digest, "make checkpoint")

    def check_data(self, folder: str | Path, names: Iterable[str]) -> None:
        """See that data files are those that the sentiment threshold was measured on.

        Raises:
            StoreError: one is missing or differs.
        """
        for name in names:
            read_checked(Path(folder) / name, self.manifest["data"].get(name, ""), "make data")
