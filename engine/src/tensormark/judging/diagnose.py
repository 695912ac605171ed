"""Name the mistake: match the results of a student's code with those of known wrong variants.

A variant is recognized if it explains everything: every fingerprint of every call equals the
variant's. Where none does, values are told apart from dropout: a mistake that explains every call
in eval mode is recognized by these alone, and whether dropout has any effect is seen by comparing
the student's calls in training with the student's own in eval mode, whatever their values are. So
two mistakes in the values of one function and a missing dropout are still three names.

If several variants fit, all are named, those that more students make first; if none does, the
mistake has no name.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tensormark.judging.fingerprints import NOT_FINITE, RAISED, RANDOM, UNDECIDED, Seen

PAIR = "+"  # joins the ids of mistakes that were made together
Often = Mapping[str, int]  # the id of a mistake to how often it was seen
NEVER: Often = {}


def listed(sentences: Sequence[str]) -> str:
    """Join what two or three mistakes are."""
    *first, last = sentences
    return "; ".join(first) + (", and " if len(first) == 1 else "; and ") * bool(first) + last


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """What was recognized.

    Attributes:
        mistakes: ids, or ids joined by PAIR, each of which explains what was observed.
        training: the id of a mistake that shows in training only, next to values that are wrong;
            part of `mistakes` if those have a name.
    """

    mistakes: tuple[str, ...] = ()
    training: str | None = None


def close(got: np.ndarray, rows: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Say which fingerprints (..., entries) agree with those of each row; NaN equals NaN here."""
    with np.errstate(invalid="ignore"):
        size = np.abs(np.nan_to_num(rows[..., 1:], posinf=0.0, neginf=0.0)).max(-1, initial=0.0)
        near = np.abs(got - rows) <= allowed * (1.0 + size[..., None])
    equal: np.ndarray = (near | (got == rows) | (np.isnan(got) & np.isnan(rows))).all(-1)
    return equal


def agreeing(seen: Seen) -> np.ndarray:
    """Say which variants explain a call: (variants,).

    Where a variant is random, the student's code only has to be random and wrong too. Where it is
    undecided, anything will do.
    """
    equal = close(seen.got, seen.rows, seen.allowed)
    code = seen.rows[..., 0]
    equal = np.where(code == RANDOM, ~equal[0] & seen.drew, equal)
    return np.asarray((equal | (code == UNDECIDED)).all(-1))


def telling(seen: Seen) -> np.ndarray:
    """Say which variants differ from the solution in this call by more than noise and chance.

    Nor does a tensor of NaN tell anything: many mistakes end in one.
    """
    off = ~close(seen.rows[0], seen.rows, seen.allowed)
    tells_nothing = np.isin(seen.rows[..., 0], (RANDOM, NOT_FINITE, UNDECIDED))
    return np.asarray((off & ~tells_nothing).any(-1))


def by_frequency(names: Iterable[str], often: Often) -> list[str]:
    """Return the single mistakes among names, the most frequent first."""
    single = {name for name in names if PAIR not in name}
    return sorted(single, key=lambda name: (-often.get(name, 0), name))


def recognise(seen: Sequence[Seen], names: Sequence[str], often: Often) -> list[str]:
    """Return the ids of the variants that explain all observations, the most frequent first.

    Single mistakes take precedence over pairs, and a pair is only named if it is the only one.
    """
    if not seen:
        return []
    fits = np.logical_and.reduce([agreeing(one) for one in seen])
    tells = np.logical_or.reduce([telling(one) for one in seen])
    # if everything raises, the exception's message already says it all
    tells &= ~np.logical_and.reduce([(one.rows[:, 0, 0] == RAISED) for one in seen])
    found = set(np.array(names)[fits & tells].tolist())
    return by_frequency(found, often) or (list(found) if len(found) == 1 else [])


def unmoved(training: Seen, evaluation: Seen) -> tuple[bool, np.ndarray]:
    """Say whether training gives the same outputs as eval: of the student, and of each variant."""
    ours = [training.outputs[name] for name in sorted(training.outputs)]
    theirs = [evaluation.outputs[name] for name in sorted(training.outputs)]
    allowed = training.allowed[ours]
    returned = (training.got[ours, 0] >= 0).all()  # a tensor, with finite values
    student = returned and close(training.got[ours], evaluation.got[theirs], allowed).all()
    rows = close(training.rows[:, ours], evaluation.rows[:, theirs], allowed).all(-1)
    return bool(student), np.asarray(rows)


def without_effect(seen: Sequence[Seen], names: Sequence[str], often: Often) -> str | None:
    """Return the mistake by which a dropout has no effect, or None; values may be wrong, too."""
    evals = {one.inputs: one for one in seen if not one.training and one.outputs}
    twins = [(one, evals[one.inputs]) for one in seen if one.training and one.inputs in evals]
    twins = [(one, twin) for one, twin in twins if one.outputs.keys() <= twin.outputs.keys()]
    if not twins:
        return None
    students, rows = zip(*(unmoved(*pair) for pair in twins), strict=True)
    table = np.stack(rows, axis=-1)  # (variants, twins)
    if not any(mine and not right for mine, right in zip(students, table[0], strict=True)):
        return None
    fits = (table == np.array(students)).all(-1)
    fits &= ~np.logical_or.reduce([telling(one) for one in seen if not one.training])
    found = by_frequency(np.array(names)[fits].tolist(), often)
    decided = len(found) == 1 or (
        len(found) > 1 and often.get(found[0], 0) > often.get(found[1], 0)
    )
    return found[0] if decided else None


def diagnose(seen: Sequence[Seen], names: Sequence[str], often: Often) -> Diagnosis:
    """Explain all observations, or else values and dropout apart."""
    whole = recognise(seen, names, often)
    if whole:
        return Diagnosis(tuple(whole))
    evals = [one for one in seen if not one.training]
    if all(agreeing(one)[0] for one in evals):  # values are right
        return Diagnosis()
    values, dropout = recognise(evals, names, often), without_effect(seen, names, often)
    joined = (f"{one}{PAIR}{dropout}" if dropout else one for one in values)
    return Diagnosis(tuple(joined), dropout)


def diagnosed(
    levels: Iterable[Sequence[Seen]], names: Sequence[str], often: Often = NEVER
) -> Diagnosis:
    """Return the mistakes of the first level that shows any.

    If it cannot decide between several, later levels may.

    Args:
        levels: observations, those that depend least on other exercises first.
        names: of the rows of the observations.
        often: how often each mistake was seen.
    """
    found = Diagnosis()
    for level in levels:
        if len(found.mistakes) == 1:
            break
        here = diagnose(level, names, often)
        common = tuple(name for name in found.mistakes if name in here.mistakes)
        mistakes = common or found.mistakes or here.mistakes
        found = Diagnosis(mistakes, found.training or here.training)
    return found
