"""Make a new term: `python -m instructor.term --seed 2027` (`make term SEED=2027`).

Writes everything that depends on the seed of the sentences: data, checkpoint, threshold, starter,
references, tables and pictures. All of it is made in a copy of this repository in runs/, and moved
here at the end, so that an interrupted or failed run changes nothing. The same command resumes it.
If one of these files was edited here meanwhile, none is replaced, and the copy keeps the new ones.

Exits with 1 if it cannot start, a step fails or a file was edited; with 130 if interrupted.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
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
DONE = "done.json"  # in the copy's parent folder: the names of the finished steps
BEGAN = "began.json"  # there, too: digests of the files that the steps write, before the first
WRITTEN = ("checkpoint", "data", "handout", "handout.md", "reference_outputs", "starter")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Digests = dict[str, str]  # of files, by path in the repository


@dataclass(frozen=True)
class Step:
    """One command that writes some of the files in WRITTEN.

    Attributes:
        command: the words after `python -m`, or the whole command if the first is "make".
        minutes: how long it took on two cores of a laptop; only for the estimate.
    """

    name: str
    command: tuple[str, ...]
    minutes: int


def steps_for(seed: int) -> list[Step]:
    """List the steps, in the order in which they depend on each other."""
    return [
        Step("data", ("instructor.language.write_data", "--seed", str(seed)), 1),
        Step("checkpoint", ("instructor.pretraining.pretrain",), 35),
        Step("gate", ("instructor.gate.measure",), 6),
        Step("grades", ("instructor.gate.grades",), 5),
        Step("starter", ("tensormark", "starter"), 1),
        Step("references", ("tensormark", "references"), 4),
        Step("handout", ("tensormark", "handout"), 1),
        Step("pictures", ("make", "pictures"), 1),
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
    """Check that starter/, which a term replaces, is what is derived from solution/.

    Raises:
        TermError: it is not, or cannot be derived.
    """
    try:
        assignment = replace(ASSIGNMENT, folder=root)
        names = drifted(assignment.starter, derive(assignment))
    except (UserError, FileNotFoundError) as error:
        raise TermError(str(error)) from error
    if names:
        files = ", ".join(f"starter/{name}" for name in names)
        raise TermError(f"{files}: not derived from the current solution/; run `make starter`")


def _digests(root: Path) -> Digests:
    """Return the digests of all files in WRITTEN, except those that stay where they are."""
    files: list[Path] = []
    for name in WRITTEN:
        files += [root / name, *sorted(root.glob(f"{name}/**/*"))]
    return {
        file.relative_to(root).as_posix(): sha256(file)
        for file in files
        if file.is_file() and NOT_MOVED.isdisjoint(file.relative_to(root).parts)
    }


def _copy_once(root: Path, copy: Path) -> Digests:
    """Copy the repository, unless an earlier run already has; return the digests that it had."""
    if not copy.parent.exists():
        with whole_folder(copy.parent) as folder:
            shutil.copytree(root, folder / copy.name, ignore=NOT_COPIED)
            write_whole(folder / BEGAN, json.dumps(_digests(folder / copy.name)))
    began: Digests = json.loads((copy.parent / BEGAN).read_text(encoding="utf-8"))
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
    done = json.loads(notes.read_text(encoding="utf-8")) if notes.is_file() else []
    for count, step in enumerate(steps, start=1):
        if step.name in done:
            continue
        about = f"about {step.minutes} min"
        print(f"\n{count} of {len(steps)}: {step.name}, {about}", flush=True)
        _run_step(step, copy)
        done.append(step.name)
        write_whole(notes, json.dumps(done))


def _to_move(root: Path, copy: Path, began: Digests) -> list[str]:
    """List the files that the steps have changed and that are not here yet.

    Raises:
        TermError: one of them was edited here.
    """
    here = _digests(root)
    files = [
        file
        for file, digest in _digests(copy).items()
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


def make_term(root: Path, steps: Sequence[Step], name: str) -> list[str]:
    """Run all steps in a copy of `root`, move the changed files here, and return their names.

    Raises:
        TermError: a step failed, or files were edited meanwhile; nothing has changed here.
    """
    copy = root / "runs" / name / "minbert"
    began = _copy_once(root, copy)
    _run_steps(steps, copy)
    files = _to_move(root, copy, began)
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # the rest is short and must be done whole
    for file in files:
        write_whole(root / file, (copy / file).read_bytes())
    shutil.rmtree(copy.parent)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    return files


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a term; return the exit status."""
    parser = argparse.ArgumentParser(prog="term", description="Make a new term's assignment.")
    parser.add_argument("--seed", default="", help="seed of the sentences, such as 2027")
    text = parser.parse_args(arguments).seed
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as with nohup
            signal.signal(number, signal.default_int_handler)
    try:
        seed = parse_seed(text)
        check_before(ROOT)
        files = make_term(ROOT, steps_for(seed), f"term-{seed}")
    except (TermError, OSError) as error:
        print(f"term: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(
            "\nterm: interrupted; nothing has changed; run the same command to continue",
            file=sys.stderr,
        )
        return 130
    print("\nWhat changed:", *files or ["nothing"], sep="\n  ")
    print("next: run make test ARGS=-rs, which lists the texts to check again; then commit")
    return 0


if __name__ == "__main__":
    sys.exit(main())
