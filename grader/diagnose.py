"""Name the mistake: match what a student's code gave with what known wrong variants gave.

Of each tensor a fingerprint is kept: its form (shape and type) and a few weighted sums of its
values, with weights drawn once and for all from the tensor's name. A variant is recognised when it
explains everything that was seen: every fingerprint of every call is the variant's. Several that
explain it equally are all named; none that fits means silence.
"""

import dataclasses
import functools
import zlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from grader.compare import Tolerance

SUMS = 4  # per tensor; two tensors that differ agree in all of them by accident once in ages
WIDTH = 1 + SUMS
MOST = 1 << 15  # values of a tensor whose sums are taken; those of the case table have 8000 at most
RAISED, MISSING, RANDOM = -1.0, -2.0, -3.0  # stand where a tensor's form would
PAIR = "+"  # joins the ids of two mistakes that were made together
Tensors = Mapping[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Seen:
    """What one call gave, beside what the solution and its wrong variants gave.

    Attributes:
        got: (entries, WIDTH), the student's fingerprints.
        rows: (variants, entries, WIDTH); the first row is the solution's.
        allowed: (entries, WIDTH), how far a sum may be off, for sums of order 1.
    """

    got: np.ndarray
    rows: np.ndarray
    allowed: np.ndarray


# --- fingerprints ---------------------------------------------------------------------------


@functools.lru_cache(maxsize=1024)
def weights(name: str, size: int) -> np.ndarray:
    """Return the weights (SUMS, size) of a tensor of that name, each row of length about 1."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    drawn: np.ndarray = rng.standard_normal((SUMS, size)) / np.sqrt(max(size, 1))
    return drawn


def form(array: np.ndarray) -> float:
    """Return a number that stands for a shape and a type."""
    return float(zlib.crc32(f"{array.shape} {array.dtype}".encode()) & 0xFFFFFF)


def entry(code: float, values: np.ndarray | Sequence[float] = ()) -> np.ndarray:
    """Return one fingerprint (WIDTH,)."""
    made = np.zeros(WIDTH)
    made[0] = code
    made[1 : 1 + len(values)] = values
    return made


def of_tensor(name: str, array: np.ndarray | None) -> np.ndarray:
    """Return the fingerprint of a tensor, or of its absence."""
    if array is None:
        return entry(MISSING)
    if array.size > MOST:  # weights for as much as a stranger sends would take all memory
        return entry(form(array))
    with np.errstate(all="ignore"):  # infinities give NaN, which is a fingerprint too
        sums = weights(name, array.size) @ array.astype(np.float64).ravel()
    return entry(form(array), sums)


def raised(names: Sequence[str], text: str) -> np.ndarray:
    """Return the fingerprints (entries, WIDTH) of a call that raised: what it said, all over."""
    said = float(zlib.crc32(text.encode()) & 0xFFFFFF)
    return np.stack([entry(RAISED, [said])] * (len(names) + 1))


def of_call(names: Sequence[str], tensors: Tensors, side_effects: float) -> np.ndarray:
    """Return the fingerprints (entries, WIDTH) of one call.

    Args:
        names: of the tensors that the solution gives, such as "out/output".
        tensors: what came back.
        side_effects: a number that stands for what the call changed and should not have.
    """
    found = [of_tensor(name, tensors.get(name)) for name in names]
    return np.stack([*found, entry(side_effects)])


def tolerances(names: Sequence[str], of_name: Mapping[str, Tolerance]) -> np.ndarray:
    """Return what is allowed (entries, WIDTH) for `of_call`; forms must be equal."""
    made = np.zeros((len(names) + 1, WIDTH))
    for number, name in enumerate(names):
        made[number, 1:] = of_name[name].atol
    return made


# --- matching -------------------------------------------------------------------------------


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


# --- where the error is, when it has no name ------------------------------------------------


def ratio(got: np.ndarray, expected: np.ndarray) -> float | None:
    """Return the one factor between two arrays, if there is one other than 1."""
    total = float((expected * expected).sum())
    factor = float((got * expected).sum()) / total if total else 0.0
    fits = np.allclose(got, factor * expected, rtol=1e-3, atol=1e-4)
    return factor if fits and abs(factor) > 1e-3 else None


def moved(got: np.ndarray, expected: np.ndarray) -> str | None:
    """Say whether the right values are there in another place."""
    if np.allclose(np.sort(got, axis=-1), np.sort(expected, axis=-1), rtol=1e-3, atol=1e-4):
        return "each token has the right values in the wrong order of units"
    if np.allclose(np.sort(got.ravel()), np.sort(expected.ravel()), rtol=1e-3, atol=1e-4):
        return "the right values are all there, in the wrong places: look at the order of axes"
    return None


def locate(got: np.ndarray, expected: np.ndarray, padding: np.ndarray | None) -> str | None:
    """Say in one line where, or by what, an array (B, T, D) is off; None when nothing stands out.

    Args:
        padding: (B, T), true where there is no token.
    """
    if got.shape != expected.shape:
        same = sorted(got.shape) == sorted(expected.shape) or got.size == expected.size
        return "the number of values is right: look at the order of axes" if same else None
    if got.ndim != 3 or not np.isfinite(got).all():
        return None
    if factor := ratio(got, expected):
        return f"every value is {factor:.3g} times the expected one"
    if np.ptp(got - expected) < 1e-4 * (1.0 + np.abs(expected).max()):
        return f"every value is off by {float(np.mean(got - expected)):.3g}"
    if moves := moved(got, expected):
        return moves
    wrong = ~np.isclose(got, expected, rtol=1e-3, atol=1e-4).all(-1)  # (B, T)
    if padding is not None and padding.any() and not padding.all():
        if (wrong <= padding).all():
            return "only padding is wrong"
        if (wrong <= ~padding).all() and len(wrong) > 1:
            return "only tokens are wrong, padding is right"
        full = ~padding.any(1)
        if full.any() and not wrong[full].any():
            return "only rows that have padding are wrong"
    return by_place(wrong)


def by_place(wrong: np.ndarray) -> str | None:
    """Say which rows or tokens (B, T) are wrong, where it is not all of them."""
    rows, tokens = np.asarray(wrong.any(1)), np.asarray(wrong.any(0))
    if rows[0] and not rows[1:].any() and len(rows) > 1:
        return "only row 0 of the batch is wrong"
    if len(rows) > 1 and not rows[0] and rows[1:].all():
        return "row 0 of the batch is right, the others are not"
    if tokens.any() and not tokens.all():
        first = int(np.argmax(tokens))
        if tokens[first:].all():
            return f"only tokens from number {first} on are wrong"
        if int(tokens.sum()) == 1:
            return f"only token {first} of each row is wrong"
    return None
