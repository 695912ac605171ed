"""Record the references: `tensormark references`.

The solution and its known wrong variants answer the calls of every exercise, in float64, in the
same worker that grades students. The command writes:

    OUT/<exercise>.safetensors   inputs, outputs, gradients, and fingerprints of the variants
    OUT/manifest.json            sha256 of everything, versions, seed, noise, tolerances
    OUT/...                      with a private seed: files that tasks are graded with, if any

If nothing has changed, it writes nothing; otherwise it prints what changed and by how much, and
writes all of it at the end. After an interruption, the same command continues with the exercise
that was not finished.

References are public or private by their seed, and never replaced by those of another seed.
"""

import contextlib
import json
import os
import platform
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from tensormark.authoring.course import Course, open_course
from tensormark.authoring.recorder import Recorded, Recorder
from tensormark.authoring.stopped import require_stopped
from tensormark.authoring.strip import derive
from tensormark.exercise import Call, Exercise
from tensormark.files import digest, for_staff, python_files, sha256, write_whole
from tensormark.folder import PACKAGE, open_assignment
from tensormark.program import program_of
from tensormark.references import FORMAT
from tensormark.release.given_out import fitting
from tensormark.sandbox.sandbox import Sandbox
from tensormark.sandbox.tiers import PROCESS
from tensormark.settings import Settings, references_for, shipped
from tensormark.usage import UserError, near, option, parser

MANIFEST = "manifest.json"
UNFINISHED = ".unfinished"
ENGINE = Path(__file__).resolve().parents[1]
PUBLIC = "the public references"
IGNORE = ".gitignore"
IGNORED = b"# references are for staff only\n*\n"  # git then ignores the folder
DIGITS = 30  # a seed must have fewer
MOST = 6  # lines that are printed about one file
# Fields that are not compared, because other versions and processors may give the same references.
NOTED = ("versions", "processor")


# --- where to: private references stay private -------------------------------------------------


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
            raise UserError(
                f"{option('seed', chosen)} makes private references, but every student gets "
                f"{folder}; name another folder for them, such as "
                f"{option('out', 'reference_outputs/private')}"
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
    paths = folder.iterdir() if folder.is_dir() else ()
    names = [path.name for path in paths if path.name != UNFINISHED]
    before = manifest_of(folder).get("seed")
    if not names or before == seed:
        return
    what = f"other files, such as {min(names)}"
    if before is not None:
        what = f"references of {option('seed', before)}"
    raise UserError(f"{option('out', folder)} has {what}; name a new folder, or delete this one")


def _is_public(exercise: Exercise, call: Call, public_seed: int, seed: int) -> bool:
    private = exercise.inputs(call, seed, private=True)
    return save(private) == save(exercise.inputs(call, public_seed))


def require_other_inputs(exercises: Sequence[Exercise], public_seed: int, seed: int) -> None:
    """Check that no call has its public inputs with a private seed, too.

    Raises:
        UserError: calls do; it names the probes of all exercises.
    """
    if seed == public_seed:
        return
    probes = []
    for exercise in exercises:
        for probe in exercise.probes:
            if probe.calls[0].raises:
                continue  # there is no answer to know
            if any(_is_public(exercise, call, public_seed, seed) for call in probe.calls):
                probes.append(f"{exercise.id} ({probe.name})")
    if probes:
        raise UserError(
            f"the inputs of {', '.join(probes)} are the public ones with {option('seed', seed)}; "
            "draw others in draw_private, or choose another seed"
        )


# --- what is recorded --------------------------------------------------------------------------


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
    course: Course,
    entries: Mapping[str, Mapping[str, Any]],
    files: Mapping[str, bytes],
    seed: int,
    checkpoint: Path | None,
) -> dict[str, Any]:
    """Build the manifest.

    Args:
        entries: of the exercises, by id.
        files: all other files, by name.
    """
    libraries = {"numpy": np.__version__}
    instructions = ""
    if find_spec("torch"):
        import torch  # here, because it takes seconds and other commands do not need it

        libraries["torch"] = torch.__version__
        instructions = torch.backends.cpu.get_cpu_capability()
    assignment = course.assignment
    staff = course.staff
    weights = digests(checkpoint, assignment.checkpoint_files)
    starter = sorted(derive(assignment).items())  # not the files in starter/, which people edit
    return {
        "format": FORMAT,
        "seed": seed,
        "private": seed != assignment.seed,
        "versions": {"python": platform.python_version(), **libraries},
        "processor": {"machine": platform.machine(), "instructions": instructions},
        "files": {name: digest(content) for name, content in files.items()},
        "solution": digests(assignment.solution, python_files(assignment.solution)),
        "starter": {name: digest(text.encode()) for name, text in starter},
        "checkpoint": weights,
        "data": digests(assignment.data, staff.data_files or assignment.data_files),
        "exercises": entries,
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


class Kept:
    """What an interrupted recording has recorded: a file for each exercise, below OUT."""

    def __init__(self, course: Course, out: Path, seed: int, weights: Mapping[str, str]) -> None:
        own = fitting(course.assignment.folder, f"{PACKAGE}/**/*.py", "solution/**/*.py")
        code = [*own, *python_files(ENGINE).values()]
        facts = [seed, np.__version__, manifest_of(out), weights, *map(sha256, sorted(code))]
        self.all = out / UNFINISHED
        self.folder = self.all / digest(json.dumps(facts).encode())  # of all that decides it

    def get(self, name: str) -> Recorded | None:
        """Return what was recorded of an exercise, if nothing that decides it has changed."""
        try:
            content, *others = json.loads((self.folder / name).read_bytes())
        except OSError:
            return None
        return Recorded(bytes.fromhex(content), *others)

    def keep(self, name: str, recorded: Recorded) -> None:
        """Keep what was recorded of an exercise."""
        content, *others = recorded
        with for_staff():
            write_whole(self.all / IGNORE, IGNORED)
            write_whole(self.folder / name, json.dumps([content.hex(), *others]).encode())

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Remove it unless the recording is interrupted: what it depends on has to be mended."""
        if kind is None or issubclass(kind, Exception):
            shutil.rmtree(self.all, ignore_errors=True)
            with contextlib.suppress(OSError):  # unless there is more in OUT
                self.all.parent.rmdir()


def _recorded(
    course: Course, out: Path, seed: int, checkpoint: Path | None, kept: Kept | None
) -> Iterator[tuple[str, Recorded]]:
    """Record one exercise after another: yield the name of each with what is recorded."""
    started = time.monotonic()
    table = [exercise for exercise in course.assignment.exercises if exercise.probes]
    settings = Settings.of(course.assignment.folder, checkpoint=checkpoint)
    program = program_of(course.assignment, table, course.assignment.solution_sources, settings)
    others = [each for each in course.honest if each.differs]
    with Sandbox(PROCESS, program) as sandbox:
        recorders = [
            [Recorder(course, exercise, sandbox, seed, other) for other in (None, *others)]
            for exercise in table
        ]
        require_other_inputs(table, course.assignment.seed, seed)
        require_stopped(course.assignment, sandbox)
        for count in range(1, len(table) + 1):
            first, *more = recorders.pop(0)  # which have all answers of their exercise
            for recorder in (first, *more):
                done = kept.get(recorder.name) if kept else None
                if done is None:
                    if recorder is not first and not any(recorder.moves(first.recordings)):
                        continue
                    passed = f"{time.monotonic() - started:.0f} s so far"
                    what = f"{recorder.name}, {count} of {len(table)}"
                    print(f"recording {what}, {passed}", file=sys.stderr)
                    done = recorder.record(out)
                    if kept:
                        kept.keep(recorder.name, done)
                yield recorder.name, done


def record(course: Course, out: Path, seed: int, check: bool, checkpoint: Path | None) -> list[str]:
    """Record every exercise into a folder, all of it or nothing, unless `check` only compares.

    Returns: what changed, one change per line.
    """
    weights = digests(checkpoint, course.assignment.checkpoint_files)
    kept = None if check else Kept(course, out, seed, weights)
    files = course.hidden(seed)  # if one of these fails, better now than after a minute
    entries = {}
    reasons = {}
    lines = []
    with kept or contextlib.nullcontext():
        for exercise, recorded in _recorded(course, out, seed, checkpoint, kept):
            name = f"{exercise}.safetensors"
            files[name], entries[exercise], reasons[name] = recorded
        new = manifest(course, entries, files, seed, checkpoint)
        old = manifest_of(out)
        if out.resolve() != course.assignment.references.resolve():
            files[IGNORE] = IGNORED
        if any(old.get(name) != value for name, value in new.items() if name not in NOTED):
            files[MANIFEST] = (json.dumps(new, indent=2) + "\n").encode()
            # its list of files would only repeat the other lines
            both = (entry | {"files": {}} for entry in (old, new))
            reasons[MANIFEST] = [line[1:] for line in _changes_of_manifest(*both)] if old else []
        there = set(os.listdir(out)) if out.is_dir() else set()
        before = {name: (out / name).read_bytes() for name in files.keys() & there}
        changed = {name: content for name, content in files.items() if before.get(name) != content}
        for name in changed:
            why = reasons.get(name) or ["changed" if name in before else "new"]
            more = [f"and {len(why) - MOST} more"] if len(why) > MOST else []
            lines += [f"{name}: {reason}" for reason in [*why[:MOST], *more]]
        stale = sorted((there - files.keys()).intersection(old.get("files", ())))
        lines += [f"{name}: removed, as it is no longer recorded" for name in stale]
        if lines and not check:
            with for_staff() if new["private"] else contextlib.nullcontext():
                _replace(out, changed, stale)
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
    about = "checkpoint to use, such as an imported one (default: %(default)s)"
    add("--checkpoint", type=Path, default=own, help=about)
    add("--check", action="store_true", help="write nothing; fail if anything changed")
    options = command_line.parse_args(arguments)
    course = open_course(open_assignment(folder))
    seed, out = destination(course, options.seed, options.out, options.checkpoint)
    lines = record(course, out, seed, options.check, options.checkpoint)
    print("\n".join(lines) or f"{near(out)} is up to date")
    return 1 if lines and options.check else 0
