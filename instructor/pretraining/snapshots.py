"""Snapshots of a pre-training run: killed at any moment, it goes on from the last whole one."""

import io
import sys
from pathlib import Path
from typing import Any

import torch

from grader.files import write_whole

KEPT = 3


def snapshots(folder: Path) -> list[Path]:
    """List the snapshots, the newest last."""
    return sorted(folder.glob("step-*.pt"))


def save_snapshot(folder: Path, step: int, state: dict[str, Any]) -> None:
    """Write a snapshot whole, then drop all but the last three."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_whole(folder / f"step-{step:07d}.pt", buffer.getvalue())
    for path in snapshots(folder)[:-KEPT]:
        path.unlink()


def load_snapshot(folder: Path, origin: str) -> dict[str, Any] | None:
    """Read the newest snapshot that is whole and of the same run.

    Args:
        origin: names the run: its settings and its text. Another run's snapshots are passed over.

    Returns: what was saved, or None.
    """
    for path in reversed(snapshots(folder)):
        try:
            state: dict[str, Any] = torch.load(path, weights_only=True)
        except Exception as error:  # torch raises many kinds for a file that is not whole
            print(f"{path}: passed over, not a whole snapshot ({error})", file=sys.stderr)
            continue
        if state.get("origin") == origin:
            return state
    return None
