"""The rows of fingerprints of an exercise, the solution's first.

A recorded row stays as long as its variant, run again, agrees with it by the rule and tolerances by
which students' answers are matched (judging/diagnose.py). So a row is never recorded again because
a processor rounds differently, and `--check` tests what grading needs: that the mistake is
recognized here.

In a new row, entries that depend on chance are marked. Another processor rounds sums and
exponentials differently, as if inputs differed in their last bit: an entry that changes with that
is UNDECIDED. An entry that changes with the seed is RANDOM, or UNDECIDED if it can come out right.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tensormark.authoring.tolerance import MARGIN
from tensormark.exercise import Exercise, Tensors
from tensormark.judging.diagnose import PAIR, close, matching_variants
from tensormark.judging.fingerprints import (
    RAISED,
    RANDOM,
    UNDECIDED,
    AnsweredCall,
    Observation,
    entry,
    observe,
)
from tensormark.references import Recording
from tensormark.sandbox.interface import Reply

SEED = 1  # entries are compared with this seed; answers are recorded with seed 0
# One of these must reproduce a recorded answer where the recording's seed draws other numbers, as
# for dropout where torch is built without MKL.
DRAWS = range(1, 13)
NUDGES = (1, 2)  # statistics need both, because each moves only some of them
STATISTIC = 1e-3  # statistics of draws do not depend on last bits; a value that does moves a share
LEFT_OUT = 2.0  # times the limit: how far a pair without a row may be from the recorded rows
Others = list[tuple[np.ndarray, np.ndarray]]  # fingerprints, and how far each may be off


class Row(NamedTuple):
    """The solution, with one or several mistakes or none, and its answers.

    Attributes:
        ask: makes the calls with these numbers, with a `nudge` of the inputs or another `seed`.
    """

    name: str
    replies: list[Reply]
    ask: Callable[..., list[Reply]]


class Table:
    """The rows of one exercise, to add to or to compare with.

    Attributes:
        recordings: of each call, the solution's answer and the rows so far.
        rows: their names; several forms of a mistake share a name.
        unmatched: the numbers of the recorded rows that were not compared yet.
    """

    def __init__(
        self, exercise: Exercise, recordings: Sequence[Recording], manifest_entry: Mapping[str, Any]
    ) -> None:
        """Start a table.

        Args:
            manifest_entry: has the tolerances, and the names of the rows that are recorded.
        """
        self.calls = exercise.asked
        self.recordings = list(recordings)
        self.entry = manifest_entry
        self.rows: list[str] = list(manifest_entry.get("rows", ()))
        self.unmatched = list(range(len(self.rows)))
        self.statistics = [
            index for index, (probe, call) in enumerate(self.calls) if probe.draws(call)
        ]

    def _answers(self, row: Row) -> list[Observation]:
        return [self._observed(index, reply) for index, reply in enumerate(row.replies)]

    def _observed(self, index: int, reply: Reply, nudge: int | None = None) -> Observation:
        """Return the answer to a call beside all rows, as a student's is observed."""
        probe, call = self.calls[index]
        recording = self.recordings[index]
        if nudge is not None:
            inputs = nudged(recording.inputs, call.dtype, nudge)
            recording = dataclasses.replace(recording, inputs=inputs)
        return observe(AnsweredCall(probe, call, recording, reply), self.entry)

    def add(self, row: Row) -> None:
        """Add a row, unless it is a pair that is recognized by another row."""
        answers = self._answers(row)
        if PAIR in row.name and self._recognized(answers, room=1.0):
            return
        others: list[Others] = [[] for _ in answers]
        for index, other, limit in self._varied(answers, row):
            others[index].append((other, limit))
        for index, answer in enumerate(answers):
            rows = np.stack([*answer.rows, _marked(answer, others[index])])
            self.recordings[index] = dataclasses.replace(self.recordings[index], wrong=rows)
        self.rows.append(row.name)

    def difference(self, row: Row) -> str | None:
        """Return how answers differ from all recorded rows of this name; None if they do not."""
        answers = self._answers(row)
        own = [number for number in self.unmatched if self.rows[number] == row.name]
        for number in own:
            if self._disagreement(answers, number, row) is None:
                self.unmatched.remove(number)
                return None
        if own:
            self.unmatched.remove(own[0])
            return f"{row.name}: {self._disagreement(answers, own[0], row)}"
        if PAIR in row.name and self._recognized(answers, LEFT_OUT):
            return None
        return f"{row.name}: a new row"

    def right_in_eval(self, name: str) -> bool:
        """Say whether a variant is right in every call in eval mode, if it has a row."""
        if name not in self.rows:
            return True
        row = self.rows.index(name)
        evals = [index for index, (_, call) in enumerate(self.calls) if not call.train]
        calls = [self._observed(index, Reply("lost")) for index in evals]  # only rows count
        return all(bool(close(each.rows[row], each.rows[0], each.allowed).all()) for each in calls)

    # --- agreement ---

    def _recognized(self, answers: Sequence[Observation], room: float) -> bool:
        """Say whether a row explains all answers, with this many times the tolerances."""
        wide = [dataclasses.replace(each, allowed=room * each.allowed) for each in answers]
        return bool(np.logical_and.reduce([matching_variants(each) for each in wide]).any())

    def _disagreement(self, answers: Sequence[Observation], number: int, row: Row) -> str | None:
        """Return the first call that disagrees with a recorded row, and by how much, or None."""
        for index, answer in enumerate(answers):
            if not self._agrees(index, answer, number, row):
                probe, _ = self.calls[index]
                return f"{probe.name} (call {index}): {self._off(index, answer, number)}"
        return None

    def _agrees(self, index: int, answer: Observation, number: int, row: Row) -> bool:
        """Say whether an answer agrees with a recorded row; if the call draws, for some seed."""
        if matching_variants(answer)[number]:
            return True
        for seed in DRAWS if answer.drew else ():
            (reply,) = row.ask([index], seed=seed)
            if matching_variants(self._observed(index, reply))[number]:
                return True
        return False

    def _off(self, index: int, answer: Observation, number: int) -> str:
        """Return the first entry of a call that disagrees with a row, and by how much."""
        rows = answer.rows[number]
        off = ~close(answer.got, rows, answer.allowed) & (rows[:, 0] != UNDECIDED)
        first = int(np.argmax(off))
        got = answer.got[first]
        row = rows[first]
        names = sorted(self.recordings[index].answers)
        if index in self.statistics:
            names = ["the statistics"]
        part = [*names, "what the call changes"][first]
        with np.errstate(invalid="ignore"):  # where both are infinite
            by = np.abs(got - row).max() / (1.0 + np.abs(row[1:]).max())
        if got[0] != row[0] or got[0] == RAISED or not np.isfinite(by):
            return f"{part} has another shape, type or exception, or is random in one of the two"
        return f"{part} moved by {by:.1e}, limit {answer.allowed[first].max():.0e}"

    # --- chance ---

    def _varied(
        self, answers: Sequence[Observation], row: Row
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield calls with fingerprints for another seed or nudge, and how far these may be off."""
        drew = [index for index, answer in enumerate(answers) if answer.drew]
        for index, reply in zip(drew, row.ask(drew, seed=SEED) if drew else (), strict=True):
            share = 1.0 if index in self.statistics else MARGIN
            yield index, self._observed(index, reply).got, answers[index].allowed / share
        for nudge in NUDGES:
            every = PAIR not in row.name and nudge == NUDGES[0]  # most rows are several mistakes
            numbers = list(range(len(self.calls))) if every else self.statistics
            for index, reply in zip(numbers, row.ask(numbers, nudge=nudge), strict=True):
                most = STATISTIC if index in self.statistics else np.inf
                limit = np.minimum(answers[index].allowed / MARGIN, most)
                yield index, self._observed(index, reply, nudge).got, limit


def _marked(answer: Observation, others: Others) -> np.ndarray:
    """Return an answer's fingerprints, those marked that change with the seed or a nudge.

    Args:
        others: for other seeds and nudges.
    """
    solution = answer.rows[0] if len(answer.rows) else answer.got
    right = close(answer.got, solution, answer.allowed)
    changed = np.zeros_like(right)
    for other, limit in others:
        changed |= ~close(answer.got, other, limit)
        right |= close(solution, other, answer.allowed)
    wrong = changed & ~right & answer.drew
    marked = answer.got.copy()
    marked[changed] = entry(UNDECIDED)
    marked[wrong] = entry(RANDOM)
    marked[wrong, 1] = answer.got[wrong, 0]
    return marked


def nudged(inputs: Tensors, dtype: str, seed: int) -> Tensors:
    """Return inputs that differ in their last bit, each number up or down.

    Numbers of few bits stay: in masks, patterns and rows of equal values, they make sums exact on
    every processor.
    """
    draw = np.random.default_rng(seed)
    unit = float(np.finfo(dtype).eps)
    tensors = dict(inputs)
    for name, value in inputs.items():
        if value.dtype.kind == "f":
            other = value * (1 + unit * draw.choice((-1.0, 1.0), size=value.shape))
            with np.errstate(over="ignore"):
                tensors[name] = np.where(value.astype(np.float16) == value, value, other)
    return tensors
