"""What a sandbox is asked and answers, whatever its tier: requests, replies, limits, errors."""

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol

START_DEADLINE = 180.0  # seconds; importing torch takes 2, or a minute on a cold, slow disk
LOAD_DEADLINE = 30.0  # for importing the submission
CALL_DEADLINE = 20.0  # for one call on small tensors, which takes milliseconds
KEPT_OUTPUT = 16 << 10  # bytes of what the submission prints that are kept

CONTAINED, LOCKED, PROCESS = TIERS = ("contained", "locked", "process")

Progress = Callable[[int, int], None]
Tensors = dict[str, Any]  # numpy arrays, named here without importing numpy


@dataclasses.dataclass(frozen=True)
class Request:
    """A call to be carried out.

    Attributes:
        exercise: whose call it is.
        runs: the exercises whose code of the student's it runs.
        call: the JSON of the call; tensors: its inputs.
        deadline: seconds.
    """

    exercise: str
    runs: frozenset[str]
    call: dict[str, Any]
    tensors: Mapping[str, Any]
    deadline: float = CALL_DEADLINE

    @property
    def target(self) -> str:
        """What the student knows the call by."""
        return str(self.call.get("target", "training"))


@dataclasses.dataclass(frozen=True)
class Reply:
    """What came of a call: `ok`, `not written`, `error` (the student's) or `lost`.

    Attributes:
        text: for the student, where it is not ok. For "not written", the id of the hole.
    """

    status: str
    text: str = ""
    message: dict[str, Any] = dataclasses.field(default_factory=dict)
    tensors: Tensors = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a submission may use. The tier `process` knows the first two only.

    Attributes:
        load_seconds: for importing the submission.
        call_seconds: caps the deadline that a request asks for.
        exercise_seconds: for the calls of one exercise that are not training, together.
        memory_bytes: of address space; torch itself takes about 1 GiB of it.
        reply_bytes: that one call may return; the largest of the case table has 0.1 MB.
        files, threads: open at a time.
    """

    load_seconds: float = LOAD_DEADLINE
    call_seconds: float = 3600.0
    exercise_seconds: float = 60.0
    memory_bytes: int = 4 << 30
    reply_bytes: int = 4 << 20
    files: int = 64
    threads: int = 64


@dataclasses.dataclass(frozen=True)
class Program:
    """What a sandbox runs.

    Attributes:
        main_file: the file that students know, for messages.
        sources: module name to text, the given files and the submission.
        imports: the modules that calls use, in the order in which they are imported.
        harness: the assignment's file that runs beside them.
        checkpoint: the folder of the frozen checkpoint.
        threads: for torch.
        limits: what the submission may use.
    """

    main_file: str
    sources: Mapping[str, str]
    imports: Sequence[str]
    harness: Path
    checkpoint: Path
    threads: int = 1
    limits: Limits = dataclasses.field(default_factory=Limits)

    def load_message(self) -> dict[str, Any]:
        """Return the request that has a worker import the program."""
        return {
            "sources": dict(self.sources),
            "import": list(self.imports),
            "checkpoint": str(self.checkpoint.resolve()),
            "harness": str(self.harness),
        }


class WorkerLostError(Exception):
    """The worker died, hung or babbled; the message is for the student."""


class WorkerStartError(Exception):
    """The worker cannot even start: the installation's fault, not the student's."""


class Printed:
    """Keeps the beginning of what a submission write_fd, and forgets the rest."""

    def __init__(self) -> None:
        self.kept = b""

    def take(self, chunk: bytes) -> None:
        """Keep a chunk, as long as there is room."""
        self.kept += chunk[: max(0, KEPT_OUTPUT - len(self.kept))]

    def drain(self, stream: BinaryIO) -> None:
        """Read the stream to its end."""
        while chunk := stream.read1(1 << 16):  # type: ignore[attr-defined]
            self.take(chunk)

    def text(self) -> str:
        """Return what was kept, without control characters that could play with a terminal."""
        text = self.kept.decode("utf-8", "replace")
        return "".join(c for c in text if c in "\n\t" or c.isprintable())


class Sandbox(Protocol):
    """Where a submission's code runs; the tiers differ in how much they contain.

    A sandbox that was opened is closed by leaving its `with` block.
    """

    printed: Printed

    def __enter__(self) -> "Sandbox": ...

    def __exit__(self, *_: object) -> None: ...

    def reload(self, sources: Mapping[str, str]) -> None:
        """Go on with other sources: for one's own code, never a student's."""

    def run(self, requests: Iterable[Request], progress: Progress = ...) -> Iterator[Reply]:
        """Carry out calls in order; exercises that have lost one are not run again."""


def clock() -> float:
    """Return seconds that never run backwards."""
    return time.monotonic()


def printable(text: str) -> str:
    """Return a stranger's words as they may stand in a message: on one line, without controls."""
    return "".join(c if c.isprintable() else "?" for c in text)


def as_reply(answer: Mapping[str, Any], tensors: Tensors) -> Reply:
    """Read a worker's answer.

    Raises:
        WorkerLostError: it is not one.
    """
    status, text = answer.get("status"), answer.get("text", "")
    if status not in ("ok", "not written", "error") or not isinstance(text, str):
        raise WorkerLostError("wrote into the grader's channel")
    return Reply(str(status), printable(text[:1000]), dict(answer), tensors)


def as_progress(value: Any) -> tuple[int, int]:
    """Read a worker's claim of how far it is."""
    if isinstance(value, list) and len(value) == 2 and all(type(v) is int for v in value):
        return min(max(value[0], 0), 10**9), min(max(value[1], 1), 10**9)
    raise WorkerLostError("wrote into the grader's channel")


class FailedCalls:
    """Remembers which exercises have lost a call, so that a hang costs one deadline only."""

    def __init__(self) -> None:
        self.first: dict[str, Reply] = {}

    def add(self, request: Request, reply: Reply) -> None:
        """Take note of a reply."""
        if reply.status == "lost":
            self.first.setdefault(request.exercise, reply)

    def known(self, request: Request) -> Reply | None:
        """Return why a request is not worth running, if it is not."""
        lost = [self.first[name] for name in sorted(request.runs) if name in self.first]
        return lost[0] if lost else None
