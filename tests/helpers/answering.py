"""Grades answers that are made here: no worker runs, all else is as in the isolating tiers."""

import dataclasses
import functools
import itertools
from types import SimpleNamespace

from grader.assignment import ASSIGNMENT
from tensormark.grading import Grading
from tensormark.intake.submission import Submission
from tensormark.references import References
from tensormark.result import Grade
from tensormark.sandbox.answers import reply_in
from tensormark.sandbox.interface import Reply, WorkerLostError
from tensormark.sandbox.tiers import CONTAINED
from tensormark.session import Session, tensor_names_of
from tensormark.settings import Settings
from tensormark.worker.protocol import encode
from tests.helpers import ROOT

PROBED = [exercise for exercise in ASSIGNMENT.exercises if exercise.probes]
PUBLIC = References(ASSIGNMENT.references)


def unchanged(message, tensors):
    return message, tensors


def asked(call):
    """Identify a call, which may be made again in another type."""
    return repr(dataclasses.replace(call, dtype=""))


class Answering(Session):
    """Answers every call with what public references hold for it, changed."""

    def __init__(self, grading, exercises, change):
        about = grading.assignment, grading.settings, grading.references
        super().__init__(*about, Submission("bert.py", {"bert": ""}, {}), exercises)
        self.change = change

    def replies(self, exercise, calls):
        recordings = PUBLIC.recordings(exercise.id, exercise.digest)
        right = dict(zip(map(asked, exercise.calls), recordings, strict=True))
        replies = []
        for _, call, _ in calls:
            outputs = {f"out/{name}": value for name, value in right[asked(call)].outputs.items()}
            outputs |= {
                f"grad/{name}": value for name, value in right[asked(call)].gradients.items()
            }
            tensors = {
                n: v.astype(call.dtype) if v.dtype == "f8" else v for n, v in outputs.items()
            }
            answer = self.change({"number": 1, "status": "ok", "changed": []}, tensors)
            try:
                names = tensor_names_of(call, right[asked(call)])
                replies.append(reply_in(encode(*answer), 1, names))
            except WorkerLostError as error:
                replies.append(Reply("lost", f"{call.target} {error}"))
        return replies

    def taped(self, *_):
        return Reply("lost")


@functools.cache
def grading(references=ASSIGNMENT.references, show_text=False):
    settings = Settings.of(ROOT, references=references, tier=CONTAINED, show_text=show_text)
    return Grading(settings, ASSIGNMENT)


def grade(change=unchanged, exercises=PROBED, references=ASSIGNMENT.references, show_text=False):
    """Return the grade of a submission that gives changed answers."""
    used = grading(references, show_text)
    session = Answering(used, exercises, change)
    sandbox = SimpleNamespace(program=SimpleNamespace(edited={}), forget=lambda: None)
    results = list(session.run(sandbox).values())
    flags = list(itertools.chain.from_iterable(result.flags for result in results))
    return Grade("bert.py", CONTAINED, results, flags=flags, private=used.private, name="bert.py")
