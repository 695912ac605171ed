"""Record the references: `tensormark references`.

The solution and its known wrong variants answer the calls of every exercise, in float64, in the
same worker that grades students. The command writes:

    OUT/<exercise>.safetensors   inputs, outputs, gradients, and fingerprints of the variants
    OUT/manifest.json            sha256 of everything, versions, seed, noise, tolerances
    OUT/...                      with a private seed: files that tasks are graded with, if any

If nothing has changed, it writes nothing; otherwise it prints what changed and by how much.
"""

import json
import platform
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save
from tqdm import tqdm

from tensormark.authoring.course import Course, open_course
from tensormark.authoring.earlier import PreviousRecord, previous_record
from tensormark.authoring.private import (
    destination,
    keep_out_of_git,
    read_seed,
    require_other_inputs,
)
from tensormark.authoring.recorder import Recorded, Recorder
from tensormark.authoring.strip import derive
from tensormark.files import digest, sha256, write_whole
from tensormark.folder import open_assignment
from tensormark.grading import program_of
from tensormark.references import FORMAT
from tensormark.sandbox.process import ProcessSandbox
from tensormark.settings import Settings, shipped, with_default
from tensormark.usage import UserError, parser

THREADS = 1
MOST = 6  # lines that are printed about one file
# Fields that are not compared, because other versions and processors may give the same references.
NOTED = ("versions", "processor", "threads")


def digests(folder: Path | None, names: Iterable[str]) -> dict[str, str]:
    """Return the sha256 of files, by name.

    Raises:
        UserError: a file is missing.
    """
    try:
        return {} if folder is None else {name: sha256(folder / name) for name in names}
    except OSError as error:
        raise UserError(f"{error.filename} is missing, but needed for recording") from error


def manifest(
    course: Course, recorded: Sequence[Recorded], seed: int, checkpoint: Path | None
) -> dict[str, Any]:
    """Build the manifest, without the digests of the files that are not written yet."""
    import torch  # here, because it takes seconds and other commands do not need it

    assignment, staff = course.assignment, course.staff
    weights = digests(checkpoint, assignment.checkpoint_files)
    starter = sorted(derive(assignment).items())  # not the files in starter/, which people edit
    solution = sorted(path.name for path in assignment.solution.glob("*.py"))
    return {
        "format": FORMAT,
        "seed": seed,
        "private": seed != assignment.seed,
        "threads": THREADS,
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "torch": torch.__version__,
        },
        "processor": {
            "machine": platform.machine(),
            "instructions": torch.backends.cpu.get_cpu_capability(),
        },
        "files": {},
        "solution": digests(assignment.solution, solution),
        "starter": {name: digest(text.encode()) for name, text in starter},
        "checkpoint": weights,
        "data": digests(assignment.data, staff.data_files or assignment.data_files),
        "exercises": {recording.exercise.id: recording.entry() for recording in recorded},
        **course.ask_staff("measured", assignment, weights),
    }


def _first_lines(lines: list[str]) -> list[str]:
    more = [f"and {len(lines) - MOST} more"] if len(lines) > MOST else []
    return lines[:MOST] + more


def _write_exercise(
    out: Path, new: Recorded, before: PreviousRecord | str, check: bool
) -> list[str]:
    name = f"{new.exercise.id}.safetensors"
    if isinstance(before, str):
        changes = [before]
    elif new.changes or new.rows != before.row_names:
        changes = new.changes or ["its rows are in a different order"]
    else:
        return []
    if not check:
        write_whole(out / name, save(new.tensors))
    return [f"{name}: {line}" for line in _first_lines(changes)]


def _write_hidden(path: Path, text: bytes | None, check: bool) -> list[str]:
    before = path.read_bytes() if path.is_file() else None
    if before == text:
        return []
    if text is None:
        if not check:
            path.unlink()
        return [f"{path.name}: removed, because the inputs of this seed are public"]
    if not check:
        write_whole(path, text)
    return [f"{path.name}: {'new' if before is None else 'different sentences'}"]


def _remove_stale(out: Path, files: Container[str], check: bool) -> list[str]:
    """Remove the files of former exercises that the old manifest lists; return a line for each."""
    try:
        exercises = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["exercises"]
    except (OSError, ValueError, LookupError, TypeError):
        return []
    stale = [name for exercise in exercises if (name := f"{exercise}.safetensors") not in files]
    stale_files = [name for name in stale if name == Path(name).name and (out / name).is_file()]
    for name in stale_files if not check else ():
        (out / name).unlink()
    return [f"{name}: removed, because there is no such exercise" for name in stale_files]


def _write(
    course: Course,
    out: Path,
    recorded: Sequence[Recorded],
    before: Mapping[str, PreviousRecord | str],
    seed: int,
    check: bool,
    checkpoint: Path | None,
) -> list[str]:
    """Write what has changed, or with `check` only compare; return the changes, one per line."""
    hidden = course.hidden(seed)
    entries = manifest(course, recorded, seed, checkpoint)  # may raise, so nothing is written yet
    out.mkdir(parents=True, exist_ok=True)
    if not check:
        keep_out_of_git(course, out)
    lines = []
    for recording in recorded:
        lines += _write_exercise(out, recording, before[recording.exercise.id], check)
    for name in course.staff.hidden_files:
        lines += _write_hidden(out / name, hidden.get(name), check)
    files = [f"{recording.exercise.id}.safetensors" for recording in recorded]
    files += [name for name in course.staff.hidden_files if (out / name).is_file()]
    entries["files"] = digests(out, files)
    lines += _remove_stale(out, entries["files"], check)
    return lines + _write_manifest(out / "manifest.json", entries, check)


def record(course: Course, out: Path, seed: int, check: bool, checkpoint: Path | None) -> list[str]:
    """Record every exercise into a folder; return what changed, one change per line.

    Raises:
        KeyboardInterrupt: with a message if something may have been written.
    """
    assignment = course.assignment
    digests(checkpoint, assignment.checkpoint_files)
    table = [exercise for exercise in assignment.exercises if exercise.probes]
    require_other_inputs(table, assignment.seed, seed)
    course.hidden(seed)  # if it fails, better now than after a minute
    settings = Settings.of(assignment.folder, checkpoint=checkpoint, threads=THREADS)
    before = {exercise.id: previous_record(out, exercise) for exercise in table}
    with ProcessSandbox(program_of(assignment, table, course.sources(), settings)) as sandbox:
        recorder = Recorder(course, sandbox, seed)
        bar = tqdm(table, desc="recording", disable=not sys.stderr.isatty(), leave=False)
        recorded = []
        for count, exercise in enumerate(bar, start=1):
            if not sys.stderr.isatty():
                print(f"recording {exercise.id}, {count} of {len(table)}", file=sys.stderr)
            recorded.append(recorder.record(exercise, before[exercise.id]))
    try:
        return _write(course, out, recorded, before, seed, check, checkpoint)
    except KeyboardInterrupt:
        if check:
            raise
        message = f"{out} may be partly written; run the same command again"
        raise KeyboardInterrupt(message) from None


def _differences(old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old | new:
            for rest in _differences(old.get(key), new.get(key)):
                yield f".{key}{rest}"
    elif old != new:
        both = isinstance(old, float) and isinstance(new, float)
        yield f" was {old:g}, is {new:g}" if both else " changed"


def _write_manifest(path: Path, new: dict[str, Any], check: bool) -> list[str]:
    try:
        old = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        old = None
    parts = [name for name in new if name not in NOTED and (old or {}).get(name) != new[name]]
    if parts and not check:
        write_whole(path, json.dumps(new, indent=2) + "\n")
    if old is None:
        return ["manifest.json: new"]
    differences = [
        f"{name}{rest}" for name in parts for rest in _differences(old.get(name), new[name])
    ]
    return [f"manifest.json: {line}" for line in _first_lines(differences)]


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Record, or with --check only compare."""
    command_line, own = parser(name, "Record the right answers."), shipped(folder)
    add = command_line.add_argument
    add("--seed", help="seed of the inputs (default: that of the public references)")
    add("--out", type=Path, help="folder to write (default: depends on the checkpoint)")
    about = with_default("checkpoint to use, such as an imported one", own)
    add("--checkpoint", type=Path, default=own, help=about)
    add("--check", action="store_true", help="write nothing; fail if anything changed")
    add("--force", action="store_true", help="replace references of another seed in this folder")
    options = command_line.parse_args(arguments)
    asked = options.out, options.checkpoint, options.force
    course = open_course(open_assignment(folder))
    seed, out = destination(course, read_seed(options.seed), *asked)
    lines = record(course, out, seed, options.check, options.checkpoint)
    print("\n".join(lines) or f"{out} is up to date")
    return 1 if lines and options.check else 0
