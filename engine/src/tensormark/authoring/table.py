"""The rows of fingerprints of an exercise, the solution's first.

A row that was recorded stays as long as its variant, run again, agrees with it by the rule with
which a student's answers are matched (judging/diagnose.py) and its tolerances. So a row is never
recorded anew because a processor rounds differently, and `--check` tests what grading needs: that
the mistake is recognized here.

In a new row, what chance decides is marked. Another processor rounds sums and exponentials
differently, as if inputs differed in their last bit: an entry that changes with that is UNDECIDED.
An entry that changes with the seed is RANDOM, and UNDECIDED if it can come out right.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tensormark.authoring.earlier import Earlier
from tensormark.authoring.tolerance import MARGIN, Measured
from tensormark.exercise import Call, Exercise, Probe, Tensors
from tensormark.judging.compare import Tolerance
from tensormark.judging.diagnose import PAIR, agreeing, close
from tensormark.judging.fingerprints import (
    RAISED,
    RANDOM,
    UNDECIDED,
    Seen,
    allowed,
    entry,
    fingerprints,
    tolerance_kind,
)
from tensormark.sandbox.interface import Reply

SEED = 1  # that an entry is compared with; answers are recorded with seed 0
# With one of these, a recorded answer must come out where the same seed draws other numbers, as
# dropout's does where torch is built without MKL.
DRAWS = range(1, 13)
NUDGES = (1, 2)  # both for statistics, of which each moves a part
STATISTIC = 1e-3  # statistics of draws do not depend on last bits; a value that does moves a share
LEFT_OUT = 2.0  # times what is allowed: how far a pair that had no row may be from the known ones


# Carries out the calls with these numbers, with a `nudge` of the inputs or another `seed`.
Ask = Callable[..., list[Reply]]


@dataclasses.dataclass(frozen=True)
class Answers:
    """The fingerprints (entries, WIDTH) of each call of one source, and whether it drew."""

    prints: list[np.ndarray]
    drew: list[bool]


class Table:
    """The rows of one exercise, as they are added."""

    def __init__(
        self,
        exercise: Exercise,
        names: Sequence[Sequence[str]],
        inputs: Sequence[Tensors],
        measured: Measured,
        before: Earlier | None,
    ) -> None:
        """Start an empty table.

        Args:
            names: of the tensors that the solution gives in each call.
            inputs: of each call.
            before: the exercise as it was recorded.
        """
        self.names, self.inputs, self.before = names, inputs, before
        self.calls: list[tuple[Probe, Call]] = [
            (probe, call) for probe in exercise.probes for call in probe.calls
        ]
        self.statistics = [n for n, (probe, call) in enumerate(self.calls) if probe.draws(call)]
        self.rows: list[tuple[str, list[np.ndarray]]] = []
        self.changes: list[str] = []
        self.unused = before.rows() if before else {}

        def tolerance(name: str, call: Call) -> Tolerance:
            return measured.tolerance_of(tolerance_kind(name, call))

        self.allowed = [
            allowed(probe, call, names[number], tolerance)
            for number, (probe, call) in enumerate(self.calls)
        ]

    def prints(self, number: int, reply: Reply, inputs: Tensors) -> np.ndarray:
        """Return the fingerprints of one call."""
        return fingerprints(*self.calls[number], self.names[number], inputs, reply)

    def answers(self, replies: Sequence[Reply]) -> Answers:
        """Return the fingerprints of all calls."""
        numbered = enumerate(zip(replies, self.inputs, strict=True))
        prints = [self.prints(number, *both) for number, both in numbered]
        return Answers(prints, [bool(reply.message.get("drew")) for reply in replies])

    def add(self, name: str, replies: Sequence[Reply], ask: Ask) -> None:
        """Add a row, unless it is a pair that is recognized by another row."""
        answers = self.answers(replies)
        recorded = self.unused.get(name, [])
        for place, known in enumerate(recorded):
            if self.disagreement(answers, known, ask) is None:
                self.rows.append((name, recorded.pop(place)))
                return
        if recorded:
            self.changes.append(f"{name}: {self.disagreement(answers, recorded[0], ask)}")
        elif PAIR in name and self.recognized(answers):
            return
        elif self.before:
            self.changes.append(f"{name}: a new row")
        self.rows.append((name, self.decided(answers, ask, thorough=PAIR not in name)))

    def finish(self) -> None:
        """Note the recorded rows that are no more."""
        gone = Counter(self.before.names if self.before else ()) - Counter(n for n, _ in self.rows)
        self.changes += [f"{name}: a row is gone" for name in gone.elements()]

    def columns(self) -> Iterator[np.ndarray]:
        """Yield, for each call, the fingerprints of all rows: (rows, entries, WIDTH)."""
        for number in range(len(self.calls)):
            yield np.stack([row[number] for _, row in self.rows])

    # --- what agrees with what ---

    def seen(
        self, answers: Answers, number: int, rows: Sequence[np.ndarray], room: float = 1.0
    ) -> Seen:
        """Return answers next to rows of one call as when a student's are judged."""
        table = np.stack([self.rows[0][1][number] if self.rows else rows[0], *rows])
        allow = room * self.allowed[number]
        return Seen(answers.prints[number], table, allow, drew=answers.drew[number])

    def recognized(self, answers: Answers) -> bool:
        """Say whether a row explains these answers."""
        room = LEFT_OUT if self.before else 1.0
        fits = np.ones(len(self.rows), dtype=bool)
        for number in range(len(self.calls)):
            rows = [row[number] for _, row in self.rows]
            fits &= agreeing(self.seen(answers, number, rows, room))[1:]
        return bool(fits.any())

    def disagreement(self, answers: Answers, known: Sequence[np.ndarray], ask: Ask) -> str | None:
        """Say where answers do not agree with a recorded row, and by how much; None if they do."""
        for number, row in enumerate(known):
            got, allow = answers.prints[number], self.allowed[number]
            if got.shape != row.shape:
                return f"{self.place(number)}: {len(row)} entries were recorded, not {len(got)}"
            if self.agrees(answers, number, row) or self.agrees_by_chance(
                answers, number, row, ask
            ):
                continue
            if got[0, 0] == row[0, 0] == RAISED:
                return f"{self.place(number)}: raises an exception with another text"
            worst = int(np.argmax(~close(got, row, allow) & (row[:, 0] != UNDECIDED)))
            return f"{self.place(number, worst)} {self.off(got[worst], row[worst], allow[worst])}"
        return None

    def agrees(self, answers: Answers, number: int, row: np.ndarray) -> bool:
        """Say whether the answers of one call agree with a recorded row."""
        return bool(agreeing(self.seen(answers, number, [row]))[1])

    def agrees_by_chance(self, answers: Answers, number: int, row: np.ndarray, ask: Ask) -> bool:
        """Say whether the answers of a call that draws agree with a row for some seed."""
        for seed in DRAWS if answers.drew[number] else ():
            (reply,) = ask([number], seed=seed)
            again = self.prints(number, reply, self.inputs[number])
            prints = [again if n == number else one for n, one in enumerate(answers.prints)]
            if self.agrees(Answers(prints, answers.drew), number, row):
                return True
        return False

    def place(self, number: int, entry_number: int | None = None) -> str:
        """Name a call, and a fingerprint's tensor."""
        probe, call = self.calls[number]
        given = f" given {', '.join(call.given)}" if call.given else ""
        names = ["the statistics"] if probe.draws(call) else self.names[number]
        last = [*names, "what the call changes"]
        what = "" if entry_number is None else f": {last[min(entry_number, len(names))]}"
        return f"{probe.name} (call {number}{given}){what}"

    @staticmethod
    def off(got: np.ndarray, row: np.ndarray, allow: np.ndarray) -> str:
        """Say how a fingerprint differs from the recorded one."""
        if row[0] == RANDOM:
            return "was random, and is right or draws nothing now"
        if got[0] != row[0]:
            return "has another shape, type or exception"
        finite = np.isfinite(got) & np.isfinite(row)
        size = np.abs(np.nan_to_num(row[1:], posinf=0.0, neginf=0.0)).max(initial=0.0)
        by = np.where(finite, np.abs(got - row), np.where(got == row, 0.0, np.inf)) / (1.0 + size)
        most = int(np.argmax(by - allow))
        return f"moved by {by[most]:.1e}, allowed is {allow[most]:.0e}"

    # --- what chance decides ---

    def decided(self, answers: Answers, ask: Ask, thorough: bool) -> list[np.ndarray]:
        """Return a row in which what chance decides is marked.

        Args:
            thorough: for a mistake alone. Pairs are most of the rows, and made of these.
        """
        row = [one.copy() for one in answers.prints]
        solution = self.rows[0][1] if self.rows else row
        changed = [np.zeros(len(one), dtype=bool) for one in row]
        pairs = zip(row, solution, self.allowed, strict=True)
        right = [close(one, other, allow) for one, other, allow in pairs]
        for number, other, allow in self.otherwise(answers, ask, thorough):
            changed[number] |= ~close(row[number], other, allow)
            right[number] |= close(solution[number], other, self.allowed[number])
        for number, drew in enumerate(answers.drew):
            wrong = changed[number] & ~right[number] & drew
            row[number][changed[number]] = entry(UNDECIDED)
            row[number][wrong] = entry(RANDOM)
        return row

    def otherwise(
        self, answers: Answers, ask: Ask, thorough: bool
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield calls with their fingerprints by another chance, and how far these may be off."""
        drew = [number for number, one in enumerate(answers.drew) if one]
        for number, reply in zip(drew, ask(drew, seed=SEED) if drew else (), strict=True):
            share = 1.0 if number in self.statistics else MARGIN
            other = self.prints(number, reply, self.inputs[number])
            yield number, other, self.allowed[number] / share
        for nudge in NUDGES:
            every = thorough and nudge == NUDGES[0]
            numbers = list(range(len(self.calls))) if every else self.statistics
            for number, reply in zip(numbers, ask(numbers, nudge=nudge), strict=True):
                inputs = nudged(self.inputs[number], self.calls[number][1].dtype, nudge)
                most = STATISTIC if number in self.statistics else np.inf
                allow = np.minimum(self.allowed[number] / MARGIN, most)
                yield number, self.prints(number, reply, inputs), allow


def nudged(inputs: Tensors, dtype: str, number: int) -> Tensors:
    """Return inputs that differ in their last bit, each number up or down.

    Numbers of few bits stay: masks, patterns and rows of equal values have them so that sums of
    them are exact, which they are on every processor.
    """
    draw, unit = np.random.default_rng(number), float(np.finfo(dtype).eps)
    made = dict(inputs)
    for name, value in inputs.items():
        if value.dtype.kind == "f":
            other = value * (1 + unit * draw.choice((-1.0, 1.0), size=value.shape))
            with np.errstate(over="ignore"):
                made[name] = np.where(value.astype(np.float16) == value, value, other)
    return made
