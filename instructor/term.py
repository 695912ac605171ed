"""A new term: `python -m instructor.term --seed 2027` (`make term SEED=2027`).

Writes everything that depends on the seed of the sentences: data, checkpoint, threshold, starter,
references, tables and pictures. All of it is made in a copy of this repository in runs/, and moved
here at the end, so that an interrupted or failed run changes nothing. The same command resumes it.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.files import ROOT, write_whole
from instructor.files import whole_folder

LEFT_OUT = (".*", "runs", "dist", "__pycache__", "starter.backup-*", "predictions")
DONE = "done.json"  # in the copy's parent folder: the seconds that each finished step took


@dataclass(frozen=True)
class Step:
    """One command that writes some of the files.

    Attributes:
        command: its words, after `python -m` or, if the first is "make", as they are.
        writes: the files and folders that it writes, relative to the repository.
        minutes: that it took on two cores of a laptop; only for the estimate.
    """

    name: str
    command: tuple[str, ...]
    writes: tuple[str, ...]
    minutes: float


def steps_for(seed: int) -> list[Step]:
    """List the steps, in the order in which they depend on each other."""
    references = "instructor.references"
    return [
        Step("data", ("instructor.language.write_data", "--seed", str(seed)), ("data",), 0.5),
        Step("checkpoint", ("instructor.pretraining.pretrain",), ("checkpoint",), 35),
        Step("curve", ("instructor.pretraining.staff_curve",), ("checkpoint",), 0.6),
        Step("gate", ("instructor.gate.measure",), ("data", "reference_outputs"), 6),
        Step("starter", (f"{references}.strip",), ("starter",), 0.1),
        Step("references", (f"{references}.record",), ("reference_outputs",), 4),
        Step("handout", (f"{references}.handout",), ("handout.md",), 0.1),
        Step("pictures", ("make", "pictures"), ("pictures",), 1),
    ]


class StepFailed(Exception):
    """A step ended with an error, which it has printed."""


def copied(root: Path, copy: Path) -> None:
    """Copy the repository, unless an earlier run already has."""
    if not copy.exists():
        ignored = shutil.ignore_patterns(*LEFT_OUT)
        with whole_folder(copy) as folder:
            shutil.copytree(root, folder, ignore=ignored, dirs_exist_ok=True)


def run_step(step: Step, copy: Path) -> None:
    """Run a step in the copy.

    Raises:
        StepFailed: it failed.
    """
    command = [sys.executable, "-m", *step.command]
    if step.command[0] == "make":
        command = [*step.command, f"VENV={Path(sys.executable).parent.parent}"]
    if subprocess.run(command, cwd=copy, check=False).returncode != 0:
        raise StepFailed(f"{step.name} failed; mend what it says, and run this again to go on")


def run_steps(steps: Sequence[Step], copy: Path) -> None:
    """Run the steps that have not been finished yet, and note each as soon as it is.

    Raises:
        StepFailed: one failed.
    """
    notes = copy.parent / DONE
    done = json.loads(notes.read_text(encoding="utf-8")) if notes.is_file() else {}
    for number, step in enumerate(steps, start=1):
        if step.name in done:
            continue
        left = sum(other.minutes for other in steps if other.name not in done)
        print(
            f"\n{number} of {len(steps)}: {step.name}, about {minutes(step.minutes)}; "
            f"{minutes(left)} left in all",
            flush=True,
        )
        started = time.monotonic()
        run_step(step, copy)
        done[step.name] = round(time.monotonic() - started, 1)
        write_whole(notes, json.dumps(done))


def minutes(count: float) -> str:
    """Write a number of minutes."""
    return f"{count:.0f} minutes" if count >= 1.5 else "a minute" if count >= 0.5 else "seconds"


def files_below(root: Path, names: Sequence[str]) -> Iterator[Path]:
    """List the files of some files and folders, relative to `root`."""
    for name in names:
        path = root / name
        found = [path] if path.is_file() else sorted(path.rglob("*"))
        skipped = {"__pycache__", "private", "snapshots"}
        yield from (
            file.relative_to(root)
            for file in found
            if file.is_file() and not skipped & set(file.relative_to(root).parts)
        )


def changed(root: Path, copy: Path, names: Sequence[str]) -> list[Path]:
    """List the files of the copy that are not the same in the repository."""
    return [
        file
        for file in files_below(copy, names)
        if not (root / file).is_file() or (root / file).read_bytes() != (copy / file).read_bytes()
    ]


def figures(root: Path) -> dict[str, float]:
    """Read what a term is known by."""
    try:
        gate = json.loads((root / "reference_outputs" / "gate.json").read_text(encoding="utf-8"))
    except OSError:
        return {}
    names = ("mean", "standard_deviation", "lowest", "threshold")
    return {f"dev accuracy, {name.replace('_', ' ')}": gate[name] for name in names}


def account(root: Path, copy: Path, files: Sequence[Path]) -> list[str]:
    """Say what is about to change: figures first, then files by their size."""
    before, after = figures(root), figures(copy)
    lines = [
        f"  {name}: {before.get(name, float('nan')):.4f} -> {after[name]:.4f}" for name in after
    ]
    for file in files:
        old = f"{(root / file).stat().st_size:,}" if (root / file).is_file() else "new"
        lines.append(f"  {file}: {old} -> {(copy / file).stat().st_size:,} bytes")
    return lines


def make_term(root: Path, steps: Sequence[Step], name: str) -> list[str]:
    """Do all steps in a copy of `root`, move what changed here, and say what that was.

    Raises:
        StepFailed: a step failed; nothing has changed here.
    """
    copy = root / "runs" / name / "minbert"
    copy.parent.mkdir(parents=True, exist_ok=True)
    copied(root, copy)
    run_steps(steps, copy)
    files = changed(root, copy, sorted({name for step in steps for name in step.writes}))
    lines = account(root, copy, files)
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        write_whole(root / file, (copy / file).read_bytes())
    shutil.rmtree(copy.parent)
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a term; return the exit status."""
    parser = argparse.ArgumentParser(prog="term", description="Make a new term's assignment.")
    parser.add_argument("--seed", type=int, required=True, help="of the sentences, such as 2027")
    seed = parser.parse_args(arguments).seed
    try:
        lines = make_term(ROOT, steps_for(seed), f"term-{seed}")
    except (StepFailed, OSError) as error:
        print(f"term: {error}", file=sys.stderr)
        return 1
    print("\nWhat changed:", *lines or ["  nothing"], sep="\n")
    print("next: make test ARGS=-rs, which lists the sentences to read again; then commit")
    return 0


if __name__ == "__main__":
    sys.exit(main())
