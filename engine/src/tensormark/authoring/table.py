"""The rows of fingerprints of an exercise, the solution's first.

A recorded row stays as long as its variant, run again, agrees with it by the rule and tolerances by
which students' answers are matched (judging/diagnose.py). So a row is never recorded again because
a processor rounds differently, and `--check` tests what grading needs: that the mistake is
recognized here. In a new row, what depends on chance is marked; see chance.py.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tensormark.authoring.chance import Marks, nudged
from tensormark.authoring.tolerance import MARGIN
from tensormark.exercise import Exercise
from tensormark.judging.diagnose import PAIR, close, matching_variants
from tensormark.judging.fingerprints import RAISED, UNDECIDED, AnsweredCall, Observation, observe
from tensormark.references import Recording
from tensormark.sandbox.interface import Reply

SEED = 1  # entries are compared with this seed; answers are recorded with seed 0
# One of these must reproduce a recorded answer where the recording's seed draws other numbers, as
# for dropout where torch is built without MKL.
DRAWS = range(1, 13)
NUDGES = (1, 2)  # statistics need both, because each moves only some of them
STATISTIC = 1e-3  # statistics of draws do not depend on last bits; a value that does moves a share
LEFT_OUT = 2.0  # times the limit: how far a pair without a row may be from the recorded rows


class Run(NamedTuple):
    """The solution, with one or several mistakes or none, and its answers.

    Attributes:
        ask: makes the calls with these numbers, with a `nudge` of the inputs or another `seed`.
    """

    name: str
    replies: list[Reply]
    ask: Callable[..., list[Reply]]

    @property
    def is_combined(self) -> bool:
        """Whether it has several mistakes."""
        return PAIR in self.name


class Table:
    """The rows of one exercise, to add to or to compare with.

    Attributes:
        recordings: of each call, the solution's answer and the rows so far.
        names: of the rows; several forms of a mistake share a name.
        unmatched: the numbers of the recorded rows that were not compared yet.
        statistics: the numbers of the calls of whose random outputs only statistics count.
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
        self.manifest_entry = manifest_entry
        self.names: list[str] = list(manifest_entry.get("rows", ()))
        self.unmatched = list(range(len(self.names)))
        self.statistics = [
            index for index, (probe, call) in enumerate(self.calls) if probe.draws(call)
        ]

    def add(self, run: Run) -> None:
        """Add a row, unless it is of several mistakes and recognized by another row."""
        answers = self._answers(run)
        if run.is_combined and self._recognized(answers, room=1.0):
            return
        calls = [Marks(answer) for answer in answers]
        drew = [index for index, answer in enumerate(answers) if answer.drew]
        # most rows are of several mistakes, and all calls of these would take too long
        steady = self.statistics if run.is_combined else range(len(calls))
        self._ask_again(run, calls, drew, seed=SEED)
        self._ask_again(run, calls, steady, nudge=NUDGES[0])
        self._ask_again(run, calls, self.statistics, nudge=NUDGES[1])
        for index, marks in enumerate(calls):
            rows = np.stack([*marks.answer.rows, marks.row()])
            self.recordings[index] = dataclasses.replace(self.recordings[index], wrong=rows)
        self.names.append(run.name)

    def difference(self, run: Run) -> str | None:
        """Return how answers differ from all recorded rows of this name; None if they do not."""
        answers = self._answers(run)
        own = [row for row in self.unmatched if self.names[row] == run.name]
        faults = []
        for row in own:
            fault = self._disagreement(answers, row, run)
            if fault is None:
                self.unmatched.remove(row)
                return None
            faults.append(f"{run.name}: {fault}")
        if faults:
            self.unmatched.remove(own[0])
            return faults[0]
        if run.is_combined and self._recognized(answers, LEFT_OUT):
            return None
        return f"{run.name}: a new row"

    def right_in_eval(self, run: Run) -> bool:
        """Return whether answers are right in every call in eval mode."""
        evals = [each for each in self._answers(run) if not each.training]
        return all(matching_variants(each)[0] for each in evals)

    def _answers(self, run: Run) -> list[Observation]:
        return [self._observed(index, reply) for index, reply in enumerate(run.replies)]

    def _observed(self, index: int, reply: Reply, nudge: int = 0) -> Observation:
        """Return the answer to a call beside all rows, as a student's is observed."""
        probe, call = self.calls[index]
        recording = self.recordings[index]
        inputs = nudged(recording.inputs, call.dtype, nudge)
        recording = dataclasses.replace(recording, inputs=inputs)
        return observe(AnsweredCall(probe, call, recording, reply), self.manifest_entry)

    # --- agreement with recorded rows -------------------------------------------------------------

    def _recognized(self, answers: Sequence[Observation], room: float) -> bool:
        """Return whether a row explains all answers, with this many times the tolerances."""
        wide = [dataclasses.replace(each, allowed=room * each.allowed) for each in answers]
        return bool(np.all([matching_variants(each) for each in wide], axis=0).any())

    def _disagreement(self, answers: Sequence[Observation], row: int, run: Run) -> str | None:
        """Return the first call that disagrees with a recorded row, and by how much, or None."""
        for index, answer in enumerate(answers):
            if not self._agrees(index, answer, row, run):
                probe, _ = self.calls[index]
                return f"{probe.name} (call {index}): {self._move(index, answer, row)}"
        return None

    def _agrees(self, index: int, answer: Observation, row: int, run: Run) -> bool:
        """Return whether an answer agrees with a recorded row; if the call draws, for some seed."""
        if matching_variants(answer)[row]:
            return True
        for seed in DRAWS if answer.drew else ():
            (reply,) = run.ask([index], seed=seed)
            if matching_variants(self._observed(index, reply))[row]:
                return True
        return False

    def _move(self, index: int, answer: Observation, row: int) -> str:
        """Return the first entry of a call that disagrees with a row, and by how much."""
        recorded = answer.rows[row]
        agrees = close(answer.got, recorded, answer.allowed) | (recorded[:, 0] == UNDECIDED)
        first = int(np.argmin(agrees))
        now = answer.got[first]
        before = recorded[first]
        names = sorted(self.recordings[index].answers)
        if index in self.statistics:
            names = ["the statistics"]
        part = [*names, "what the call changes"][first]
        with np.errstate(invalid="ignore"):  # where both are infinite
            move = np.abs(now - before).max() / (1.0 + np.abs(before[1:]).max())
        if now[0] != before[0] or now[0] == RAISED or not np.isfinite(move):
            return f"{part} has another shape, type or exception, or is random in one of the two"
        return f"{part} moved by {move:.1e}, limit {answer.allowed[first].max():.0e}"

    # --- chance in a new row ----------------------------------------------------------------------

    def _ask_again(
        self, run: Run, calls: Sequence[Marks], numbers: Sequence[int], **how: int
    ) -> None:
        """Mark what another `seed`, or a `nudge` of the inputs, changes in these calls."""
        nudge = how.get("nudge", 0)
        for index, reply in zip(numbers, run.ask(numbers, **how), strict=True):
            allowed = calls[index].answer.allowed
            limit = allowed / MARGIN
            if index in self.statistics:
                limit = np.minimum(limit, STATISTIC) if nudge else allowed
            calls[index].compare(self._observed(index, reply, nudge), limit)
