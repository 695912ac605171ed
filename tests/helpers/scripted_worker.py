"""Grading without processes: a sandbox whose answers are made here, byte for byte.

All else is as in the isolating tiers: the same code reads, judges and reports the bytes.
"""

import contextlib
import dataclasses
import io
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grader.assignment import ASSIGNMENT
from grader.sentiment import Gate
from tensormark.exercise import Exercise
from tensormark.grading import Grading, Session, program_of
from tensormark.intake.submission import Submission
from tensormark.reports.terminal import Report
from tensormark.result import Grade
from tensormark.sandbox.answers import reply_in
from tensormark.sandbox.interface import CONTAINED, Answers, Job, Program, Progress, Reply, Request
from tensormark.sandbox.isolated import IsolatedSandbox
from tensormark.settings import Settings
from tensormark.worker.protocol import HEADER, MAGIC
from testkit import formats
from tests.helpers import ROOT

NAMES = {"<f2": "F16", "<f4": "F32", "<f8": "F64", "<i4": "I32", "<i8": "I64", "|b1": "BOOL"}
Tensors = Mapping[str, np.ndarray]


@dataclasses.dataclass
class Answer:
    """The parts of a frame, each of which may be replaced.

    Attributes:
        message: its JSON; listed: the JSON that lists its tensors, None if it has none.
        data: the tensors' bytes.
    """

    message: str
    listed: str | None = None
    data: bytes = b""

    @classmethod
    def of(cls, number: int, tensors: Tensors, **message: Any) -> "Answer":
        listed: dict[str, Any] = {}
        data = b""
        for name, value in tensors.items():
            place = [len(data), len(data) + value.nbytes]
            kind = NAMES[value.dtype.str]
            listed[name] = {"dtype": kind, "shape": value.shape, "data_offsets": place}
            data += value.tobytes()
        text = {"number": number, "status": "ok", "changed": []} | message
        return cls(json.dumps(text), json.dumps(listed), data)

    def frame(self) -> bytes:
        text = self.message.encode("utf-8", "surrogatepass")
        packed = b""
        if self.listed is not None:
            header = self.listed.encode("utf-8", "surrogatepass")
            packed = struct.pack("<Q", len(header)) + header + self.data
        return HEADER.pack(MAGIC, len(text), len(packed)) + text + packed


Change = Callable[[Request, Answer], Answer | bytes]  # how a submission changes a right answer


def unchanged(request: Request, answer: Answer) -> Answer:
    return answer


def reported(grade: Grade) -> str:
    """Return a grade as the terminal shows it, after checking all its other reports."""
    if all(result.score is not None for result in grade.results):
        formats.check_all(grade.as_json())
    out = io.StringIO()
    report = Report()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        report.begin("minBERT", "bert.py", CONTAINED, [result.id for result in grade.results])
        for result in grade.results:
            report.result(result)
        report.end(grade, "")
    return out.getvalue()


class Scripted(IsolatedSandbox):
    """Answers correctly, except where `change` says otherwise."""

    def __init__(self, program: Program, right: "Right", change: Change) -> None:
        super().__init__(program, server=object())  # type: ignore[arg-type]
        self.right = right
        self.change = change

    def __exit__(self, *raised: object) -> None:
        self.worker = None

    def attempt(self, job: Job, progress: Progress) -> Answers:
        """Answer the import and the calls, and print nothing."""

        def answer(place: int) -> Reply:
            if place == 0:
                return Reply("ok")
            call = job.steps[place]
            changed = self.change(call, self.right.answer(place, call))
            frame = changed if isinstance(changed, bytes) else changed.frame()
            return reply_in(frame, place, call.tensor_names)

        return Answers(job.replies(answer), [b""] * len(job.steps))

    def apart(self, program: Program, request: Request) -> Reply:
        """Predict with a submission's weights, if they fit the model."""
        (reply,) = Scripted(program, self.right, unchanged).run([request])
        return reply


class Right:
    """Right answers to every request, and the grading of changed ones."""

    def __init__(self, references: Path = ASSIGNMENT.references, **settings: Any) -> None:
        self.settings = Settings.of(ROOT, references=references, tier=CONTAINED, **settings)
        self.grading = Grading(self.settings, ASSIGNMENT)
        assert self.grading.references is not None
        self.references = self.grading.references
        self.gate = Gate(self.references, self.settings.data)
        self.tensors: dict[int, dict[str, np.ndarray]] = {}
        for exercise in (e for e in ASSIGNMENT.exercises if e.probes):
            recordings = self.references.recordings(exercise.id, exercise.digest)
            for call, recording in zip(exercise.calls, recordings, strict=True):
                out = {f"out/{name}": value for name, value in recording.outputs.items()}
                out |= {f"grad/{name}": value for name, value in recording.gradients.items()}
                self.tensors[id(recording.inputs)] = {
                    n: v.astype(call.dtype) if v.dtype.kind == "f" else v for n, v in out.items()
                }
        self.weights = {
            "out/weights/bert.a": np.ones((2, 3), np.float32),
            "out/weights/bert.b": np.ones(3, np.float32),
        }
        names = ("bert", "optimizer", "pretraining", "transformer")
        self.submission = Submission("bert.py", dict.fromkeys(names, "line\n" * 99), {})
        self.program = program_of(ASSIGNMENT, ASSIGNMENT.exercises, self.submission.sources,
                                  self.settings)  # fmt: skip

    def answer(self, number: int, request: Request) -> Answer:
        """Return the right answer to a request."""
        if request.call["kind"] == "predict":
            shapes = {n.replace("out/", ""): v.shape for n, v in self.weights.items()}
            fits = {n: v.shape for n, v in request.tensors.items()} == shapes
            labels = {"out/predictions": self.gate.dev.labels}
            return Answer.of(number, labels if fits else {})
        if request.call["kind"] == "fine-tune":
            losses = {"out/losses": np.linspace(0.7, 0.1, 300, dtype=np.float32)}
            if request.call["predict"] is None:
                return Answer.of(number, {**self.weights, **losses})
            return Answer.of(number, {"out/predictions": self.gate.dev.labels, **losses})
        return Answer.of(number, self.tensors[id(request.tensors)], drew=False, imported=[])

    def grade(
        self, change: Change = unchanged, exercises: Sequence[Exercise] = ASSIGNMENT.exercises
    ) -> Grade:
        """Return the grade of a submission with changed answers."""
        with Scripted(self.program, self, change) as sandbox:
            session = Session(self.grading, self.submission, exercises)
            results = list(session.run(sandbox).values())
        flags = [flag for result in results for flag in result.flags]
        private = self.references.private
        return Grade("bert.py", CONTAINED, results, flags=flags, private=private, name="bert.py")
