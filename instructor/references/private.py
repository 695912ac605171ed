"""Private references: which seed they may have, where they may go, and that nobody else gets them.

References are public or private by their seed. What stands in a folder is never replaced by another
kind unless somebody says so: public by private ones, those of one seed by those of another.
"""

import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from grader.assignment.sentiment import HIDDEN
from grader.exercise import Exercise
from grader.files import ROOT, write_whole
from grader.settings import REFERENCES, references_for
from instructor.language.write_data import CARD_NAME, recorded_seed
from instructor.references.course import SEED
from instructor.references.recorder import RecordError

MANIFEST, IGNORE = "manifest.json", ".gitignore"
DIGITS = 30  # a seed has fewer
EXAMPLE = "OUT=reference_outputs/private"


def _manifest(folder: Path) -> dict[str, Any]:
    """Read what a folder of references says of itself; nothing if it is not one."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and "exercises" in found else {}


def published_seeds() -> dict[int, str]:
    """Return the seeds that every student can know, to where they stand."""
    found = {SEED: "the public references"}
    public = _manifest(REFERENCES).get("seed")
    if isinstance(public, int):
        found[public] = "the public references"
    card = ROOT / "data" / CARD_NAME
    if card.is_file():
        found.setdefault(recorded_seed(card.read_text(encoding="utf-8")), f"data/{CARD_NAME}")
    return found


def private_folders(root: Path) -> Iterator[Path]:
    """Yield the folders of private references that are anywhere in a repository."""
    for place, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        folder = Path(place)
        unfinished = HIDDEN in files and any(name.endswith(".safetensors") for name in files)
        if _manifest(folder).get("seed", SEED) != SEED or (unfinished and MANIFEST not in files):
            yield folder


def read_seed(text: str | None) -> int | None:
    """Read the seed of the inputs; None if none was asked for.

    Raises:
        RecordError: it is invalid.
    """
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < DIGITS):
        raise RecordError(f"SEED={text}: must be a whole number, 0 or more")
    return int(text)


def destination(
    seed: int | None, out: Path | None, checkpoint: Path, force: bool = False
) -> tuple[int, Path]:
    """Return the seed and the folder of references that are to be recorded.

    Args:
        seed, out: what was asked for; None: those of the public references, or the checkpoint's.
        force: replace references of another seed.

    Raises:
        RecordError: private ones would have public inputs, or replace what they should not.
    """
    default = references_for(checkpoint)
    folder, chosen = out or default, SEED if seed is None else seed
    if folder.resolve() == REFERENCES.resolve():
        if chosen != SEED:
            raise RecordError(
                f"SEED={chosen} makes private references, which {folder} is not for: every student "
                f"gets it; name a folder for them, such as {EXAMPLE}"
            )
    elif seed is not None or default == REFERENCES:
        _check_seed(chosen, folder, asked=seed is not None)
    _check_folder(folder, chosen, force)
    return chosen, folder


def _check_seed(seed: int, folder: Path, asked: bool) -> None:
    """Check that students do not know a seed of private references."""
    if (known := published_seeds().get(seed)) is None:
        return
    own = _manifest(folder).get("seed", SEED)
    advice = f"SEED={secrets.randbelow(10**9) if own in published_seeds() else own}"
    if asked:
        raise RecordError(
            f"SEED={seed} is the seed of {known}, so that students could know all inputs; choose "
            f"one that nobody can guess, such as {advice}"
        )
    raise RecordError(
        f"OUT={folder} without SEED= would have the inputs of the public references; choose a "
        f"seed that nobody can guess, such as {advice}, or leave out OUT= for the public ones"
    )


def _check_folder(folder: Path, seed: int, force: bool) -> None:
    """Check that a folder is new or empty, or has references of this seed."""
    if folder.exists() and not folder.is_dir():
        raise RecordError(f"OUT={folder} is a file; name a folder")
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    before = _manifest(folder).get("seed")
    if folder.resolve() == REFERENCES.resolve() and before is None:
        return  # missing or damaged, and to be recorded again
    if before is None and MANIFEST not in names:
        others = {n for n in names if not n.endswith(".safetensors")} - {HIDDEN, IGNORE}
        if others:
            raise RecordError(
                f"OUT={folder} is no folder of references, but has other files, such as "
                f"{min(others)}; name a new folder"
            )
    elif before != seed and not force:
        kind = "public" if before == SEED else "private"
        there = (
            f"{kind} references of SEED={before}" if before is not None else "a damaged manifest"
        )
        raise RecordError(
            f"OUT={folder} has {there}; name another folder, or add FORCE=1 to replace them by "
            f"those of SEED={seed}"
        )


def keep_out_of_git(folder: Path) -> None:
    """Have git ignore a folder, unless it is that of the public references."""
    path = folder / IGNORE
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    if folder.resolve() != REFERENCES.resolve() and "*" not in lines:
        write_whole(path, "\n".join(["# references are for staff only", "*", *lines]) + "\n")


def require_other_inputs(exercise: Exercise, seed: int) -> None:
    """Check that no call of an exercise has its public inputs with a private seed.

    Raises:
        RecordError: one does.
    """
    for probe in exercise.probes if seed != SEED else ():
        for call in probe.calls:
            public, private = exercise.inputs(call, SEED), exercise.inputs(call, seed, private=True)
            same = public.keys() == private.keys()
            if same and all(np.array_equal(private[name], public[name]) for name in public):
                raise RecordError(
                    f"{exercise.id}: the inputs of {probe.name} are the public ones with "
                    f"SEED={seed}; draw others in draw_private, or choose another seed"
                )
