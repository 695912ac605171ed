"""Make a new term: `python -m instructor.term --seed 2027` (`make term SEED=2027`).

Writes everything that depends on the seed of the sentences: data, checkpoint, threshold, starter,
references, tables and pictures. All of it is made in a copy of this repository in runs/, and moved
here at the end, so that an interrupted or failed run changes nothing. The same command resumes it.
If one of these files was edited here meanwhile, none is replaced, and the copy keeps the new ones.

Exits with 1 if it cannot start, a step fails or a file was edited; with 130 if interrupted.
"""

import argparse
import importlib.util
import json
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.assignment import ASSIGNMENT
from instructor import ROOT
from instructor.steps import Interrupts, last_line, run_logged
from tensormark.authoring.strip import derive, drifted
from tensormark.files import sha256, write_whole
from tensormark.folders import whole_folder
from tensormark.usage import UserError

LEFT_OUT = (
    ".*",
    "runs",
    "dist",
    "__pycache__",
    "starter.backup-*",
    "predictions",
    "private",
    "class",
)
DONE = "done.json"  # in the copy's parent folder: the seconds that each finished step took
BEGAN = "began.json"  # there, too: digests of the files that the steps write, before the first
SPACE = 500 << 20  # bytes: several times the size of a finished copy
INTERRUPTS = Interrupts()
PROGRAMS = ("make",)
PACKAGES = ("torch", "numpy", "safetensors", "tokenizers", "tqdm", "sklearn", "matplotlib")


@dataclass(frozen=True)
class Step:
    """One command that writes some of the files.

    Attributes:
        command: the words after `python -m`, or the whole command if the first is "make".
        writes: the files and folders that it writes, relative to the repository.
        minutes: how long it took on two cores of a laptop; only for the estimate.
    """

    name: str
    command: tuple[str, ...]
    writes: tuple[str, ...]
    minutes: float


def steps_for(seed: int) -> list[Step]:
    """List the steps, in the order in which they depend on each other."""
    return [
        Step("data", ("instructor.language.write_data", "--seed", str(seed)), ("data",), 0.5),
        Step("checkpoint", ("instructor.pretraining.pretrain",), ("checkpoint",), 35),
        Step("curve", ("instructor.pretraining.staff_curve",), ("checkpoint",), 0.6),
        Step("gate", ("instructor.gate.measure",), ("data", "reference_outputs"), 6),
        Step("starter", ("tensormark", "starter"), ("starter",), 0.1),
        Step("references", ("tensormark", "references"), ("reference_outputs",), 4),
        Step("handout", ("tensormark", "handout"), ("handout.md", "handout"), 0.1),
        Step("pictures", ("make", "pictures"), ("pictures",), 1),
    ]


class TermError(Exception):
    """A term cannot be made; the message is one line and gives the fix."""


def parse_seed(text: str) -> int:
    """Read the seed of the sentences.

    Raises:
        TermError: it is missing or invalid.
    """
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise TermError(f"SEED={text}: must be a whole number, such as SEED=2027")
    return int(text)


def check_before(root: Path) -> None:
    """Check everything that would otherwise stop a term after most of its work.

    Raises:
        TermError: something is missing, or starter/ is not what is derived from solution/.
    """
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    missing += [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise TermError(f"{', '.join(missing)} cannot be found; run `make lint`, which installs it")
    try:
        assignment = replace(ASSIGNMENT, folder=root)
        names = drifted(assignment.starter, derive(assignment))
    except (UserError, FileNotFoundError) as error:
        raise TermError(str(error)) from error
    if names:
        files = ", ".join(f"starter/{name}" for name in names)
        raise TermError(
            f"{files}: not derived from the current solution/; run `make starter`, with FORCE=1 "
            "if you edited it, which keeps a copy"
        )
    if (free := shutil.disk_usage(root).free) < SPACE:
        raise TermError(f"{root} has {free >> 20} MB free, but {SPACE >> 20} MB are needed")


def _copy_once(root: Path, copy: Path, names: Sequence[str]) -> dict[str, str]:
    """Copy the repository, unless an earlier run already has.

    Returns: the digests of the files below `names` when it was copied.
    """
    notes = copy.parent / BEGAN
    if not copy.exists():
        notes.unlink(missing_ok=True)
        ignored = shutil.ignore_patterns(*LEFT_OUT)
        with whole_folder(copy) as folder:
            shutil.copytree(root, folder, ignore=ignored, dirs_exist_ok=True)
    if not notes.is_file():
        if (copy.parent / DONE).is_file():
            raise TermError(f"{copy.parent} is from an earlier version; remove it to start over")
        digests = {file.as_posix(): sha256(copy / file) for file in _files_below(copy, names)}
        write_whole(notes, json.dumps(digests))
    began: dict[str, str] = json.loads(notes.read_text(encoding="utf-8"))
    return began


def _run_step(step: Step, copy: Path) -> None:
    command = [sys.executable, "-m", *step.command]
    if step.command[0] == "make":
        command = [*step.command, f"VENV={Path(sys.executable).parent.parent}"]
    log = copy.parent / f"{step.name}.log"
    status = run_logged(command, copy, log, INTERRUPTS)
    if status != 0:
        why = last_line(log) if status > 0 else f"killed by signal {-status}"
        raise TermError(
            f"{step.name} failed: {why} (log: {log}); fix it, and run the same command again "
            "to continue from there"
        )


def _run_steps(steps: Sequence[Step], copy: Path) -> None:
    """Run the unfinished steps, and record each as soon as it finishes."""
    notes = copy.parent / DONE
    done = json.loads(notes.read_text(encoding="utf-8")) if notes.is_file() else {}
    for count, step in enumerate(steps, start=1):
        if step.name in done:
            continue
        left = sum(other.minutes for other in steps if other.name not in done)
        print(
            f"\n{count} of {len(steps)}: {step.name}, {_minutes(step.minutes)}; "
            f"{_minutes(left)} left in total",
            flush=True,
        )
        started = time.monotonic()
        _run_step(step, copy)
        done[step.name] = round(time.monotonic() - started, 1)
        write_whole(notes, json.dumps(done))


def _minutes(count: float) -> str:
    if count < 0.5:
        return "a few seconds"
    return f"about {count:.0f} minutes" if count >= 1.5 else "about a minute"


def _files_below(root: Path, names: Sequence[str]) -> Iterator[Path]:
    for name in names:
        path = root / name
        paths = [path] if path.is_file() else sorted(path.rglob("*"))
        skipped = {"__pycache__", "private", "snapshots"}
        yield from (
            file.relative_to(root)
            for file in paths
            if file.is_file() and not skipped & set(file.relative_to(root).parts)
        )


def _to_move(root: Path, copy: Path, began: dict[str, str], names: Sequence[str]) -> list[Path]:
    """List the files that the steps have changed and that are not here yet."""
    digests = {file: sha256(copy / file) for file in _files_below(copy, names)}
    digests = {file: now for file, now in digests.items() if now != began.get(file.as_posix())}
    here = {file: sha256(root / file) if (root / file).is_file() else None for file in digests}
    files = [file for file in digests if here[file] != digests[file]]
    if edited := [file for file in files if here[file] != began.get(file.as_posix())]:
        raise TermError(
            f"edited during the run, so nothing was replaced: {', '.join(map(str, edited))}; the "
            f"new files are in {copy}: restore the old ones (with git stash, for instance) and "
            "run the same command again, which only moves the new ones"
        )
    return files


def _figures(root: Path) -> dict[str, float]:
    try:
        gate = json.loads((root / "reference_outputs" / "gate.json").read_text(encoding="utf-8"))
    except OSError:
        return {}
    names = ("mean", "standard_deviation", "lowest", "threshold")
    return {f"dev accuracy, {name.replace('_', ' ')}": gate[name] for name in names}


def _account(root: Path, copy: Path, files: Sequence[Path]) -> list[str]:
    before, after = _figures(root), _figures(copy)
    lines = [
        f"  {name}: {before.get(name, float('nan')):.4f} -> {after[name]:.4f}" for name in after
    ]
    for file in files:
        old = f"{(root / file).stat().st_size:,}" if (root / file).is_file() else "new"
        lines.append(f"  {file}: {old} -> {(copy / file).stat().st_size:,} bytes")
    return lines


def make_term(root: Path, steps: Sequence[Step], name: str) -> list[str]:
    """Run all steps in a copy of `root`, move the changed files here, and report on them.

    Raises:
        TermError: a step failed, or files were edited meanwhile; nothing has changed here.
    """
    copy = root / "runs" / name / "minbert"
    copy.parent.mkdir(parents=True, exist_ok=True)
    names = sorted({name for step in steps for name in step.writes})
    began = _copy_once(root, copy, names)
    _run_steps(steps, copy)
    files = _to_move(root, copy, began, names)
    lines = _account(root, copy, files)
    INTERRUPTS.hold()
    for file in files:
        write_whole(root / file, (copy / file).read_bytes())
    shutil.rmtree(copy.parent)
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a term; return the exit status."""
    parser = argparse.ArgumentParser(prog="term", description="Make a new term's assignment.")
    parser.add_argument("--seed", default="", help="seed of the sentences, such as 2027")
    text = parser.parse_args(arguments).seed
    INTERRUPTS.handle()
    try:
        seed = parse_seed(text)
        check_before(ROOT)
        lines = make_term(ROOT, steps_for(seed), f"term-{seed}")
    except (TermError, OSError) as error:
        print(f"term: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(
            "\nterm: interrupted; nothing has changed; run the same command to continue",
            file=sys.stderr,
        )
        return 130
    print("\nWhat changed:", *lines or ["  nothing"], sep="\n")
    print("next: run make test ARGS=-rs, which lists the texts to check again; then commit")
    return 0


if __name__ == "__main__":
    sys.exit(main())
