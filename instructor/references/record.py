"""Record the references: `python -m instructor.references.record` (`make references`).

The solution and its known wrong variants answer the calls of every exercise, in float64, through
the same worker that grades students. It writes:

    OUT/<exercise>.safetensors   inputs, outputs, gradients, and fingerprints of the variants
    OUT/manifest.json            sha256 of everything, versions, seed, noise, tolerances
    OUT/dev.txt                  with a private seed: sentences for the sentiment threshold, with
                                 unpublished labels

If nothing has changed, nothing is written; otherwise it prints what changed and by how much.
"""

import argparse
import json
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save
from tqdm import tqdm

from grader.files import ROOT, digest, sha256, write_whole
from grader.grading import program_of
from grader.references import FORMAT, Tensors
from grader.sandbox.process import ProcessSandbox
from grader.settings import CHECKPOINT, Settings
from instructor.references.course import SEED, Course, minbert
from instructor.references.private import (
    destination,
    keep_out_of_git,
    read_seed,
    require_other_inputs,
)
from instructor.references.recorder import Recorded, Recorder, RecordError
from instructor.references.strip import MarkerError, derive
from instructor.references.tolerance import ToleranceError
from instructor.references.variants import VariantError

# Another processor's float64 differs by 1e-15 or so; a real change by far more.
UNMOVED, ROUNDED = 1e-10, 1e-3
FACTOR = 3.0  # by which measured noise may differ between processors


def moved(path: Path, tensors: Tensors) -> str | None:
    """Compare tensors with those in a file; None if nothing has changed."""
    try:
        before = load(path.read_bytes())
    except (OSError, ValueError) as error:
        return f"new ({type(error).__name__})"
    if before.keys() != tensors.keys():
        added, gone = len(tensors.keys() - before.keys()), len(before.keys() - tensors.keys())
        return f"{added} tensors were added, {gone} removed"
    largest, where = 0.0, ""
    for name, value in tensors.items():
        if before[name].shape != value.shape:
            return f"{name} was {before[name].shape}, is now {value.shape}"
        if not np.array_equal(np.isfinite(before[name]), np.isfinite(value)):
            return f"{name} has different infinities"
        # fingerprints are of float32 values, which other processors round differently
        unit = ROUNDED if name.endswith("/wrong") else UNMOVED
        finite = np.isfinite(value)
        known, now = before[name][finite].astype(np.float64), value[finite]
        scaled = np.abs(known - now) / (unit * (1.0 + np.abs(now)))
        if (moves := float(np.max(scaled, initial=0.0))) > largest:
            largest, where = moves, f"{name} changed by up to {moves * unit:.1e}"
    return where if largest > 1.0 else None


def digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return sha256 by name.

    Raises:
        RecordError: a file is missing.
    """
    try:
        return {name: sha256(folder / name) for name in names}
    except OSError as error:
        fix = "run `make data` or `make checkpoint`, or import the checkpoint"
        raise RecordError(f"{error.filename} is missing; {fix}") from error


def manifest(
    course: Course, out: Path, recorded: Sequence[Recorded], seed: int, checkpoint: Path
) -> dict[str, Any]:
    """Build the manifest of the files that are now in `out`."""
    files = [f"{r.exercise.id}.safetensors" for r in recorded]
    files += [name for name in course.hidden_files if (out / name).is_file()]
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    versions["torch"] = next(
        line.split("==")[1].split()[0]
        for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
        if line.startswith("torch==")
    )
    weights = digests(checkpoint, course.checkpoint_files)
    given = sorted(
        derive(course.assignment).items()
    )  # not the files in starter/, which people edit
    return {
        "format": FORMAT,
        "seed": seed,
        "threads": 1,
        "versions": versions,
        "files": digests(out, files),
        "solution": digests(course.solution, sorted(p.name for p in course.solution.glob("*.py"))),
        "starter": {name: digest(text.encode()) for name, text in given},
        "checkpoint": weights,
        "data": digests(course.data, course.data_files),
        "exercises": {r.exercise.id: r.entry() for r in recorded},
        **course.measured(weights),
    }


def write_hidden(path: Path, text: str | None, check: bool) -> list[str]:
    """Write a hidden file, or remove it; return what changed."""
    before = path.read_text(encoding="utf-8") if path.is_file() else None
    if before == text:
        return []
    if text is None:
        if not check:
            path.unlink()
        return [f"{path.name}: removed, because the inputs of this seed are public"]
    if not check:
        write_whole(path, text)
    return [f"{path.name}: {'new' if before is None else 'different sentences'}"]


def record(course: Course, out: Path, seed: int, check: bool, checkpoint: Path) -> list[str]:
    """Record every exercise into a folder; return what changed, a line each."""
    digests(checkpoint, course.checkpoint_files)
    table = [exercise for exercise in course.assignment.exercises if exercise.probes]
    for exercise in table:
        require_other_inputs(exercise, seed)
    settings = Settings(checkpoint=checkpoint)
    with ProcessSandbox(
        program_of(course.assignment, table, course.sources(), settings)
    ) as sandbox:
        recorder = Recorder(course, sandbox, seed)
        bar = tqdm(table, desc="recording", disable=not sys.stderr.isatty(), leave=False)
        recorded = [recorder.record(exercise) for exercise in bar]
    out.mkdir(parents=True, exist_ok=True)
    if not check:
        keep_out_of_git(out)
    lines = []
    for one in recorded:
        path = out / f"{one.exercise.id}.safetensors"
        if (what := moved(path, one.tensors)) is not None:
            lines.append(f"{path.name}: {what}")
            if not check:
                write_whole(path, save(one.tensors))
    hidden = course.hidden(seed)
    for name in course.hidden_files:
        lines += write_hidden(out / name, hidden.get(name), check)
    made = manifest(course, out, recorded, seed, checkpoint)
    return lines + write_manifest(out / "manifest.json", made, check)


def alike(old: Any, new: Any) -> bool:
    """Compare parts of a manifest; measured numbers may differ between processors."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(alike(old[key], new[key]) for key in new)
    if isinstance(old, float) and isinstance(new, float):
        return new / FACTOR <= old <= new * FACTOR
    return bool(old == new)


def write_manifest(path: Path, new: dict[str, Any], check: bool) -> list[str]:
    """Write the manifest if it differs from the existing one; return what changed, a line each."""
    try:
        old = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        old = {}
    parts = [name for name in new if not alike(old.get(name), new[name])]
    if parts and not check:
        write_whole(path, json.dumps(new, indent=2) + "\n")
    return [f"manifest.json: {', '.join(parts)} changed"] if parts else []


def main(arguments: Sequence[str] | None = None) -> int:
    """Record, or with --check only compare."""
    parser = argparse.ArgumentParser(prog="record", description="Record the references.")
    parser.add_argument("--seed", help=f"of the inputs (default: that of the public ones, {SEED})")
    parser.add_argument(
        "--out", type=Path, help="folder to write (default: depends on the checkpoint)"
    )
    parser.add_argument(
        "--checkpoint",
        type=Path,
        default=CHECKPOINT,
        help="such as an imported one (default: %(default)s)",
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if anything changed"
    )
    replaces = "replace references of another seed in this folder"
    parser.add_argument("--force", action="store_true", help=replaces)
    options = parser.parse_args(arguments)
    asked = options.out, options.checkpoint, options.force
    try:
        seed, out = destination(read_seed(options.seed), *asked)
        lines = record(minbert(), out, seed, options.check, options.checkpoint)
    except (RecordError, MarkerError, ToleranceError, VariantError, OSError) as error:
        print(f"record: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines) or f"{out} is up to date")
    return 1 if lines and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
