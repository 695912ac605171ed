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

    def _seen(
        self, answers: _Answers, index: int, rows: Sequence[np.ndarray], room: float = 1.0
    ) -> Observation:
        """Return answers of one call next to rows, in the form in which a student's are judged."""
        table = np.stack([self.rows[0][1][index] if self.rows else rows[0], *rows])
        limit = room * self.allowed[index]
        return Observation(answers.prints[index], table, limit, drew=answers.drew[index])

    def _recognized(self, answers: _Answers) -> bool:
        room = LEFT_OUT if self.before else 1.0
        fits = np.ones(len(self.rows), dtype=bool)
        for index in range(len(self.calls)):
            rows = [row[index] for _, row in self.rows]
            fits &= matching_variants(self._seen(answers, index, rows, room))[1:]
        return bool(fits.any())

    def _disagreement(
        self, answers: _Answers, recorded: Sequence[np.ndarray], ask: Ask
    ) -> str | None:
        """Return where answers disagree with a recorded row, and by how much; None if nowhere."""
        for index, row in enumerate(recorded):
            got = answers.prints[index]
            limit = self.allowed[index]
            if got.shape != row.shape:
                return f"{self._place(index)}: {len(row)} entries were recorded, not {len(got)}"
            if self._agrees(answers, index, row) or self._agrees_by_chance(
                answers, index, row, ask
            ):
                continue
            if got[0, 0] == row[0, 0] == RAISED:
                return f"{self._place(index)}: raises an exception with another message"
            worst = int(np.argmax(~close(got, row, limit) & (row[:, 0] != UNDECIDED)))
            return f"{self._place(index, worst)} {self._off(got[worst], row[worst], limit[worst])}"
        return None

    def _agrees(self, answers: _Answers, index: int, row: np.ndarray) -> bool:
        return bool(matching_variants(self._seen(answers, index, [row]))[1])

    def _agrees_by_chance(self, answers: _Answers, index: int, row: np.ndarray, ask: Ask) -> bool:
        """Return whether the answers of a call that draws agree with a row for some seed."""
        for seed in DRAWS if answers.drew[index] else ():
            (reply,) = ask([index], seed=seed)
            again = self._prints(index, reply, self.inputs[index])
            prints = [again if other == index else own for other, own in enumerate(answers.prints)]
            if self._agrees(_Answers(prints, answers.drew), index, row):
                return True
        return False

    def _place(self, index: int, row: int | None = None) -> str:
        probe, call = self.calls[index]
        given = f" given {', '.join(call.given)}" if call.given else ""
        names = ["the statistics"] if probe.draws(call) else self.names[index]
        parts = [*names, "what the call changes"]
        part = "" if row is None else f": {parts[min(row, len(names))]}"
        return f"{probe.name} (call {index}{given}){part}"

    @staticmethod
    def _off(got: np.ndarray, row: np.ndarray, limit: np.ndarray) -> str:
        if got[0] != (row[1] if row[0] == RANDOM else row[0]):
            return "has another shape, type or exception"
        if row[0] == RANDOM:
            return "was random, and now is right or draws nothing"
        finite = np.isfinite(got) & np.isfinite(row)
        size = np.abs(np.nan_to_num(row[1:], posinf=0.0, neginf=0.0)).max(initial=0.0)
        by = np.where(finite, np.abs(got - row), np.where(got == row, 0.0, np.inf)) / (1.0 + size)
        worst = int(np.argmax(by - limit))
        return f"moved by {by[worst]:.1e}, limit {limit[worst]:.0e}"

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
