"""An exercise as it is recorded, and whether its numbers are those of a new recording.

Other processors round differently, so small differences do not count.
"""

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load

from tensormark.exercise import Exercise
from tensormark.references import References, ReferencesError, Tensors, read_checked

# limit for inputs and the solution's float64 answers; other processors moved them by up to 2e-15
MAX_MOVE = 1e-10
WRONG = "/wrong"  # the end of the names of fingerprints' tensors
Row = list[np.ndarray]  # the fingerprints (entries, WIDTH) of each call


@dataclasses.dataclass(frozen=True)
class Recorded:
    """One exercise.

    Attributes:
        content: of its file.
        tensors: all that are in it, by name.
        entry: its entry in the manifest.
    """

    content: bytes
    tensors: Tensors
    entry: dict[str, Any]

    def rows(self) -> list[tuple[str, Row]]:
        """Return its rows with their names; several forms of a mistake share a name."""
        columns = [self.tensors[f"{call}{WRONG}"] for call in range(self.entry["count"])]
        return [
            (name, [column[number] for column in columns])
            for number, name in enumerate(self.entry["rows"])
        ]

    @property
    def answers(self) -> Tensors:
        """The inputs and the solution's answers."""
        return {name: value for name, value in self.tensors.items() if not name.endswith(WRONG)}


def previous_record(folder: Path, exercise: Exercise) -> Recorded | str:
    """Return a folder's record of an exercise, or why there is none to compare with."""
    name = f"{exercise.id}.safetensors"
    try:
        references = References(folder)
        entry = references.entry(exercise.id)
        content = read_checked(folder / name, references.manifest["files"].get(name, ""))
        if entry["calls"] != exercise.digest:
            return "its calls have changed"
        return Recorded(content, load(content), entry)
    except (ReferencesError, ValueError, KeyError, TypeError):
        return "new" if not (folder / name).is_file() else "damaged, or not what the manifest lists"


def _move(before: np.ndarray, now: np.ndarray, is_random: bool) -> str | None:
    """Return how a tensor has moved beyond the limit; None if it has not.

    Args:
        is_random: its values may move: another build of torch draws others, and nothing is
            compared with them.
    """
    if before.shape != now.shape or before.dtype != now.dtype:
        return f"was {before.dtype} {before.shape}, and is now {now.dtype} {now.shape}"
    finite = np.isfinite(now)
    if not np.array_equal(np.isfinite(before), finite):
        return "has infinities or NaN in different places"
    old = before[finite].astype(np.float64)
    new = now[finite].astype(np.float64)
    distance = float(np.max(np.abs(old - new) / (1.0 + np.abs(new)), initial=0.0))
    if is_random or distance <= MAX_MOVE:
        return None
    return f"moved by {distance:.1e}, limit {MAX_MOVE:.0e}"


def moves(before: Tensors, now: Tensors, is_random: Callable[[str], bool]) -> Iterator[str]:
    """Yield a line for each tensor that has moved, is new or is gone.

    Args:
        is_random: says by its name whether the values of a tensor are random.
    """
    for name, value in now.items():
        move = _move(before[name], value, is_random(name)) if name in before else "is new"
        if move is not None:
            yield f"{name} {move}"
    for name in before.keys() - now.keys():
        yield f"{name} is gone"
