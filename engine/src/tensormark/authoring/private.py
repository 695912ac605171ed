"""Private references: which seed they may have, where they may go, and how they stay private.

References are public or private by their seed. References in a folder are never replaced by others,
public by private or those of one seed by those of another, unless that is asked for.
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
from tensormark.files import write_whole
from tensormark.settings import references_for
from tensormark.usage import UserError, option

MANIFEST, IGNORE = "manifest.json", ".gitignore"
DIGITS = 30  # a seed must have fewer


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) and "exercises" in manifest else {}


def _published_seeds(course: Course) -> dict[int, str]:
    seeds = {course.assignment.seed: "the public references"}
    public = _manifest(course.assignment.references).get("seed")
    if isinstance(public, int):
        seeds[public] = "the public references"
    return {**course.ask_staff("known_seeds", course.assignment), **seeds}


def private_folders(course: Course) -> Iterator[Path]:
    """Yield the folders of private references anywhere in an assignment's folder."""
    seed, hidden = course.assignment.seed, course.staff.hidden_files
    for path, folders, files in os.walk(course.assignment.folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        folder = Path(path)
        unfinished = {*hidden} & {*files} and any(name.endswith(".safetensors") for name in files)
        if _manifest(folder).get("seed", seed) != seed or (unfinished and MANIFEST not in files):
            yield folder


def read_seed(text: str | None) -> int | None:
    """Read the seed of the inputs; None if none was asked for.

    Raises:
        UserError: it is invalid.
    """
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < DIGITS):
        raise UserError(f"{option('seed', text)}: must be a whole number, 0 or more")
    return int(text)


def destination(
    course: Course, seed: int | None, out: Path | None, checkpoint: Path | None, force: bool = False
) -> tuple[int, Path]:
    """Return the seed and the folder for references that are to be recorded.

    Args:
        seed, out: as asked for; None: those of the public references, or of the checkpoint.
        force: replace references of another seed.

    Raises:
        UserError: private references would have public inputs, or replace other files.
    """
    assignment = course.assignment
    default = references_for(assignment.folder, checkpoint)
    folder, chosen = out or default, assignment.seed if seed is None else seed
    if folder.resolve() == assignment.references.resolve():
        if chosen != assignment.seed:
            example = option("out", "reference_outputs/private")
            raise UserError(
                f"{option('seed', chosen)} makes private references, but every student gets "
                f"{folder}; name another folder for them, such as {example}"
            )
    elif seed is not None or default == assignment.references:
        _check_seed(course, chosen, folder, asked=seed is not None)
    _check_folder(course, folder, chosen, force)
    return chosen, folder


def _check_seed(course: Course, seed: int, folder: Path, asked: bool) -> None:
    """Check that students do not know a seed of private references."""
    published = _published_seeds(course)
    if (place := published.get(seed)) is None:
        return
    own = _manifest(folder).get("seed", seed)
    advice = option("seed", secrets.randbelow(10**9) if own in published else own)
    if asked:
        raise UserError(
            f"{option('seed', seed)} is the seed of {place}, so students could know all inputs; "
            f"choose one that nobody can guess, such as {advice}"
        )
    raise UserError(
        f"{option('out', folder)} without {option('seed')} would have the inputs of the public "
        f"references; choose a seed that nobody can guess, such as {advice}, or leave out "
        f"{option('out')} for the public ones"
    )


def _check_folder(course: Course, folder: Path, seed: int, force: bool) -> None:
    """Check that a folder is new or empty, or has references of this seed."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{option('out', folder)} is a file; name a folder")
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    before = _manifest(folder).get("seed")
    if folder.resolve() == course.assignment.references.resolve() and before is None:
        return  # missing or damaged, and to be recorded again
    if before is None and MANIFEST not in names:
        unknown = names - {*course.staff.hidden_files, IGNORE}
        if others := [name for name in unknown if not name.endswith(".safetensors")]:
            raise UserError(
                f"{option('out', folder)} is not a folder of references: it has other files, "
                f"such as {min(others)}; name a new folder"
            )
    elif before != seed and not force:
        kind = "public" if before == course.assignment.seed else "private"
        content = f"{kind} references of {option('seed', before)}"
        content = "a damaged manifest" if before is None else content
        raise UserError(
            f"{option('out', folder)} has {content}; name another folder, or add "
            f"{option('force', True)} to replace its references with those of "
            f"{option('seed', seed)}"
        )


def keep_out_of_git(course: Course, folder: Path) -> None:
    """Make git ignore a folder, unless it is that of the public references."""
    path = folder / IGNORE
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    if folder.resolve() != course.assignment.references.resolve() and "*" not in lines:
        write_whole(path, "\n".join(["# references are for staff only", "*", *lines]) + "\n")


def _is_public(exercise: Exercise, call: Call, public_seed: int, seed: int) -> bool:
    """Say whether a call has its public inputs with a private seed, too."""
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
