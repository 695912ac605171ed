"""Keep recorded numbers where another processor merely rounds differently.

A recorded number stays if the new one is within a fixed tolerance, so recording on another machine
changes no file.
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load

from tensormark.exercise import Exercise
from tensormark.references import References, ReferencesError, Tensors, read_checked

# limit for inputs and the solution's float64 answers; other processors moved them by up to 2e-15
MAX_MOVE = 1e-10
WRONG = "/wrong"  # the end of the names of fingerprints' tensors


@dataclasses.dataclass(frozen=True)
class PreviousRecord:
    """An exercise as it was recorded before.

    Attributes:
        content: of its file.
        tensors: all that are in it, by name.
        entry: its entry in the manifest.
    """

    content: bytes
    tensors: Tensors
    entry: dict[str, Any]

    @property
    def row_names(self) -> list[str]:
        """The names of its rows; several forms of a mistake share a name."""
        return list(self.entry["rows"])

    def rows(self) -> dict[str, list[list[np.ndarray]]]:
        """Return the rows of each name; a row has a fingerprint for each call."""
        rows: dict[str, list[list[np.ndarray]]] = {name: [] for name in self.row_names}
        calls = sum(name.endswith(WRONG) for name in self.tensors)
        columns = [self.tensors[f"{call}{WRONG}"] for call in range(calls)]
        for index, name in enumerate(self.row_names):
            rows[name].append([column[index] for column in columns])
        return rows

    @property
    def answers(self) -> Tensors:
        """The inputs and the solution's answers."""
        return {name: value for name, value in self.tensors.items() if not name.endswith(WRONG)}


def previous_record(folder: Path, exercise: Exercise) -> PreviousRecord | str:
    """Return a folder's record of an exercise, or why there is none to compare with."""
    name = f"{exercise.id}.safetensors"
    try:
        references = References(folder)
        entry = references.entry(exercise.id)
        content = read_checked(folder / name, references.manifest["files"].get(name, ""), "")
        if entry["calls"] != exercise.digest:
            return "its calls have changed"
        return PreviousRecord(content, load(content), entry)
    except (ReferencesError, ValueError, KeyError, TypeError):
        return "new" if not (folder / name).is_file() else "damaged, or not what the manifest lists"


def _move(name: str, before: np.ndarray, now: np.ndarray, is_random: bool) -> str | None:
    """Return how a tensor has moved beyond the limit; None if it has not.

    Args:
        is_random: its values may move: another build of torch draws others, and nothing is
            compared with them.
    """
    if before.shape != now.shape or before.dtype != now.dtype:
        return f"{name} was {before.dtype} {before.shape}, and is now {now.dtype} {now.shape}"
    finite = np.isfinite(now)
    if not np.array_equal(np.isfinite(before), finite):
        return f"{name} has infinities or NaN in different places"
    old = before[finite].astype(np.float64)
    new = now[finite].astype(np.float64)
    distance = float(np.max(np.abs(old - new) / (1.0 + np.abs(new)), initial=0.0))
    if is_random or distance <= MAX_MOVE:
        return None
    return f"{name} moved by {distance:.1e}, limit {MAX_MOVE:.0e}"


def settle(
    before: Tensors, now: Tensors, is_random: Callable[[str], bool]
) -> tuple[Tensors, list[str]]:
    """Replace new tensors by the recorded ones, except those that have moved.

    Args:
        is_random: says by its name whether the values of a tensor are random.

    Returns:
        The tensors; and a line for each that has moved, is new or is gone.
    """
    moves = {
        name: _move(name, before[name], now[name], is_random(name))
        for name in now.keys() & before.keys()
    }
    lines = [moves[name] or "" for name in now if moves.get(name)]
    lines += [f"{name} is new" for name in now if name not in before]
    lines += [f"{name} is gone" for name in before if name not in now]
    unmoved = {name: before[name] for name, line in moves.items() if line is None}
    return now | unmoved, lines
