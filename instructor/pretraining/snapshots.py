"""Snapshots of a pre-training run, which resumes from the last one if it was killed."""

import io
import sys
from pathlib import Path
from typing import Any

import torch

from tensormark.files import write_whole

KEPT = 3


def _snapshots(folder: Path) -> list[Path]:
    return sorted(folder.glob("step-*.pt"))


def save_snapshot(folder: Path, step: int, state: dict[str, Any]) -> None:
    """Write a snapshot atomically, then delete all but the last three."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_whole(folder / f"step-{step:07d}.pt", buffer.getvalue())
    for path in _snapshots(folder)[:-KEPT]:
        path.unlink()


def load_snapshot(folder: Path, origin: str) -> dict[str, Any] | None:
    """Read the newest intact snapshot of the same run.

    Args:
        origin: identifies the run: its settings and its text. Other runs' snapshots are skipped.

    Returns: what was saved, or None.
    """
    for path in reversed(_snapshots(folder)):
        try:
            state: dict[str, Any] = torch.load(path, weights_only=True)
        except Exception as error:  # torch raises many kinds for a damaged file
            print(f"{path}: skipped, the snapshot is damaged ({error})", file=sys.stderr)
            continue
        if state.get("origin") == origin:
            return state
    return None
