"""A tape that a worker has sent: what a call computed, value by value; see worker/tape.py.

It is untrusted: its form is checked here, and whoever uses a line checks that there is such a line.
"""

import collections
import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from tensormark.references import Tensors
from tensormark.worker.protocol import (
    COMMON,
    DECIDES,
    EXCUSED,
    IS_SCALAR,
    MAX_AXES,
    MAX_RECORDS,
    PLACE,
    PRINT,
    SAYS_NOTHING,
    TAPE,
    TELLS,
    WHERE,
    WHOLE,
)

NEAR = 3e-5  # how far the numbers of two prints of one value may be apart
CHUNK = 128  # prints that are compared with all known ones at once
MAX_PAIRS = 16 * MAX_RECORDS  # of records and what they were made from
MAX_LOG = 80.0  # of a size; the exponential of a forged one could overflow
# columns of a record
FILE = 0
LINE = 1
DOES = PLACE  # what the record does
AXES = WHERE - 1  # how many axes the value has; their lengths are in the columns from WHERE on


def close(prints: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which prints agree with a known one, in three ways: (prints,) each.

    Returns: in the COMMON numbers; in these and the number that depends on the order; in these and
        in whether a gradient is cut off.
    """
    common = np.zeros(len(prints), dtype=bool)
    ordered = np.zeros_like(common)
    also_cut = np.zeros_like(common)
    for start in range(0, len(prints), CHUNK):
        # few pairs agree in one number, so only these are compared in all
        likely = np.abs(prints[start : start + CHUNK, None, 1] - known[:, 1]) <= NEAR
        own, others = np.nonzero(likely)
        own += start
        near = np.abs(prints[own] - known[others]) <= NEAR
        agree = near[:, :COMMON].all(-1)
        common[own[agree]] = True
        ordered[own[agree & near[:, COMMON]]] = True
        also_cut[own[agree & near[:, -1]]] = True
    return common, ordered, also_cut


@dataclasses.dataclass(frozen=True)
class Tape:
    """The tape of one call.

    Attributes:
        records: (records, WHERE + MAX_AXES); prints: (records, PRINT).
        parents: (pairs, 2), of a record and an earlier one that it was made from; the latest
            records come last.
    """

    records: np.ndarray
    prints: np.ndarray
    parents: np.ndarray

    @classmethod
    def of(cls, tensors: Tensors) -> "Tape | None":
        """Return the tape of an answer, or None if it has none of the right form."""
        if not tensors.keys() >= set(TAPE):
            return None
        records, prints, parents = (tensors[name] for name in TAPE)
        forms = ((records, "i", WHERE + MAX_AXES), (prints, "f", PRINT), (parents, "i", 2))
        for array, kind, width in forms:
            if array.dtype.kind != kind or array.ndim != 2 or array.shape[1] != width:
                return None
        if not 0 < len(records) == len(prints) <= MAX_RECORDS or len(parents) > MAX_PAIRS:
            return None
        children, made_from = parents.T
        possible = (made_from >= 0) & (made_from < children) & (children < len(records))
        parents = parents[possible]
        latest_last = np.argsort(parents[:, 0], kind="stable")
        return cls(records, np.nan_to_num(prints), parents[latest_last])

    @property
    def does(self) -> np.ndarray:
        """What each record does: (records,)."""
        return np.asarray(self.records[:, DOES])

    @property
    def is_whole(self) -> np.ndarray:
        """Which records stand for all rounds of a loop, or for an input: (records,)."""
        return np.asarray(self.does == WHOLE)

    @property
    def is_plain(self) -> np.ndarray:
        """Which records are of plain values: (records,)."""
        # the print of a plain value begins with two sums of its text
        return np.asarray((self.prints[:, 2:COMMON] == 0).all(-1))

    def wrong(self, known: np.ndarray, raised: bool = False) -> list[int]:
        """Return the records that are to blame: not known, and nothing known was made from them.

        Where there are arrays of real numbers, other records are to blame only if they matter; see
        `_matters`.

        Args:
            known: whether each record is known: (records,).
            raised: whether the call raised an exception. Then nothing was made from its last
                values, so other records need not matter unless an array is wrong.
        """
        blameless = np.isin(self.does, (DECIDES, WHOLE, EXCUSED))
        wrong = ~known & ~self._leads_to(known) & ~blameless
        arrays = np.isin(self.does, (SAYS_NOTHING, TELLS)) & ~self.is_plain
        wrong_arrays = wrong & arrays
        decisive = wrong_arrays if raised else arrays
        if decisive.any():
            wrong &= self._matters(wrong, wrong_arrays)
        return list(map(int, np.flatnonzero(wrong)))

    def _leads_to(self, known: np.ndarray) -> np.ndarray:
        """Return which records are known and tell, or have led to one that does: (records,)."""
        leads = known & np.isin(self.does, (TELLS, IS_SCALAR, WHOLE))
        for child, parent in self.parents[::-1]:
            leads[parent] |= leads[child]
        return leads

    def _matters(self, wrong: np.ndarray, wrong_arrays: np.ndarray) -> np.ndarray:
        """Return which wrong records matter: (records,).

        Correct code, too, may have other scalars (numbers, texts, whole numbers in arrays). One
        matters only if it is returned, or if a wrong record that matters was made from it and from
        no wrong array.
        """
        children, made_from = self.parents.T
        explained = np.isin(children, children[wrong_arrays[made_from]])
        returned = self.is_plain & (self.prints[:, COMMON] != 0)
        matters = wrong & ((self.does != IS_SCALAR) | returned)
        for child, parent in self.parents[~explained][::-1]:
            matters[parent] |= wrong[parent] & matters[child]
        return np.asarray(matters)

    def decided(self, known: np.ndarray, common: np.ndarray, wrong: int) -> int | None:
        """Return the decision that has led to a wrong value, or None if that cannot be told.

        With the same values, some correct code decides the other way, and none this way. Of the
        decisions on its line, more are right than contrary: a line that is merely written the other
        way round, with `not`, has only contrary ones. If a decision can be compared only without
        one of the variables that the line reads, no known value may have been made since.

        Args:
            known: prints of correct code.
            common: which of the tape's agree with one.
            wrong: the record of the wrong value.
        """
        tells = np.isin(self.does[:wrong], (TELLS, IS_SCALAR))
        last_known = max(np.flatnonzero(common[:wrong] & tells), default=-1)
        # a decision's print: two sums of its variables' texts, whether it goes on below, and the
        # number of the variable that is left out, 0 for none
        taken = {(*sums, goes_on, omitted > 0) for *sums, goes_on, omitted in known[:, :4].tolist()}

        def is_taken(sums: Sequence[float], goes_on: float, omitted: float) -> bool:
            """Return whether correct code decides so; only one side may leave out a variable."""
            is_known = (*sums, goes_on, False) in taken
            return is_known or (not omitted and (*sums, goes_on, True) in taken)

        votes: collections.Counter[tuple[int, float]] = collections.Counter()
        suspects: list[tuple[int, tuple[int, float]]] = []
        for row in np.flatnonzero(self.does == DECIDES).tolist():
            *sums, goes_on, omitted = self.prints[row, :4].tolist()
            right = is_taken(sums, goes_on, omitted)
            contrary = is_taken(sums, 1 - goes_on, omitted)
            kind = int(self.records[row, LINE]), omitted
            votes[kind] += right - contrary
            if contrary and not right and row < wrong and (not omitted or row > last_known):
                suspects.append((row, kind))
        for row, kind in reversed(suspects):
            if votes[kind] > 0:
                return row
        return None

    def cut(self, also_cut: np.ndarray) -> int | None:
        """Return the first record whose gradient is cut off, but not in correct code, or None.

        Args:
            also_cut: the last mask that `close` returns.
        """
        cut = np.flatnonzero((self.prints[:, -1] != 0) & ~also_cut)
        return int(cut[0]) if cut.size else None

    def shapes(self, file: int, lines: range) -> list[tuple[int, str]]:
        """Return the shape that each line of a file made last, as text."""
        made: dict[int, str] = {}
        for row in np.flatnonzero(self.records[:, FILE] == file).tolist():
            axes = self.axes(row)
            line = int(self.records[row, LINE])
            if axes and line in lines:
                made[line] = f"({', '.join(map(str, axes))})"
        return sorted(made.items())

    def axes(self, record: int) -> list[int]:
        """Return the lengths of a record's axes."""
        lengths: list[int] = self.records[record, WHERE:].tolist()
        return lengths[: self.records[record, AXES]]

    def place(self, record: int) -> list[int]:
        """Return the place of a record."""
        place: list[int] = self.records[record, :PLACE].tolist()
        return place

    # --- two tapes of the same lines ---

    def differences(self, other: "Tape") -> np.ndarray:
        """Return the records whose values differ on another tape of the same lines."""
        same = np.abs(self.prints - other.prints)[:, :-1] <= NEAR
        return np.flatnonzero(~same.all(-1))

    def reason(self, other: "Tape") -> str:
        """Say where another tape first differs, and how."""
        record = self.differences(other)[0]
        before, after = (
            f"{math.exp(min(tape.prints[record, 0], MAX_LOG)):.4g}" for tape in (self, other)
        )
        moves = f"the mean magnitude of its values goes from {before} to {after}"
        if before == after:
            moves = f"its values keep their mean magnitude, {before}, but are not the same"
        return f"no value before line {self.records[record, LINE]} changes; there, {moves}."
