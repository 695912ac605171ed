"""The command debug: run the failing call in Python's debugger, and stop on the line at fault.

For one's own code on one's own machine: it runs in this process, without a sandbox, on the public
inputs. In an editor, the same command runs under the editor's own debugger.

Exit status: 0 if the call was run, or nothing fails; 2 if it cannot be.
"""

import argparse
import bdb
import builtins
import pdb
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from tensormark import literals
from tensormark.exercise import NUMPY, Call, Exercise
from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.process import READER
from tensormark.intake.submission import Submission
from tensormark.references import Recording
from tensormark.reports.terminal import path_of
from tensormark.reports.text import escape_unencodable_output, visible
from tensormark.result import Outcome, Result, lines_of
from tensormark.settings import Settings, submission_parser
from tensormark.usage import UserError, command, near
from tensormark.worker import values

EDITORS = ("debugpy", "pydevd")  # modules that an editor's debugger has imported
LIBRARIES = ("tensormark*", "torch*", "numpy*")  # modules
HOW = "n runs a line, p NAME shows a value, c goes on to the end, q quits; h lists all commands"


def in_editor() -> bool:
    """Return whether an editor's debugger runs this process."""
    return any(name in sys.modules for name in EDITORS)


class Debugger(pdb.Pdb):
    """Python's debugger for a submission's code alone, with paths as people read them."""

    def __init__(self, path: str) -> None:
        """Prepare to debug a file; steps do not enter what calls it, nor what libraries do."""
        super().__init__(nosigint=True, skip=LIBRARIES)
        self.prompt = "(debug) "
        self.path = path

    def get_stack(
        self, f: FrameType | None, t: TracebackType | None
    ) -> tuple[list[tuple[FrameType, int]], int]:
        """Return the stack from the file's first function on, and the place of the present one."""
        stack, present = super().get_stack(f, t)
        files = [frame.f_code.co_filename for frame, _ in stack]
        first = min(files.index(self.path), present) if self.path in files else 0
        return stack[first:], present - first

    def format_stack_entry(self, frame_lineno: tuple[FrameType, int], prefix: str = ": ") -> str:
        """Return a line of the stack."""
        path = self.canonic(frame_lineno[0].f_code.co_filename)
        return super().format_stack_entry(frame_lineno, prefix).replace(path, near(path), 1)


class Stop:
    """A trace function that starts Python's debugger at a line, or where a function begins."""

    def __init__(self, path: Path, line: int | None, function: str) -> None:
        self.path = str(path)
        self.line = line
        self.function = function

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Look for the line in each function of the file."""
        if frame.f_code.co_filename != self.path:
            return None
        begins = self.line is None and frame.f_code.co_qualname == self.function
        if event != "line" or not (begins or self.line == frame.f_lineno):
            return self
        debugger = Debugger(self.path)
        debugger.set_trace(frame)
        return debugger.trace_dispatch(frame, event, argument)  # not only from the next line on


def file_of(submission: Submission, exercise: Exercise) -> Path:
    """Return the file on disk that an exercise was read from.

    Raises:
        UserError: there is none, as the submission is packed.
    """
    path = path_of(submission.name, exercise.file)
    if path is None:
        raise UserError(f"{submission.name}: a debugger needs a file {exercise.file}, unpacked")
    return path


def failing(grading: Grading, submission: Submission, only: str | None) -> Result | None:
    """Return the first result that fails, or None.

    Raises:
        SubmissionError: there is no such exercise.
    """
    results = grading.grade(submission, check=True, only=only).results
    return next((result for result in results if result.outcome is Outcome.FAILED), None)


def run_call(
    grading: Grading, submission: Submission, call: Call, recording: Recording, folder: Path
) -> dict[str, Any]:
    """Make a call of the submission, which is in a folder, in this process; return its outputs."""
    # here, as they import torch
    from tensormark.worker import calls, imports, state
    from tensormark.worker.objects import Originals
    from tensormark.worker.overlay import load_harness

    assignment = grading.assignment
    sources = grading.given.under(submission).sources
    files = {}
    for name in sources:
        home = folder.resolve() if name in submission.sources else assignment.starter
        files[name] = str(home / imports.file_of(name, sources))
    sys.meta_path.insert(0, imports.MemoryImporter(sources, files))
    harness = load_harness(str(assignment.harness))
    checkpoint = str(assignment.checkpoint or "")
    own = imports.Imports(assignment.imports, state.settings())
    context = calls.Context(own, checkpoint, harness, Originals({}, ()))
    message, tensors = literals.sent(call.message(), recording.inputs)
    given = {name: value.copy() for name, value in tensors.items()}
    answer = calls.run(context, message, given, lambda done, total: None)
    return {
        name.removeprefix("out/"): value
        for name, value in answer.tensors.items()
        if name.startswith("out/")
    }


def as_returned(array: np.ndarray, call: Call) -> Any:
    """Return a recorded output as a call of the function would."""
    if call.is_plain:
        return values.unpacked(array)
    if call.arrays == NUMPY:
        return array
    from tensormark.worker.optional_torch import torch  # here, as it takes time to import

    return torch.from_numpy(array.astype(call.dtype) if array.dtype.kind == "f" else array)


def described(values_by_name: Mapping[str, Any]) -> str:
    """Return the names of arrays with their shapes, and plain values."""
    parts = []
    for name, value in values_by_name.items():
        is_array = hasattr(value, "shape")
        parts.append(f"{name} {tuple(value.shape) if is_array else values.shown(value)}")
    return ", ".join(parts)


def say_outputs(call: Call, recording: Recording, outputs: Mapping[str, Any]) -> None:
    """Print what a call has returned, and how far that is off."""
    for name, value in outputs.items():
        right = recording.outputs.get(name)
        if call.is_plain:
            print(visible(f"{name} is {values.shown(values.unpacked(value))}"))
        elif right is not None and value.shape == right.shape:
            own = value if isinstance(value, np.ndarray) else value.detach().numpy()
            print(f"{name} {right.shape} is off by up to {abs(own - right).max():.3g}")
        else:
            print(f"{name} has shape {tuple(value.shape)}")


def debug(grading: Grading, submission: Submission, result: Result) -> None:
    """Run the call of a failed exercise that its first finding is about, in a debugger.

    Raises:
        UserError: no call was made.
    """
    exercise = grading.assignment.exercise(result.id)
    file = file_of(submission, exercise)
    finding = result.findings[0]
    place = finding.place
    if finding.call is None:
        raise UserError(f"no call of {result.id} can be made: {finding.headline}")
    assert grading.references is not None
    recordings = grading.references.recordings(exercise.id, exercise.digest)
    call = exercise.calls[finding.call]
    recording = recordings[finding.call]
    print(f"{result.id}: {visible(finding.headline)}")
    shown = file if place is None else file.with_name(place["file"])
    for text in lines_of(place, str(shown)):
        print(visible(text))
    inputs = {**literals.unpacked(recording.inputs), **recording.inputs}
    given = {name: inputs[name] for name in call.args if name in inputs}
    print(f"the call: {call.target}, with {described(given)}")
    right = {name: as_returned(value, call) for name, value in recording.outputs.items()}
    print(f"`expected` is what {call.target} should return: {described(right)}")
    only = next(iter(right.values())) if len(right) == 1 else right
    builtins.expected = only  # type: ignore[attr-defined]
    if not in_editor():
        print(HOW)
        line = None if place is None else place["line"]
        sys.settrace(Stop(shown.resolve(), line, call.target))
    try:
        outputs = run_call(grading, submission, call, recording, file.parent)
    except bdb.BdbQuit:
        return
    except Exception as error:  # the submission's
        print(visible(f"it raises {type(error).__name__}: {error}"))
        return
    finally:
        sys.settrace(None)
    say_outputs(call, recording, outputs)


def parse(folder: Path, name: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    command_line = submission_parser(folder, name, "Run a failing call in a debugger.")
    command_line.add_argument("--only", metavar="EXERCISE", help="run a call of this exercise")
    return command_line.parse_args(arguments)


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Debug the submission that the command line names."""
    escape_unencodable_output()
    options = parse(folder, name, arguments)
    assignment = open_assignment(folder)
    if not in_editor() and not sys.stdin.isatty():
        only = [] if options.only else ["--only", assignment.exercises[0].id]
        words = shlex.join(["debug", *only, *arguments])
        raise UserError(
            f"a debugger needs a terminal; in an editor, debug the module tensormark with `{words}`"
        )
    READER.start()
    grading = Grading(Settings.of(folder), assignment)
    submission = grading.read(options.submission)
    result = failing(grading, submission, options.only)
    if result is None:
        print(f"nothing fails that could be debugged; `{command('check', k=options.only)}`")
        return 0
    debug(grading, submission, result)
    return 0
