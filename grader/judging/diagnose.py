"""Name the mistake: match what a student's code gave with what known wrong variants gave.

A variant is recognised when it explains everything that was seen: every fingerprint of every call
is the variant's. Several that explain it equally are all named; none that fits means silence.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from grader.judging.fingerprints import RAISED, RANDOM, Seen

PAIR = "+"  # joins the ids of two mistakes that were made together


def close(got: np.ndarray, rows: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Say which fingerprints (..., entries) agree with those of each row; NaN equals NaN here."""
    with np.errstate(invalid="ignore"):
        size = np.abs(np.nan_to_num(rows[..., 1:], posinf=0.0, neginf=0.0)).max(-1, initial=0.0)
        near = np.abs(got - rows) <= allowed * (1.0 + size[..., None])
    equal: np.ndarray = (near | (got == rows) | (np.isnan(got) & np.isnan(rows))).all(-1)
    return equal


def agreeing(seen: Seen) -> np.ndarray:
    """Say which variants explain a call: (variants,).

    Where a variant draws at random all that is asked is that the student's code is off too.
    """
    equal = close(seen.got, seen.rows, seen.allowed)
    random = seen.rows[..., 0] == RANDOM
    return np.asarray(np.where(random, ~equal[0], equal).all(-1))


def telling(seen: Seen) -> np.ndarray:
    """Say which variants differ here from the solution by more than noise and chance."""
    off = ~close(seen.rows[0], seen.rows, seen.allowed)
    return np.asarray((off & (seen.rows[..., 0] != RANDOM)).any(-1))


def recognise(seen: Sequence[Seen], names: Sequence[str]) -> list[str]:
    """Return the ids of the variants that explain all that was seen, in alphabetical order.

    A single mistake is preferred to two made together, and of those only one pair is believed.
    """
    if not seen:
        return []
    fits = np.logical_and.reduce([agreeing(one) for one in seen])
    tells = np.logical_or.reduce([telling(one) for one in seen])
    # what raises everywhere says in its own words all that can be known
    tells &= ~np.logical_and.reduce([(one.rows[:, 0, 0] == RAISED) for one in seen])
    found = sorted(np.array(names)[fits & tells].tolist())
    single = [name for name in found if PAIR not in name]
    return single or (found if len(found) == 1 else [])


def recognised(levels: Iterable[Sequence[Seen]], names: Sequence[str]) -> list[str]:
    """Return the mistakes of the first level of evidence that shows any.

    Where it cannot decide between several, the levels after it may.
    """
    found: list[str] = []
    for level in levels:
        if len(found) == 1:
            break
        here = recognise(level, names)
        found = [name for name in found if name in here] or found or here
    return found
