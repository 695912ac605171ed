"""Private references: which seed they may have, where they may go, and how they stay private.

References are public or private by their seed, and never replaced by those of another seed.
"""

import json
import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tensormark.authoring.course import Course
from tensormark.exercise import Call, Exercise
from tensormark.settings import references_for
from tensormark.usage import UserError, option

MANIFEST = "manifest.json"
PUBLIC = "the public references"
IGNORE = ".gitignore"
IGNORED = b"# references are for staff only\n*\n"  # git then ignores the folder
DIGITS = 30  # a seed must have fewer


def manifest_of(folder: Path) -> dict[str, Any]:
    """Return the manifest of references; empty if there is none that can be read."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) and "exercises" in manifest else {}


def _published_seeds(course: Course) -> dict[int, str]:
    public = manifest_of(course.assignment.references).get("seed", course.assignment.seed)
    known: dict[int, str] = course.ask_staff("known_seeds", course.assignment)
    return {**known, public: PUBLIC, course.assignment.seed: PUBLIC}


def private_folders(course: Course) -> Iterator[Path]:
    """Yield the folders of private references anywhere in an assignment's folder."""
    public = course.assignment.seed
    for path, folders, _ in os.walk(course.assignment.folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        if manifest_of(Path(path)).get("seed", public) != public:
            yield Path(path)


def read_seed(text: str) -> int:
    """Read the seed of the inputs.

    Raises:
        UserError: it is invalid.
    """
    if not (text.isascii() and text.isdecimal() and len(text) < DIGITS):
        raise UserError(f"{option('seed', text)}: must be an integer, 0 or more")
    return int(text)


def destination(
    course: Course, seed: int | None, out: Path | None, checkpoint: Path | None
) -> tuple[int, Path]:
    """Return the seed and the folder for references that are to be recorded.

    Args:
        seed, out: as asked for; None: those of the public references, or of the checkpoint.

    Raises:
        UserError: private references would have public inputs, or replace other files.
    """
    assignment = course.assignment
    default = references_for(assignment.folder, checkpoint)
    folder = out or default
    chosen = assignment.seed if seed is None else seed
    if folder.resolve() == assignment.references.resolve():
        if chosen != assignment.seed:
            example = option("out", "reference_outputs/private")
            raise UserError(
                f"{option('seed', chosen)} makes private references, but every student gets "
                f"{folder}; name another folder for them, such as {example}"
            )
        return chosen, folder
    place = _published_seeds(course).get(chosen)
    if place is not None and (seed is not None or default == assignment.references):
        raise UserError(
            f"{option('seed', chosen)} is the seed of {place}, so students could know all inputs; "
            f"choose one that nobody can guess, such as {option('seed', secrets.randbelow(10**9))}"
        )
    _check_folder(folder, chosen)
    return chosen, folder


def _check_folder(folder: Path, seed: int) -> None:
    """Check that a folder is new or empty, or has references of this seed."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{option('out', folder)} is a file; name a folder")
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    before = manifest_of(folder).get("seed")
    if not names or before == seed:
        return
    what = f"other files, such as {min(names)}"
    if before is not None:
        what = f"references of {option('seed', before)}"
    raise UserError(f"{option('out', folder)} has {what}; name a new folder, or delete this one")


def _is_public(exercise: Exercise, call: Call, public_seed: int, seed: int) -> bool:
    public = exercise.inputs(call, public_seed)
    private = exercise.inputs(call, seed, private=True)
    same = public.keys() == private.keys()
    return same and all(np.array_equal(private[name], public[name]) for name in public)


def require_other_inputs(exercises: Sequence[Exercise], public_seed: int, seed: int) -> None:
    """Check that no call has its public inputs with a private seed, too.

    Raises:
        UserError: calls do; it names the probes of all exercises.
    """
    if seed == public_seed:
        return
    probes = [
        f"{exercise.id} ({probe.name})"
        for exercise in exercises
        for probe in exercise.probes
        if any(_is_public(exercise, call, public_seed, seed) for call in probe.calls)
    ]
    if probes:
        raise UserError(
            f"the inputs of {', '.join(probes)} are the public ones with {option('seed', seed)}; "
            "draw others in draw_private, or choose another seed"
        )
