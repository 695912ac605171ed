"""Runs copies of a submission's modules in a sandbox.

Every copy is loaded anew in the tier of the grading; in the tiers that isolate, in a new process.
"""

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tensormark.exercise import Call, Exercise, Tensors
from tensormark.grading import Grading
from tensormark.intake.needed import needed_by
from tensormark.intake.submission import Submission
from tensormark.policy import usual_names
from tensormark.result import Result
from tensormark.sandbox.interface import Program, Reply, Request, Sandbox, clock

MAX_LOST = 2  # copies that hang or crash, before questions stop
SECONDS = 10.0  # limit for a call, which takes milliseconds
TOTAL_SECONDS = 300.0  # limit for all calls of a submission, which take about ten seconds


class UnfitError(Exception):
    """No questions can be asked about a function; the message says why."""


@dataclasses.dataclass(frozen=True)
class Run:
    """A call with its inputs."""

    call: Call
    inputs: Tensors

    @property
    def reseeded(self) -> "Run":
        """The same call with another seed in the worker, which derives it from the whole call."""
        constants = (*self.call.constants, "*another seed")
        return Run(dataclasses.replace(self.call, constants=constants), self.inputs)


class Copies:
    """Runs copies of a submission's modules in a sandbox, and grades them there.

    Attributes:
        lost: how many copies have hung or crashed; seconds: the total time of all.
    """

    def __init__(
        self, grading: Grading, submission: Submission, sandbox: Sandbox, sources: Mapping[str, str]
    ) -> None:
        """Prepare.

        Args:
            sources: the modules that the functions need, own and given ones: name to text.
        """
        self.submission, self.sandbox = submission, sandbox
        self.lost, self.seconds = 0, 0.0
        self.loaded_text: str | None = None  # that the sandbox has now
        self.assignment, self.sources = grading.assignment, dict(sources)
        self.grading = Grading(grading.settings, grading.assignment, self.reopen)

    def reopen(self, tier: str, program: Program) -> "contextlib.nullcontext[Sandbox]":
        """Return the same sandbox, with a program's sources."""
        self.sandbox.reload(program.sources)
        self.loaded_text = None
        return contextlib.nullcontext(self.sandbox)

    def run(self, exercise: Exercise, module: str, text: str, runs: Iterable[Run]) -> list[Reply]:
        """Make calls with a given text of a module, as if there had been none before.

        Raises:
            UnfitError: too many copies were lost already, or all took too long.
        """
        if self.lost >= MAX_LOST:
            raise UnfitError("changed copies of its functions hang or crash")
        if self.seconds > TOTAL_SECONDS:
            raise UnfitError("its functions take too long")
        forbidden = {"forbidden": usual_names(exercise.forbidden)} if exercise.forbidden else {}
        exercise_ids = frozenset({exercise.id})
        requests = [
            Request(exercise.id, exercise_ids, run.call.message() | forbidden, run.inputs, SECONDS)
            for run in runs
        ]
        if text != self.loaded_text:
            self.sandbox.reload(self.sources | {module: text})
            self.loaded_text = text
        start = clock()
        replies = list(self.sandbox.run(requests))
        self.seconds += clock() - start
        self.lost += any(reply.status == "lost" for reply in replies)
        return replies

    def solution(self, module: str) -> str | None:
        """Return the solution's text of a module, or None; students do not have it."""
        path = self.assignment.solution / f"{module}.py"
        return path.read_text(encoding="utf-8") if path.is_file() else None

    def graded(self, module: str, text: str, exercise: str) -> Result:
        """Grade an exercise with a given text of a module."""
        sources = self.submission.sources | {module: text}
        changed = dataclasses.replace(self.submission, sources=sources)
        return self.grading.grade_read(changed, check=True, only=exercise).results[-1]


@contextlib.contextmanager
def opened(
    grading: Grading, submission: Submission, exercises: Sequence[Exercise]
) -> Iterator[Copies]:
    """Open a sandbox for copies of an inspected submission.

    Raises:
        ReferencesError: they are unusable. WorkerStartError: the tier is not available.
        SubmissionError: given files are missing.
    """
    overlay = grading.given.under(submission)
    with grading.open(submission, exercises, overlay) as sandbox:
        imports = sandbox.program.imports
        needed = set[str]().union(*(needed_by(name, overlay.sources) for name in imports))
        sources = {name: text for name, text in overlay.sources.items() if name in needed}
        yield Copies(grading, submission, sandbox, sources)
