"""Where a failure begins: the first value on a tape that no correct code computes.

A tape has a print of each value that a call computed (worker/tape.py); references have the prints
of the solution and of honest variants. A value is known if its print is among them, in whatever
shape and order, and known exactly if these agree, too. Correct code that nobody has recorded
computes unknown values, but soon known ones from them: so a value is excused if a known one was
made from it. If a condition before a wrong value took a path that no correct code takes with the
same values, the failure begins at that condition.

A tape is untrusted: it decides no points, and a line must be one of the files that were handed in.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tensormark.exercise import NUMPY, Call, Probe
from tensormark.judging.compare import Mismatch
from tensormark.judging.evidence import Evidence
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.judging.replies import PLACE_AT_END
from tensormark.judging.tape import Tape, close
from tensormark.sandbox.interface import Reply
from tensormark.worker.protocol import IS_SCALAR, MAX_RECORDS, PLACE, STATE, TELLS

MAX_TEXT = 200  # characters of a line
MAX_LINES = 80  # of a function that is shown
WRONG = "this line computes the first value that no known correct solution has"
DECIDED = "with the same values, correct solutions take another path after this line"
MISPLACED = "right values, but misplaced, reshaped or converted here, or a step is missing"
LAST = "every value that can be compared is right up to here, but the output is wrong"
NO_GRADIENT = "the gradient is lost here"
RAISES = "the exception is raised here"
CHANGES = "the change is made here"


def scaled(probe: Probe, call: Call) -> bool:
    """Return whether dropout scales values on a tape, as its draws cannot be compared."""
    return call.train or probe.draws(call)


def order(
    target: str, targets: Iterable[str], scales: bool, mismatch: Mismatch | None = None
) -> dict[str, Any]:
    """Return what to record of a call; see `TapeRecorder`.

    Args:
        target: the function under test; targets: those of all exercises.
        mismatch: what is wrong with the call's first answer, if it is made again.
    """
    watches = None
    if mismatch is not None and mismatch.kind == "changed":
        watches = mismatch.name if mismatch.name in STATE else "inputs"
    others = sorted(set(targets) - {target})
    return {"target": target, "others": others, "scales": scales, "watches": watches}


def _place(
    sources: Mapping[str, str], at: Sequence[int], says: str, tape: Tape | None = None
) -> dict[str, Any] | None:
    """Return a line of the submission, or None if it has no such line.

    Args:
        sources: the files that students edit, by name.
        at: the number of the file, the line, and the first and the last one of its function; not
            trusted.
    """
    names = sorted(sources)
    if len(at) != PLACE or not 0 <= at[0] < len(names):
        return None
    number, line, first, last = at
    lines = sources[names[number]].split("\n")
    if not 0 < first <= line <= last <= len(lines):
        return None
    shown = range(max(first, line - MAX_LINES // 2), min(last, line + MAX_LINES // 2) + 1)
    return {
        "file": names[number],
        "line": line,
        "text": lines[line - 1].strip()[:MAX_TEXT],
        "says": says,
        "right": None,
        "code": [[each, lines[each - 1][:MAX_TEXT]] for each in shown],
        "shapes": tape.shapes(number, shown) if tape is not None else [],
    }


def _told(reply: Reply, kind: str) -> list[int]:
    """Return the line to blame for a mismatch of a kind, as a tape says; empty if it says none."""
    at = reply.tensors.get(f"tape/{kind}")
    return at.tolist() if at is not None and at.dtype == np.int64 and at.ndim == 1 else []


def _where_raised(reply: Reply, sources: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the line that a reply says has raised."""
    found = PLACE_AT_END.search(reply.text)
    file = f"{found[1]}.py" if found else ""
    if not found or file not in sources:
        return None
    line = int(found[2])
    return _place(sources, (sorted(sources).index(file), line, line, line), RAISES)


def last_right(tape: Tape, known: np.ndarray, wrong: int) -> int | None:
    """Return the line of the last known value before a wrong one, on a line above it, or None."""
    file, line = tape.records[wrong, :2]
    tells = np.isin(tape.does[:wrong], (TELLS, IS_SCALAR))
    before = tape.records[:wrong][known[:wrong] & tells]
    above = before[(before[:, 0] == file) & (before[:, 1] > 0) & (before[:, 1] < line), 1]
    return int(above[-1]) if above.size else None


def locate(
    evidence: Evidence, answered: AnsweredCall, mismatch: Mismatch, reply: Reply
) -> dict[str, Any] | None:
    """Return the line where a failure begins, as JSON, or None if that cannot be told.

    Args:
        mismatch: what is wrong with the answer.
        reply: the answer to the same call, perhaps with its tape.
    """
    sources = evidence.sources
    kind = mismatch.kind
    if kind == "changed":
        return _place(sources, _told(reply, kind), CHANGES)
    raised = None
    if kind == "raised":
        raised = _place(sources, _told(reply, kind), RAISES) or _where_raised(reply, sources)
    tape = Tape.of(reply.tensors)
    known = answered.recording.known
    # each line may be right if what is returned is only of another type, such as a list
    only_type = kind == "raised" and answered.call.arrays == NUMPY and not raised
    if only_type or tape is None or known is None:
        return raised
    common, ordered, also_cut = close(tape.prints, known)
    if kind == "gradient":
        cut = tape.cut(also_cut)
        return None if cut is None else _place(sources, tape.place(cut), NO_GRADIENT, tape)
    says = WRONG
    wrong = tape.wrong(common, kind == "raised")
    nearly = mismatch.pair is not None and kind == "values" and mismatch.pair.nearly
    if not wrong and nearly:
        return None
    if not wrong and kind not in ("draw", "raised"):
        says = MISPLACED
        wrong = tape.wrong(ordered | (common & tape.is_whole))
    if wrong:
        first = wrong[0]
        decided = tape.decided(known, common, first)
        if decided is not None:
            first = decided
            says = DECIDED
        found = _place(sources, tape.place(first), says, tape)
        right = None if nearly else last_right(tape, ordered, min(first, wrong[0]))
        if found is not None and right is not None:
            found["right"] = right
            found["says"] += f"; up to line {right}, values are those of correct code"
        return found
    made = np.flatnonzero(~tape.is_whole)
    says_little = answered.call.is_plain or not made.size or len(tape.records) == MAX_RECORDS
    if says_little or kind in ("draw", "raised"):
        return raised
    return _place(sources, tape.place(made[-1]), LAST, tape)
