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
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tensormark.authoring.earlier import PreviousRecord
from tensormark.authoring.tolerance import MARGIN, Measured
from tensormark.exercise import Call, Exercise, Tensors
from tensormark.judging.compare import Tolerance
from tensormark.judging.diagnose import PAIR, close, matching_variants
from tensormark.judging.fingerprints import (
    RAISED,
    RANDOM,
    UNDECIDED,
    Observation,
    allowed,
    entry,
    fingerprints,
    tolerance_kind,
)
from tensormark.sandbox.interface import Reply

SEED = 1  # entries are compared with this seed; answers are recorded with seed 0
# One of these must reproduce a recorded answer where the recording's seed draws other numbers, as
# for dropout where torch is built without MKL.
DRAWS = range(1, 13)
NUDGES = (1, 2)  # statistics need both, because each moves only some of them
STATISTIC = 1e-3  # statistics of draws do not depend on last bits; a value that does moves a share
OTHER_FORM = "has another shape, type or exception"
LEFT_OUT = 2.0  # times the limit: how far a pair without a row may be from the recorded rows


# Makes the calls with these numbers, with a `nudge` of the inputs or another `seed`.
Ask = Callable[..., list[Reply]]


@dataclasses.dataclass(frozen=True)
class _Answers:
    """The fingerprints (entries, WIDTH) of each call of one source, and whether it drew."""

    prints: list[np.ndarray]
    drew: list[bool]


class Table:
    """The rows of one exercise, added one by one."""

    def __init__(
        self,
        exercise: Exercise,
        names: Sequence[Sequence[str]],
        inputs: Sequence[Tensors],
        measured: Measured,
        before: PreviousRecord | None,
    ) -> None:
        """Start an empty table.

        Args:
            names: of the tensors that the solution returns in each call.
            inputs: of each call.
            before: the exercise as it was recorded.
        """
        self.names = names
        self.inputs = inputs
        self.before = before
        self.calls = exercise.asked
        self.statistics = [
            index for index, (probe, call) in enumerate(self.calls) if probe.draws(call)
        ]
        self.rows: list[tuple[str, list[np.ndarray]]] = []
        self.changes: list[str] = []
        self.unused = before.rows() if before else {}

        def tolerance(name: str, call: Call) -> Tolerance:
            limit = measured.tolerance[tolerance_kind(name, call)]
            return Tolerance(limit, limit)

        self.allowed = [
            allowed(probe, call, names[index], tolerance)
            for index, (probe, call) in enumerate(self.calls)
        ]

    def _prints(self, index: int, reply: Reply, inputs: Tensors) -> np.ndarray:
        return fingerprints(*self.calls[index], self.names[index], inputs, reply)

    def _answers(self, replies: Sequence[Reply]) -> _Answers:
        numbered = enumerate(zip(replies, self.inputs, strict=True))
        prints = [self._prints(index, *both) for index, both in numbered]
        return _Answers(prints, [bool(reply.message.get("drew")) for reply in replies])

    def add(self, name: str, replies: Sequence[Reply], ask: Ask) -> None:
        """Add a row, unless it is a pair that is recognized by another row."""
        answers = self._answers(replies)
        recorded = self.unused.get(name, [])
        for index, row in enumerate(recorded):
            if self._disagreement(answers, row, ask) is None:
                self.rows.append((name, recorded.pop(index)))
                return
        if recorded:
            self.changes.append(f"{name}: {self._disagreement(answers, recorded[0], ask)}")
        elif PAIR in name and self._recognized(answers):
            return
        elif self.before:
            self.changes.append(f"{name}: a new row")
        self.rows.append((name, self._decided(answers, ask, thorough=PAIR not in name)))

    def shows_in_training_only(self, name: str) -> bool:
        """Say whether a recorded variant is right in every call in eval mode."""
        row = next(row for recorded, row in self.rows if recorded == name)
        return all(
            bool(close(row[index], self.rows[0][1][index], self.allowed[index]).all())
            for index, (_, call) in enumerate(self.calls)
            if not call.train
        )

    def finish(self) -> None:
        """Note the recorded rows that no longer exist."""
        recorded = self.before.row_names if self.before else ()
        gone = Counter(recorded) - Counter(name for name, _ in self.rows)
        self.changes += [f"{name}: a row is gone" for name in gone.elements()]

    def columns(self) -> Iterator[np.ndarray]:
        """Yield, for each call, the fingerprints of all rows: (rows, entries, WIDTH)."""
        for index in range(len(self.calls)):
            yield np.stack([row[index] for _, row in self.rows])

    # --- agreement ---

    def _explained(
        self, index: int, got: np.ndarray, drew: bool, rows: Sequence[np.ndarray], room: float = 1.0
    ) -> np.ndarray:
        """Say which rows explain an answer to one call, by the rule for students' answers."""
        solution = self.rows[0][1][index] if self.rows else rows[0]
        limit = room * self.allowed[index]
        observed = Observation(got, np.stack([solution, *rows]), limit, drew=drew)
        return matching_variants(observed)[1:]

    def _recognized(self, answers: _Answers) -> bool:
        room = LEFT_OUT if self.before else 1.0
        fits = np.ones(len(self.rows), dtype=bool)
        for index, got in enumerate(answers.prints):
            rows = [row[index] for _, row in self.rows]
            fits &= self._explained(index, got, answers.drew[index], rows, room)
        return bool(fits.any())

    def _disagreement(
        self, answers: _Answers, recorded: Sequence[np.ndarray], ask: Ask
    ) -> str | None:
        """Return where answers disagree with a recorded row, and by how much; None if nowhere."""
        for index, row in enumerate(recorded):
            got = answers.prints[index]
            same_form = got.shape == row.shape
            if same_form and self._agrees(index, got, answers.drew[index], row, ask):
                continue
            probe, call = self.calls[index]
            given = f" given {', '.join(call.given)}" if call.given else ""
            how = self._off(index, got, row) if same_form else OTHER_FORM
            return f"{probe.name} (call {index}{given}): {how}"
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
        """Return which entry of a call disagrees most with a row, and by how much."""
        limit = self.allowed[index]
        worst = int(np.argmax(~close(got, row, limit) & (row[:, 0] != UNDECIDED)))
        names = ["the statistics"] if index in self.statistics else self.names[index]
        part = [*names, "what the call changes"][min(worst, len(names))]
        is_random = row[worst, 0] == RANDOM
        code = got[worst, 0]
        if code != row[worst, int(is_random)] or code == RAISED:
            return f"{part} {OTHER_FORM}"
        if is_random:
            return f"{part} was random, and now is right or draws nothing"
        size = np.abs(np.nan_to_num(row[worst, 1:], posinf=0.0, neginf=0.0)).max()
        with np.errstate(invalid="ignore"):  # where both are infinite
            by = np.nan_to_num(np.abs(got[worst] - row[worst]) / (1.0 + size), nan=np.inf)
        by[got[worst] == row[worst]] = 0.0
        most = int(np.argmax(by - limit[worst]))
        return f"{part} moved by {by[most]:.1e}, limit {limit[worst, most]:.0e}"

    # --- chance ---

    def _decided(self, answers: _Answers, ask: Ask, thorough: bool) -> list[np.ndarray]:
        """Return a row in which the entries that depend on chance are marked.

        Args:
            thorough: nudge every call; for single mistakes. Most rows are several of these.
        """
        row = [own.copy() for own in answers.prints]
        solution = self.rows[0][1] if self.rows else row
        changed = [np.zeros(len(own), dtype=bool) for own in row]
        pairs = zip(row, solution, self.allowed, strict=True)
        right = [close(own, other, limit) for own, other, limit in pairs]
        for index, other, limit in self._varied(answers, ask, thorough):
            changed[index] |= ~close(row[index], other, limit)
            right[index] |= close(solution[index], other, self.allowed[index])
        for index, drew in enumerate(answers.drew):
            wrong = changed[index] & ~right[index] & drew
            row[index][changed[index]] = entry(UNDECIDED)
            row[index][wrong] = entry(RANDOM)
            row[index][wrong, 1] = answers.prints[index][wrong, 0]
        return row

    def _varied(
        self, answers: _Answers, ask: Ask, thorough: bool
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield calls with fingerprints for another seed or nudge, and how far these may be off."""
        drew = [index for index, drew_here in enumerate(answers.drew) if drew_here]
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
