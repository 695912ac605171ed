"""Run the calls of the exercises on the solution, on honest variants and on wrong ones.

Variants run in the types that students work in, and only their fingerprints are kept: a row for
each variant, the solution's first. Pairs of mistakes in the same exercise get a row too, if both
edits apply and one of the two is common, or students were seen to make both.
"""

import dataclasses
import functools
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from grader.exercise import Call, Exercise, Probe
from grader.judging.compare import Tolerance
from grader.judging.diagnose import PAIR, close
from grader.judging.fingerprints import RANDOM, allowed, entry, fingerprints, tolerance_kind
from grader.literals import sent
from grader.references import Tensors
from grader.sandbox.interface import Reply, Request
from grader.sandbox.process import ProcessSandbox
from instructor.references.course import SEED, Course
from instructor.references.tolerance import Measured, measure
from instructor.references.variants import Variant, VariantError, apply

SOLUTION_ROW = "the solution"


class RecordError(Exception):
    """The references cannot be recorded; the message says why."""


@dataclasses.dataclass
class Recorded:
    """One exercise: the contents of its file, and its entry in the manifest."""

    exercise: Exercise
    tensors: Tensors
    measured: Measured
    rows: list[str]
    variants: dict[str, dict[str, Any]]

    def entry(self) -> dict[str, Any]:
        """Return the manifest's entry."""
        return {
            "calls": self.exercise.digest,
            "count": len(self.exercise.calls),
            **self.measured.as_json(),
            "variants": self.variants,
            "rows": self.rows,
        }


class Recorder:
    """Records exercises in one worker."""

    def __init__(self, course: Course, sandbox: ProcessSandbox, seed: int) -> None:
        self.course, self.sandbox, self.seed = course, sandbox, seed
        self.sources = course.sources()
        self.inputs = functools.cache(self.draw)

    def draw(self, exercise_id: str, number: int) -> Tensors:
        """Draw the inputs of an exercise's call."""
        exercise = self.course.assignment.exercise(exercise_id)
        return exercise.inputs(exercise.calls[number], self.seed, private=self.seed != SEED)

    def ask(
        self,
        exercise: Exercise,
        source: str,
        only: Collection[int] | None = None,
        **overrides: Any,
    ) -> list[Reply]:
        """Carry out an exercise's calls with one source of its file.

        Args:
            only: the numbers of these calls; None: all of them.
        """
        self.sandbox.reload(self.sources | {exercise.module: source})
        requests = []
        for number, call in enumerate(exercise.calls):
            if only is None or number in only:
                message, tensors = sent(call.message(), self.inputs(exercise.id, number))
                requests.append(Request(exercise.id, frozenset(), message | overrides, tensors))
        return list(self.sandbox.run(requests))

    def record(self, exercise: Exercise) -> Recorded:
        """Record one exercise.

        Raises:
            RecordError: the solution or an honest variant fails a call.
            ToleranceError: honest and wrong code cannot be distinguished.
        """
        source = self.sources[exercise.module]
        right = self.ask(exercise, source, dtype="float64")
        require_answers(exercise, right, SOLUTION_ROW)
        names = [sorted(n for n in reply.tensors if not is_input(n)) for reply in right]
        tensors: Tensors = {}
        for number, reply in enumerate(right):
            inputs = self.inputs(exercise.id, number)
            tensors |= {f"{number}/in/{name}": value for name, value in inputs.items()}
            tensors |= {f"{number}/{name}": reply.tensors[name] for name in names[number]}
        own = [variant for variant in self.course.variants if variant.exercise == exercise.id]
        wrong = {v.id: self.ask(exercise, apply(v, source)) for v in own}
        alike = [one for one in self.course.honest if one.module == exercise.module]
        honests = {one.id: self.ask(exercise, one.apply(source)) for one in alike}
        for name, replies in honests.items():
            require_answers(exercise, replies, name)
        measured = measure(exercise, right, self.ask(exercise, source), honests, wrong)
        table = Table(self, exercise, names, measured)
        table.add(SOLUTION_ROW, source, self.ask(exercise, source))
        for variant in own:
            table.add(variant.name, apply(variant, source), wrong[variant.id])
        for name, text in pairs(own, source, self.course):
            table.add(name, text, self.ask(exercise, text))
        tensors |= {f"{number}/wrong": rows for number, rows in enumerate(table.columns())}
        known = {
            v.id: {"says": v.says, "section": v.section, "seen": self.course.seen.get(v.id, 0)}
            for v in own
            if v.form_of is None
        }
        return Recorded(exercise, tensors, measured, [name for name, _ in table.rows], known)


def require_answers(exercise: Exercise, replies: Sequence[Reply], name: str) -> None:
    """Check that correct code answers every call without stand-ins.

    Raises:
        RecordError: it does not.
    """
    for call, reply in zip(exercise.calls, replies, strict=True):
        if reply.status != "ok" and not call.stand_ins:
            raise RecordError(f"{exercise.id}: {call.target} of {name}: {reply.text}")


def is_input(name: str) -> bool:
    """Say whether a tensor of a reply is an input as the call left it."""
    return name.startswith("after/")


def pairs(own: Sequence[Variant], source: str, course: Course) -> Iterator[tuple[str, str]]:
    """Yield two mistakes made together: a name and the source with both.

    One of the two is common, or both were seen.
    """
    for number, first in enumerate(own):
        for second in own[number + 1 :]:
            both = {first.name, second.name}
            seldom = both.isdisjoint(course.common) and not both <= course.seen.keys()
            if seldom or first.form_of or second.form_of:
                continue
            try:
                text = apply(second, apply(first, source))
            except VariantError:  # one has removed what the other changes
                continue
            yield f"{first.name}{PAIR}{second.name}", text


class Table:
    """The rows of fingerprints of one exercise: a list of calls for each variant."""

    def __init__(
        self,
        recorder: Recorder,
        exercise: Exercise,
        names: Sequence[Sequence[str]],
        measured: Measured,
    ) -> None:
        self.recorder, self.exercise, self.names = recorder, exercise, names
        probes = [(probe, call) for probe in exercise.probes for call in probe.calls]
        self.calls: list[tuple[Probe, Call]] = probes
        self.rows: list[tuple[str, list[np.ndarray]]] = []

        def tolerance(name: str, call: Call) -> Tolerance:
            return measured.tolerance_of(tolerance_kind(name, call))

        self.allowed = [
            allowed(probe, call, names[number], tolerance)
            for number, (probe, call) in enumerate(probes)
        ]

    def fingerprints(self, number: int, reply: Reply) -> np.ndarray:
        """Return the fingerprints of one call."""
        inputs = self.recorder.inputs(self.exercise.id, number)
        return fingerprints(*self.calls[number], self.names[number], inputs, reply)

    def add(self, name: str, source: str, replies: Sequence[Reply]) -> None:
        """Add a row, unless it is a pair that equals an existing row.

        Entries that another seed changes are marked as random.
        """
        row = [self.fingerprints(number, reply) for number, reply in enumerate(replies)]
        drew = [number for number, reply in enumerate(replies) if reply.message.get("drew")]
        again = self.recorder.ask(self.exercise, source, drew, seed=1) if drew else []
        for number, reply in zip(drew, again, strict=True):
            one, other = row[number], self.fingerprints(number, reply)
            one[~close(one, other, self.allowed[number])] = entry(RANDOM)
        if PAIR not in name or not any(self.same(row, known) for _, known in self.rows):
            self.rows.append((name, row))

    def same(self, row: Sequence[np.ndarray], known: Sequence[np.ndarray]) -> bool:
        """Say whether two rows cannot be distinguished."""
        triples = zip(row, known, self.allowed, strict=True)
        return all(close(one, other, allow).all() for one, other, allow in triples)

    def columns(self) -> Iterator[np.ndarray]:
        """Yield, for each call, the fingerprints of all rows: (rows, entries, WIDTH)."""
        for number in range(len(self.calls)):
            yield np.stack([row[number] for _, row in self.rows])
