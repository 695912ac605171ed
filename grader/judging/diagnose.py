"""Name the mistake: match the results of a student's code with those of known wrong variants.

A variant is recognized if it explains everything: every fingerprint of every call equals the
variant's. If several variants do, all are named; if none does, the mistake has no name.
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

    Where a variant is random, the student's code only has to be wrong too.
    """
    equal = close(seen.got, seen.rows, seen.allowed)
    random = seen.rows[..., 0] == RANDOM
    return np.asarray(np.where(random, ~equal[0], equal).all(-1))


def telling(seen: Seen) -> np.ndarray:
    """Say which variants differ from the solution in this call by more than noise and chance."""
    off = ~close(seen.rows[0], seen.rows, seen.allowed)
    return np.asarray((off & (seen.rows[..., 0] != RANDOM)).any(-1))


def recognise(seen: Sequence[Seen], names: Sequence[str]) -> list[str]:
    """Return the ids of the variants that explain all observations, in alphabetical order.

    Single mistakes take precedence over pairs, and a pair is only named if it is the only one.
    """
    if not seen:
        return []
    fits = np.logical_and.reduce([agreeing(one) for one in seen])
    tells = np.logical_or.reduce([telling(one) for one in seen])
    # if everything raises, the exception's message already says it all
    tells &= ~np.logical_and.reduce([(one.rows[:, 0, 0] == RAISED) for one in seen])
    found = sorted(np.array(names)[fits & tells].tolist())
    single = [name for name in found if PAIR not in name]
    return single or (found if len(found) == 1 else [])


def recognised(levels: Iterable[Sequence[Seen]], names: Sequence[str]) -> list[str]:
    """Return the mistakes of the first level that shows any.

    If it cannot decide between several, later levels may.
    """
    found: list[str] = []
    for level in levels:
        if len(found) == 1:
            break
        here = recognise(level, names)
        found = [name for name in found if name in here] or found or here
    return found
