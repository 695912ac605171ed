"""What a sandbox is asked and answers: requests, replies, jobs, limits and errors.

A sandbox packs the calls of an exercise into a job, which one process runs: it imports the
submission, then answers the calls in order.
"""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tensormark.characters import is_visible, masked, with_piled_up
from tensormark.policy import Policy, usual_names
from tensormark.sandbox import packages
from tensormark.usage import UserError

START_DEADLINE = 180.0  # seconds; importing torch takes 2, or a minute on a cold, slow disk
LOAD_DEADLINE = 30.0  # for importing the submission
CALL_DEADLINE = 20.0  # for one call on small tensors, which takes milliseconds
BUDGET = 300.0  # for all exercises of a submission together, which take one or two
MAX_OUTPUT = 16 << 10  # bytes of a submission's printed output that are kept

clock = time.monotonic  # in seconds
Progress = Callable[[str, int, int], None]  # see `Observer.progress`
Tensors = dict[str, Any]  # numpy arrays, named here without importing numpy


@dataclasses.dataclass(frozen=True)
class Request:
    """A call to run.

    Attributes:
        exercise: the id of the exercise that it belongs to.
        runs: the ids of the exercises whose student code it runs.
        call: the JSON of the call; tensors: its inputs.
        deadline: in seconds.
        reply_bytes: the size limit of the answer, if larger than that in the limits.
        measured: seconds that a task takes with correct code, if that was measured.
        task: whether it is a task, whose time does not count towards the submission's budget.
        forbidden: what it may not use, besides what the policy says.
        given_code: whether given code may use what is `given_only` in it.
        tape: what to record of it, see worker/tape.py; None: nothing.
        tensor_names: those of the tensors that its answer may have, besides gradients of
            parameters that only the submission has, which are not read; None: any.
    """

    exercise: str
    runs: frozenset[str]
    call: dict[str, Any]
    tensors: Mapping[str, Any]
    deadline: float = CALL_DEADLINE
    reply_bytes: int = 0
    measured: float | None = None
    task: bool = False
    forbidden: Iterable[str] = ()
    given_code: bool = False
    tape: Mapping[str, Any] | None = None
    tensor_names: frozenset[str] | None = None

    @property
    def target(self) -> str:
        """The name of the call in messages."""
        return str(self.call.get("target", "training"))


@dataclasses.dataclass(frozen=True)
class Reply:
    """The result of a call: `ok`, `not written`, `error` (the student's) or `lost`.

    Attributes:
        text: for the student, if it is not ok. For "not written", NotImplementedError's message.
        hung: whether the call was lost because it had to be ended at a deadline.
    """

    status: str
    text: str = ""
    message: dict[str, Any] = dataclasses.field(default_factory=dict)
    tensors: Tensors = dataclasses.field(default_factory=dict)
    hung: bool = False

    @property
    def fault(self) -> str:
        """What a student's code raised, or why there is no answer, in one line; not for `ok`."""
        if self.status != "not written":
            return self.text or "failed without a message"
        text = f": {self.text}" if self.text else ""
        return f"raised NotImplementedError{text}{self.message.get('where', '')}"


@dataclasses.dataclass(frozen=True)
class Limits:
    """A submission's resource limits; the tier `process` enforces only seconds and reply_bytes.

    Attributes:
        load_seconds: for importing the submission.
        call_seconds: the longest deadline of a request.
        exercise_seconds: for all calls of one exercise together, except training.
        memory_bytes: address space, on top of what is taken once torch is imported.
        reply_bytes: size of a call's answer; the largest of any exercise is 0.2 MB. All answers of
            a submission may be in memory at the same time.
        files, threads: open files, and threads, at the same time.
    """

    load_seconds: float = LOAD_DEADLINE
    call_seconds: float = 3600.0
    exercise_seconds: float = 40.0
    memory_bytes: int = 4 << 30
    reply_bytes: int = 1 << 20
    files: int = 64
    threads: int = 64


@dataclasses.dataclass(frozen=True)
class Program:
    """What a sandbox runs.

    Attributes:
        main_file: the student's main file, for messages.
        editable: the files that students edit, which are to blame for failures in other files.
        sources: module name to text, of the given files and the submission.
        imports: the modules that calls use, in the order in which they are imported.
        harness: the assignment's file that runs next to them.
        requirements: the file that lists the packages that it may import.
        checkpoint: the folder of the frozen checkpoint, if there is one; threads: of torch.
        limits: what the submission may use; budget: seconds for its calls, see `Budget`.
        policy: what none of its calls may use.
        rules: what any exercise may not use of libraries: full names to where they are listed.
        given: module name to text, of the files that students edit, as they were given.
    """

    main_file: str
    editable: Sequence[str]
    sources: Mapping[str, str]
    imports: Sequence[str]
    harness: Path
    requirements: Path
    checkpoint: Path | None = None
    threads: int = 1
    limits: Limits = dataclasses.field(default_factory=Limits)
    policy: Policy = dataclasses.field(default_factory=Policy)
    rules: Mapping[str, str] = dataclasses.field(default_factory=dict)
    budget: float = BUDGET
    given: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def edited(self) -> dict[str, str]:
        """The texts of the files that students edit, by file name."""
        modules = {file: file.removesuffix(".py").replace("/", ".") for file in self.editable}
        return {file: self.sources[name] for file, name in modules.items() if name in self.sources}

    def load_message(self) -> dict[str, Any]:
        """Return the request that makes a worker import the program."""
        return {
            "sources": dict(self.sources),
            "given": dict(self.given),
            "import": list(self.imports),
            "packages": list(packages.modules(self.requirements)),
            "checkpoint": str(self.checkpoint.resolve()) if self.checkpoint else "",
            "rules": dict(self.rules),
            "editable": list(self.editable),
        }


class WorkerLostError(Exception):
    """The worker crashed, hung or sent garbage; the message is for the student."""


class WorkerHungError(WorkerLostError):
    """The worker did not answer in time."""


class WorkerStartError(UserError):
    """The worker cannot start, which is the installation's fault, not the student's."""


class CapturedOutput:
    """Keeps the beginning of a submission's printed output, and discards the rest."""

    def __init__(self) -> None:
        self.content = b""

    def take(self, chunk: bytes) -> None:
        """Keep as much of a chunk as fits."""
        self.content += chunk[: max(0, MAX_OUTPUT - len(self.content))]

    @property
    def full(self) -> bool:
        """Whether nothing more will be kept."""
        return len(self.content) >= MAX_OUTPUT

    def text(self) -> str:
        """Return the captured output, without control characters that could affect a terminal."""
        text = self.content.decode("utf-8", "replace")
        return _without_piled_marks("".join(c for c in text if c in "\n\t" or is_visible(c)))


def _without_piled_marks(text: str) -> str:
    """Return a text without combining marks that are piled up higher than in any language."""
    return "".join(letter for letter, piled_up in with_piled_up(text) if not piled_up)


def printable(text: str) -> str:
    """Make untrusted text safe for a message: one line, no control characters."""
    if text.isascii() and text.isprintable():  # the usual case, and fast
        return text
    return _without_piled_marks(masked(text))


HANGS = 2  # calls that had to be ended; a single one may be due to an unresponsive machine


class Budget:
    """The time that one submission may keep a sandbox busy, and why further calls are not made.

    Covered: the time from when a child or worker could begin until its answer arrived, by this
    process's clock, imports included. A task (training) has its own deadline and is not counted.
    After HANGS calls that had to be ended at a deadline, nothing more of the submission is run. An
    exercise that has lost a call is not run again, so a hang costs only one deadline.
    Not covered: importing torch, which happens before there is anything to run.

    Attributes:
        unloadable: the reply to every call, once the submission could not be imported.
        lost: exercise to the reply to its first call that was lost.
        hung: the reason for each call that had to be ended.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = self.remaining = seconds
        self.unloadable: Reply | None = None
        self.lost: dict[str, Reply] = {}
        self.hung: list[str] = []

    def cap(self, request: Request, seconds: float) -> float:
        """Return these seconds, or the rest of the budget if that is less."""
        return seconds if request.task else min(seconds, max(self.remaining, 0.0))

    @contextlib.contextmanager
    def spend(self, request: Request) -> Iterator[None]:
        """Count the time of a `with` block."""
        started = clock()
        try:
            yield
        finally:
            self.remaining -= 0.0 if request.task else clock() - started

    def add(self, request: Request, reply: Reply) -> None:
        """Record the reply to a call."""
        if reply.hung:
            self.hung.append(reply.text)
        if reply.status == "lost":
            self.lost.setdefault(request.exercise, reply)

    def known_reply(self, request: Request) -> Reply | None:
        """Return the reply to a request that need not run, or None."""
        if self.unloadable is not None:
            return self.unloadable
        if lost := self.lost.keys() & request.runs:
            return self.lost[min(lost)]
        if len(self.hung) >= HANGS:
            return Reply("lost", f"not run: {', and '.join(self.hung[:HANGS])}")
        if self.remaining <= 0 and not request.task:
            return Reply("lost", f"not run: the submission used up its {self.seconds:g} seconds")
        return None


class ServerLostError(Exception):
    """A process that is not the submission's is lost, which cannot be blamed on a submission."""


@dataclasses.dataclass(frozen=True)
class WorkerJob:
    """What one process is asked in a row: to import a program, and to run calls.

    Attributes:
        program: what is imported, under which limits.
        steps: the import, which has no call, and the calls.
        seconds: for all of it.
    """

    program: Program
    steps: Sequence[Request]
    seconds: float

    @property
    def reply_bytes(self) -> int:
        """The size limit of each answer."""
        return max(self.program.limits.reply_bytes, *(step.reply_bytes for step in self.steps))

    def message(self, place: int) -> dict[str, Any]:
        """Return what the worker is asked, and what is forbidden while it runs."""
        step = self.steps[place]
        asked = self.program.load_message() if place == 0 else {"call": step.call}
        policy = self.program.policy
        given_only = () if step.given_code else policy.given_only
        return {
            "number": place,
            "policy": usual_names([*policy.forbidden, *given_only]),
            "forbidden": usual_names(step.forbidden),
            "tape": step.tape,
            **asked,
        }

    def replies(self, read: Callable[[int], Reply]) -> list[Reply]:
        """Read the replies up to the first lost one; none follow a failed import.

        Args:
            read: reads the reply at a place, or raises a WorkerLostError.
        """
        replies: list[Reply] = []
        for place, step in enumerate(self.steps):
            try:
                replies.append(read(place))
            except WorkerLostError as error:
                hung = isinstance(error, WorkerHungError)
                text = f"{step.target} {error}"
                module = step.call.get("module", "")
                known = {"", *self.program.imports}  # what is imported before this call
                known.update(each.call.get("module", "") for each in self.steps[:place])
                if hung and module not in known:
                    text = f"{step.target}, or importing {module}.py, {error}"
                return [*replies, Reply("lost", text, hung=hung)]
            if place == 0 and replies[0].status != "ok":
                break
        return replies


@dataclasses.dataclass(frozen=True)
class Answers:
    """What came of a job.

    Attributes:
        replies: to the import and each call, up to the first that was lost; see `WorkerJob`.
        printed: what the import and each call printed.
    """

    replies: list[Reply]
    printed: list[bytes]
