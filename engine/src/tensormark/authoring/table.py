"""The rows of fingerprints of an exercise, the solution's first.

A recorded row stays as long as its variant, run again, agrees with it by the rule and tolerances by
which students' answers are matched (judging/diagnose.py). So a row is never recorded again because
a processor rounds differently, and `--check` tests what grading needs: that the mistake is
recognized here.

In a new row, entries that depend on chance are marked. Another processor rounds sums and
exponentials differently, as if inputs differed in their last bit: an entry that changes with that
is UNDECIDED. An entry that changes with the seed is RANDOM, or UNDECIDED if it can come out right.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tensormark.authoring.recorded import WRONG, Row
from tensormark.authoring.tolerance import MARGIN
from tensormark.exercise import Exercise, Tensors
from tensormark.judging.diagnose import PAIR, close, matching_variants
from tensormark.judging.fingerprints import (
    RAISED,
    RANDOM,
    UNDECIDED,
    Observation,
    allowed,
    entry,
    fingerprints,
)
from tensormark.sandbox.interface import Reply

SEED = 1  # entries are compared with this seed; answers are recorded with seed 0
# One of these must reproduce a recorded answer where the recording's seed draws other numbers, as
# for dropout where torch is built without MKL.
DRAWS = range(1, 13)
NUDGES = (1, 2)  # statistics need both, because each moves only some of them
STATISTIC = 1e-3  # statistics of draws do not depend on last bits; a value that does moves a share
LEFT_OUT = 2.0  # times the limit: how far a pair without a row may be from the recorded rows


# Makes the calls with these numbers, with a `nudge` of the inputs or another `seed`.
Ask = Callable[..., list[Reply]]
Answers = list[tuple[np.ndarray, bool]]  # the fingerprints of each call, and whether it drew


class Table:
    """The rows of one exercise, to add to or to compare with.

    Attributes:
        unmatched: of the recorded rows, those that were not compared yet.
    """

    def __init__(
        self,
        exercise: Exercise,
        names: Sequence[Sequence[str]],
        inputs: Sequence[Tensors],
        manifest_entry: Mapping[str, Any],
        rows: Sequence[tuple[str, Row]] = (),
    ) -> None:
        """Start a table.

        Args:
            names: of the tensors that the solution returns in each call.
            inputs: of each call.
            manifest_entry: has the tolerances.
            rows: those that are recorded, with their names.
        """
        self.names = names
        self.inputs = inputs
        self.calls = exercise.asked
        self.rows = [*rows]
        self.unmatched = [*rows]
        self.statistics = [
            index for index, (probe, call) in enumerate(self.calls) if probe.draws(call)
        ]
        self.allowed = [
            allowed(probe, call, own, manifest_entry)
            for (probe, call), own in zip(self.calls, names, strict=True)
        ]

    def _prints(self, index: int, reply: Reply, inputs: Tensors) -> np.ndarray:
        return fingerprints(*self.calls[index], self.names[index], inputs, reply)

    def _answers(self, replies: Sequence[Reply]) -> Answers:
        return [
            (self._prints(index, reply, self.inputs[index]), bool(reply.message.get("drew")))
            for index, reply in enumerate(replies)
        ]

    def add(self, name: str, replies: Sequence[Reply], ask: Ask) -> None:
        """Add a row, unless it is a pair that is recognized by another row."""
        answers = self._answers(replies)
        is_pair = PAIR in name
        if not is_pair or not self._recognized(answers, room=1.0):
            self.rows.append((name, self._decided(answers, ask, thorough=not is_pair)))

    def difference(self, name: str, replies: Sequence[Reply], ask: Ask) -> str | None:
        """Return how answers differ from all recorded rows of this name; None if they do not."""
        answers = self._answers(replies)
        own = [index for index, (recorded, _) in enumerate(self.unmatched) if recorded == name]
        lines = []
        for index in own:
            line = self._disagreement(answers, self.unmatched[index][1], ask)
            if line is None:
                del self.unmatched[index]
                return None
            lines.append(line)
        if own:
            del self.unmatched[own[0]]
            return f"{name}: {lines[0]}"
        if PAIR in name and self._recognized(answers, LEFT_OUT):
            return None
        return f"{name}: a new row"

    def right_in_eval(self, name: str) -> bool:
        """Say whether a variant is right in every call in eval mode, if it has a row."""
        rows = [row for recorded, row in self.rows if recorded == name]
        return all(
            bool(close(row[index], self.rows[0][1][index], self.allowed[index]).all())
            for row in rows[:1]
            for index, (_, call) in enumerate(self.calls)
            if not call.train
        )

    def tensors(self) -> Tensors:
        """Return, for each call, the fingerprints of all rows: (rows, entries, WIDTH)."""
        return {
            f"{index}{WRONG}": np.stack([row[index] for _, row in self.rows])
            for index in range(len(self.calls))
        }

    # --- agreement ---

    def _explained(
        self, index: int, got: np.ndarray, drew: bool, rows: Sequence[np.ndarray], room: float = 1.0
    ) -> np.ndarray:
        """Say which rows explain an answer to one call, by the rule for students' answers."""
        compared = np.stack([self.rows[0][1][index], *rows])
        observed = Observation(got, compared, room * self.allowed[index], drew=drew)
        return matching_variants(observed)[1:]

    def _recognized(self, answers: Answers, room: float) -> bool:
        fits = np.ones(len(self.rows), dtype=bool)
        for index, (got, drew) in enumerate(answers):
            rows = [row[index] for _, row in self.rows]
            fits &= self._explained(index, got, drew, rows, room)
        return bool(fits.any())

    def _disagreement(self, answers: Answers, recorded: Row, ask: Ask) -> str | None:
        """Return the first call that disagrees with a row, and by how much; None if none does."""
        for index, (row, (got, drew)) in enumerate(zip(recorded, answers, strict=True)):
            if not self._agrees(index, got, drew, row, ask):
                return f"{self.calls[index][0].name} (call {index}): {self._off(index, got, row)}"
        return None

    def _agrees(self, index: int, got: np.ndarray, drew: bool, row: np.ndarray, ask: Ask) -> bool:
        """Say whether an answer agrees with a row; that of a call that draws, for some seed."""
        if self._explained(index, got, drew, [row])[0]:
            return True
        for seed in DRAWS if drew else ():
            (reply,) = ask([index], seed=seed)
            again = self._prints(index, reply, self.inputs[index])
            if self._explained(index, again, drew, [row])[0]:
                return True
        return False

    def _off(self, index: int, got: np.ndarray, row: np.ndarray) -> str:
        """Return the first entry of a call that disagrees with a row, and by how much."""
        limit = self.allowed[index]
        first = int(np.argmax(~close(got, row, limit) & (row[:, 0] != UNDECIDED)))
        names = ["the statistics"] if index in self.statistics else self.names[index]
        part = [*names, "what the call changes"][min(first, len(names))]
        with np.errstate(invalid="ignore"):  # where both are infinite
            by = np.abs(got[first] - row[first]).max() / (1.0 + np.abs(row[first, 1:]).max())
        if got[first, 0] != row[first, 0] or got[first, 0] == RAISED or not np.isfinite(by):
            return f"{part} has another shape, type or exception, or is random in one of the two"
        return f"{part} moved by {by:.1e}, limit {limit[first].max():.0e}"

    # --- chance ---

    def _decided(self, answers: Answers, ask: Ask, thorough: bool) -> Row:
        """Return a row in which the entries that depend on chance are marked.

        Args:
            thorough: nudge every call; for single mistakes. Most rows are several of these.
        """
        row = [own.copy() for own, _ in answers]
        solution = self.rows[0][1] if self.rows else row
        changed = [np.zeros(len(own), dtype=bool) for own in row]
        pairs = zip(row, solution, self.allowed, strict=True)
        right = [close(own, other, limit) for own, other, limit in pairs]
        for index, other, limit in self._varied(answers, ask, thorough):
            changed[index] |= ~close(row[index], other, limit)
            right[index] |= close(solution[index], other, self.allowed[index])
        for index, (own, drew) in enumerate(answers):
            wrong = changed[index] & ~right[index] & drew
            row[index][changed[index]] = entry(UNDECIDED)
            row[index][wrong] = entry(RANDOM)
            row[index][wrong, 1] = own[wrong, 0]
        return row

    def _varied(
        self, answers: Answers, ask: Ask, thorough: bool
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield calls with fingerprints for another seed or nudge, and how far these may be off."""
        drew = [index for index, (_, drew_here) in enumerate(answers) if drew_here]
        for index, reply in zip(drew, ask(drew, seed=SEED) if drew else (), strict=True):
            share = 1.0 if index in self.statistics else MARGIN
            other = self._prints(index, reply, self.inputs[index])
            yield index, other, self.allowed[index] / share
        for nudge in NUDGES:
            every = thorough and nudge == NUDGES[0]
            numbers = list(range(len(self.calls))) if every else self.statistics
            for index, reply in zip(numbers, ask(numbers, nudge=nudge), strict=True):
                inputs = nudged(self.inputs[index], self.calls[index][1].dtype, nudge)
                most = STATISTIC if index in self.statistics else np.inf
                limit = np.minimum(self.allowed[index] / MARGIN, most)
                yield index, self._prints(index, reply, inputs), limit


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
