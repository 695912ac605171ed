"""Make a new term: `python -m instructor.term --seed 2027` (`make term SEED=2027`).

Writes everything that depends on the seed of the sentences: data, checkpoint, threshold, starter,
references, tables and pictures. All of it is made in a copy of this repository in runs/, and moved
here at the end, so that an interrupted or failed run changes nothing. The same command resumes it.
If one of these files was edited here meanwhile, none is replaced, and the copy keeps the new ones.

Exits with 1 if it cannot start, a step fails or a file was edited; with 130 if interrupted.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.assignment import ASSIGNMENT
from instructor import ROOT
from tensormark.authoring.strip import derive, drifted
from tensormark.files import sha256, whole_folder, write_whole
from tensormark.usage import UserError

NOT_COPIED = shutil.ignore_patterns(
    ".*", "runs", "dist", "__pycache__", "predictions", "private", "class"
)
NOT_MOVED = {"__pycache__", "private", "snapshots"}
DONE = "done.json"  # in the copy's parent folder: the seconds that each finished step took
BEGAN = "began.json"  # there, too: digests of the files that the steps write, before the first
SPACE = 500 << 20  # bytes: several times the size of a finished copy
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PROGRAMS = ("make",)
PACKAGES = ("torch", "numpy", "safetensors", "tokenizers", "tqdm", "sklearn", "matplotlib")
GATE = Path("reference_outputs", "gate.json")
Digests = dict[str, str]  # of files, by path in the repository


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
        Step("gate", ("instructor.gate.measure",), ("data", "reference_outputs"), 6),
        Step("starter", ("tensormark", "starter"), ("starter",), 0.1),
        Step("references", ("tensormark", "references"), ("reference_outputs",), 4),
        Step("handout", ("tensormark", "handout"), ("handout.md", "handout"), 0.1),
        Step("pictures", ("make", "pictures"), ("handout/pictures",), 1),
    ]


class TermError(Exception):
    """A term cannot be made; the message is one line and gives the fix."""


def parse_seed(text: str) -> int:
    """Read the seed of the sentences.

    Raises:
        TermError: it is missing or invalid.
    """
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise TermError(f"SEED={text}: must be an integer, such as SEED=2027")
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
        raise TermError(f"{files}: not derived from the current solution/; run `make starter`")
    free = shutil.disk_usage(root).free
    if free < SPACE:
        raise TermError(f"{root} has {free >> 20} MB free, but {SPACE >> 20} MB are needed")


def _digests(root: Path, names: Sequence[str]) -> Digests:
    """Return the digests of all files below these, except those that stay where they are."""
    files = [file for name in names for file in [root / name, *sorted(root.glob(f"{name}/**/*"))]]
    kept = [file.relative_to(root) for file in files if file.is_file()]
    return {
        file.as_posix(): sha256(root / file) for file in kept if NOT_MOVED.isdisjoint(file.parts)
    }


def _copy_once(root: Path, copy: Path, names: Sequence[str]) -> Digests:
    """Copy the repository, unless an earlier run already has; return the digests that it had."""
    notes = copy.parent / BEGAN
    if not copy.exists():
        notes.unlink(missing_ok=True)
        with whole_folder(copy) as folder:
            shutil.copytree(root, folder, ignore=NOT_COPIED, dirs_exist_ok=True)
    if not notes.is_file():
        write_whole(notes, json.dumps(_digests(copy, names)))
    began: Digests = json.loads(notes.read_text(encoding="utf-8"))
    return began


def _last_line(log: Path) -> str:
    """Return the last message in a log; make's own lines only report exit statuses."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    messages = [line.strip() for line in lines if line.strip() and not line.startswith("make")]
    return messages[-1] if messages else "no message"


def _run_step(step: Step, copy: Path) -> None:
    """Run a step in a process group of its own, which Ctrl-C does not reach, with a log.

    Raises:
        TermError: it failed. KeyboardInterrupt: this process was interrupted, and the group killed.
    """
    command = [sys.executable, "-m", *step.command]
    if step.command[0] == "make":
        command = [*step.command, f"VENV={Path(sys.executable).parent.parent}"]
    environment = dict(os.environ)
    if step.command[0].startswith("instructor."):
        environment["PYTHONPATH"] = str(copy / "solution")
    log = copy.parent / f"{step.name}.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command, cwd=copy, env=environment, stderr=errors, start_new_session=True
        ) as run,
    ):
        try:
            status = run.wait()
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
            raise
    if status != 0:
        why = _last_line(log) if status > 0 else f"killed by signal {-status}"
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
        minutes = f"about {step.minutes:.0f} minutes of {left:.0f}"
        print(f"\n{count} of {len(steps)}: {step.name}, {minutes}", flush=True)
        started = time.monotonic()
        _run_step(step, copy)
        done[step.name] = round(time.monotonic() - started, 1)
        write_whole(notes, json.dumps(done))


def _to_move(root: Path, copy: Path, began: Digests, names: Sequence[str]) -> list[str]:
    """List the files that the steps have changed and that are not here yet.

    Raises:
        TermError: one of them was edited here.
    """
    here = _digests(root, names)
    files = [
        file
        for file, digest in _digests(copy, names).items()
        if digest not in (began.get(file), here.get(file))
    ]
    edited = [file for file in files if here.get(file) != began.get(file)]
    if edited:
        raise TermError(
            f"edited during the run, so nothing was replaced: {', '.join(edited)}; the "
            f"new files are in {copy}: restore the old ones (with git stash, for instance) and "
            "run the same command again, which only moves the new ones"
        )
    return files


def _account(root: Path, copy: Path, files: Sequence[str]) -> list[str]:
    """Return what changes: the accuracies of the fine-tune, and the sizes of files."""
    lines = []
    if str(GATE) in files:
        before, after = (json.loads((folder / GATE).read_bytes()) for folder in (root, copy))
        for name in ("mean", "standard_deviation", "lowest", "threshold"):
            what = f"dev accuracy, {name.replace('_', ' ')}"
            lines.append(f"  {what}: {before[name]:.4f} -> {after[name]:.4f}")
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
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # the rest is short and must be done whole
    for file in files:
        write_whole(root / file, (copy / file).read_bytes())
    shutil.rmtree(copy.parent)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    return lines


def interrupt_on_signals() -> None:
    """Have signals raise KeyboardInterrupt, except those to ignore, as with nohup."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a term; return the exit status."""
    parser = argparse.ArgumentParser(prog="term", description="Make a new term's assignment.")
    parser.add_argument("--seed", default="", help="seed of the sentences, such as 2027")
    text = parser.parse_args(arguments).seed
    interrupt_on_signals()
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
