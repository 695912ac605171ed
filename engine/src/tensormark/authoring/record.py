"""Record the references: `tensormark references`.

The solution and its known wrong variants answer the calls of every exercise, in float64, in the
same worker that grades students. The command writes:

    OUT/<exercise>.safetensors   inputs, outputs, gradients, and fingerprints of the variants
    OUT/manifest.json            sha256 of everything, versions, seed, noise, tolerances
    OUT/...                      with a private seed: files that tasks are graded with, if any

If nothing has changed, it writes nothing; otherwise it prints what changed and by how much, and
writes all of it at the end.
"""

import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from tensormark.authoring.course import Course, open_course
from tensormark.authoring.earlier import previous_record
from tensormark.authoring.private import (
    IGNORE,
    IGNORED,
    MANIFEST,
    destination,
    manifest_of,
    read_seed,
    require_other_inputs,
)
from tensormark.authoring.recorder import Recorded, Recorder
from tensormark.authoring.strip import derive
from tensormark.files import digest, python_files, sha256, write_whole
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

    assignment = course.assignment
    staff = course.staff
    weights = digests(checkpoint, assignment.checkpoint_files)
    starter = sorted(derive(assignment).items())  # not the files in starter/, which people edit
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
        "solution": digests(assignment.solution, python_files(assignment.solution)),
        "starter": {name: digest(text.encode()) for name, text in starter},
        "checkpoint": weights,
        "data": digests(assignment.data, staff.data_files or assignment.data_files),
        "exercises": {recording.exercise.id: recording.entry() for recording in recorded},
        **course.ask_staff("measured", assignment, weights),
    }


def _changes_of_manifest(old: Any, new: Any) -> Iterator[str]:
    """Yield which entries differ, each in a few words."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old | new:
            for rest in _changes_of_manifest(old.get(key), new.get(key)):
                yield f".{key}{rest}"
    elif old != new:
        numbers = isinstance(old, float) and isinstance(new, float)
        yield f" was {old:g}, is {new:g}" if numbers else " changed"


def _content(
    course: Course, recorded: Sequence[Recorded], seed: int, out: Path, checkpoint: Path | None
) -> dict[str, bytes]:
    """Return all files of the references, by name; the manifest is the last one."""
    files = {f"{each.exercise.id}.safetensors": each.content for each in recorded}
    files |= course.hidden(seed)
    new = manifest(course, recorded, seed, checkpoint)
    new["files"] = {name: digest(content) for name, content in files.items()}
    old = manifest_of(out)
    text = json.dumps(new, indent=2) + "\n"
    if all(old.get(name) == value for name, value in new.items() if name not in NOTED):
        text = (out / MANIFEST).read_text(encoding="utf-8")
    if out.resolve() != course.assignment.references.resolve():
        files[IGNORE] = IGNORED
    return files | {MANIFEST: text.encode()}


def _replace(out: Path, files: Mapping[str, bytes], stale: Iterable[str]) -> None:
    """Replace files of a folder once all of their contents are on its disk."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".") as staged:
        for name, content in files.items():
            write_whole(Path(staged, name), content)
        for name in files:
            os.replace(Path(staged, name), out / name)
    for name in stale:
        (out / name).unlink()


def _recorded(course: Course, out: Path, seed: int, checkpoint: Path | None) -> Iterator[Recorded]:
    """Record one exercise after another."""
    table = [exercise for exercise in course.assignment.exercises if exercise.probes]
    require_other_inputs(table, course.assignment.seed, seed)
    settings = Settings.of(course.assignment.folder, checkpoint=checkpoint, threads=THREADS)
    program = program_of(course.assignment, table, course.assignment.solution_sources, settings)
    with ProcessSandbox(program) as sandbox:
        recorders = [Recorder(course, exercise, sandbox, seed) for exercise in table]
        bar = tqdm(recorders, desc="recording", disable=not sys.stderr.isatty(), leave=False)
        for count, recorder in enumerate(bar, start=1):
            exercise = recorder.exercise
            if not sys.stderr.isatty():
                print(f"recording {exercise.id}, {count} of {len(table)}", file=sys.stderr)
            yield recorder.record(previous_record(out, exercise))


def _lines(name: str, reasons: Sequence[str]) -> list[str]:
    more = [f"and {len(reasons) - MOST} more"] if len(reasons) > MOST else []
    return [f"{name}: {reason}" for reason in [*reasons[:MOST], *more]]


def record(course: Course, out: Path, seed: int, check: bool, checkpoint: Path | None) -> list[str]:
    """Record every exercise into a folder, all of it or nothing, unless `check` only compares.

    Returns: what changed, one change per line.
    """
    digests(checkpoint, course.assignment.checkpoint_files)
    course.hidden(seed)  # if one of these fails, better now than after a minute
    recorded = list(_recorded(course, out, seed, checkpoint))
    files = _content(course, recorded, seed, out, checkpoint)
    paths = {name: out / name for name in files}
    before = {name: path.read_bytes() for name, path in paths.items() if path.is_file()}
    new = {name: content for name, content in files.items() if before.get(name) != content}
    reasons = {f"{each.exercise.id}.safetensors": each.changes for each in recorded}
    old = manifest_of(out)
    if old:  # its list of files would only repeat the other lines
        both = (entries | {"files": {}} for entries in (old, json.loads(files[MANIFEST])))
        reasons[MANIFEST] = [line[1:] for line in _changes_of_manifest(*both)]
    lines = []
    for name in new:
        lines += _lines(name, reasons.get(name) or ["changed" if name in before else "new"])
    listed = [name for name in old.get("files", {}) if Path(name).name == name]
    stale = [name for name in listed if name not in files and (out / name).is_file()]
    lines += [f"{name}: removed, as it is no longer recorded" for name in stale]
    if lines and not check:
        _replace(out, new, stale)
    return lines


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Record, or with --check only compare."""
    command_line = parser(name, "Record the right answers.")
    own = shipped(folder)
    add = command_line.add_argument
    add(
        "--seed", type=read_seed, help="seed of the inputs (default: that of the public references)"
    )
    add("--out", type=Path, help="folder to write (default: depends on the checkpoint)")
    about = with_default("checkpoint to use, such as an imported one", own)
    add("--checkpoint", type=Path, default=own, help=about)
    add("--check", action="store_true", help="write nothing; fail if anything changed")
    options = command_line.parse_args(arguments)
    course = open_course(open_assignment(folder))
    seed, out = destination(course, options.seed, options.out, options.checkpoint)
    lines = record(course, out, seed, options.check, options.checkpoint)
    print("\n".join(lines) or f"{out} is up to date")
    return 1 if lines and options.check else 0
