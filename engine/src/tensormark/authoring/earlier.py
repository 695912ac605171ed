"""What was recorded before, and what of it stays where another processor rounds differently.

A recorded number stays as long as the new one is within a stated tolerance, so that recording on
another machine changes no file.
"""

import dataclasses
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load

from tensormark.exercise import Exercise
from tensormark.references import References, ReferencesError, Tensors, read_checked

# Of inputs and of the solution's float64 answers. Other instructions moved them by up to 2e-15.
UNMOVED = 1e-10
WRONG = "/wrong"  # ends the names of fingerprints


@dataclasses.dataclass(frozen=True)
class Earlier:
    """An exercise as it was recorded.

    Attributes:
        tensors: by name, all that the file has.
        entry: what the manifest says of it.
    """

    tensors: Tensors
    entry: dict[str, Any]

    @property
    def names(self) -> list[str]:
        """The names of its rows; forms of one mistake share one."""
        return list(self.entry["rows"])

    def rows(self) -> dict[str, list[list[np.ndarray]]]:
        """Return, for each name, its rows: the fingerprints of each call."""
        rows: dict[str, list[list[np.ndarray]]] = {name: [] for name in self.names}
        calls = sum(name.endswith(WRONG) for name in self.tensors)
        columns = [self.tensors[f"{call}{WRONG}"] for call in range(calls)]
        for index, name in enumerate(self.names):
            rows[name].append([column[index] for column in columns])
        return rows

    @property
    def answered(self) -> Tensors:
        """Its inputs and the solution's answers."""
        return {name: value for name, value in self.tensors.items() if not name.endswith(WRONG)}


def earlier(folder: Path, exercise: Exercise) -> Earlier | str:
    """Return what a folder has of an exercise, or why that cannot be compared."""
    name = f"{exercise.id}.safetensors"
    try:
        references = References(folder)
        entry = references.entry(exercise.id)
        content = read_checked(folder / name, references.manifest["files"].get(name, ""), "")
        if entry["calls"] != exercise.digest:
            return "its calls are not those that were recorded"
        return Earlier(load(content), entry)
    except (ReferencesError, ValueError, KeyError, TypeError):
        return "new" if not (folder / name).is_file() else "damaged, or not what the manifest lists"


def _move(name: str, before: np.ndarray, now: np.ndarray, drawn: bool) -> str | None:
    """Say how a tensor has moved by more than is allowed; None if it has not.

    Args:
        drawn: its values are random, and nothing is compared with them; another build of torch
            draws other ones.
    """
    if before.shape != now.shape or before.dtype != now.dtype:
        return f"{name} was {before.dtype} {before.shape}, is now {now.dtype} {now.shape}"
    finite = np.isfinite(now)
    if not np.array_equal(np.isfinite(before), finite):
        return f"{name} has different infinities"
    earlier, later = before[finite].astype(np.float64), now[finite].astype(np.float64)
    off = float(np.max(np.abs(earlier - later) / (1.0 + np.abs(later)), initial=0.0))
    if drawn or off <= UNMOVED:
        return None
    return f"{name} moved by {off:.1e}, allowed is {UNMOVED:.0e}"


def settled(before: Tensors, now: Tensors, drawn: Collection[str]) -> tuple[Tensors, list[str]]:
    """Return tensors, the recorded ones where they have not moved, and a line for each that has.

    Args:
        drawn: the names of those whose values are random.
    """
    moves = {
        name: _move(name, before[name], now[name], name in drawn)
        for name in now.keys() & before.keys()
    }
    lines = [moves[name] or "" for name in now if moves.get(name)]
    lines += [f"{name} is new" for name in now if name not in before]
    lines += [f"{name} is gone" for name in before if name not in now]
    kept = {name: before[name] for name, line in moves.items() if line is None}
    return now | kept, lines
