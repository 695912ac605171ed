"""Name the mistake: match the results of a student's code with those of known wrong variants.

A variant is recognized if it explains everything: every fingerprint of every call equals the
variant's. If none does, values and dropout are diagnosed separately: a mistake that explains every
call in eval mode is recognized by those calls alone, and whether dropout has any effect is decided
by comparing the student's calls in training with the student's own calls in eval mode, whatever
their values. So two mistakes in a function's values plus a missing dropout still get three names.

If several variants fit, all are named, the most frequent first; if none fits, the mistake has no
name.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tensormark.judging.fingerprints import NOT_FINITE, RAISED, RANDOM, UNDECIDED, Seen

PAIR = "+"  # joins the ids of two mistakes that occur together
Often = Mapping[str, int]  # the id of a mistake to the number of times it was observed
NEVER: Often = {}


def one_sentence(sentences: Sequence[str]) -> str:
    """Join sentences into one; semicolons separate three or more, as each may contain commas."""
    if len(sentences) < 3:
        return ", and ".join(sentences)
    return "; ".join([*sentences[:-1], f"and {sentences[-1]}"])


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """The recognized mistakes.

    Attributes:
        mistakes: ids, or ids joined by PAIR, each of which explains the observations.
        training: the id of a mistake that shows in training only, besides wrong values; if these
            have a name, `mistakes` includes it.
    """

    mistakes: tuple[str, ...] = ()
    training: str | None = None


def close(got: np.ndarray, rows: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return which fingerprints (..., entries) agree with those of each row; NaN equals NaN."""
    with np.errstate(invalid="ignore"):
        size = np.abs(np.nan_to_num(rows[..., 1:], posinf=0.0, neginf=0.0)).max(-1)
        near = np.abs(got - rows) <= allowed * (1.0 + size[..., None])
    equal: np.ndarray = (near | (got == rows) | (np.isnan(got) & np.isnan(rows))).all(-1)
    return equal


def agreeing(call: Seen) -> np.ndarray:
    """Return which variants explain a call: (variants,).

    If a variant is random, the student's code must be random too, and wrong, but with the right
    shape and type. If a variant is undecided, anything matches.
    """
    equal = close(call.got, call.rows, call.allowed)
    code = call.rows[..., 0]
    wrong = ~equal[0] & (call.got[:, 0] == code[0])
    equal = np.where(code == RANDOM, wrong & call.drew, equal)
    return np.asarray((equal | (code == UNDECIDED)).all(-1))


def _telling(call: Seen) -> np.ndarray:
    """Return which variants differ from the solution in this call by more than noise and chance.

    A tensor of NaN is no evidence either: many mistakes end in one.
    """
    off = ~close(call.rows[0], call.rows, call.allowed)
    tells_nothing = np.isin(call.rows[..., 0], (RANDOM, NOT_FINITE, UNDECIDED))
    return np.asarray((off & ~tells_nothing).any(-1))


def _by_frequency(names: Iterable[str], often: Often) -> list[str]:
    """Return the single mistakes among names, the most frequent first."""
    single = {name for name in names if PAIR not in name}
    return sorted(single, key=lambda name: (-often.get(name, 0), name))


def recognise(calls: Sequence[Seen], names: Sequence[str], often: Often) -> list[str]:
    """Return the ids of the variants that explain all observations, the most frequent first.

    Single mistakes take precedence over pairs, and a pair is only named if it is the only one.
    """
    if not calls:
        return []
    fits = np.logical_and.reduce([agreeing(call) for call in calls])
    tells = np.logical_or.reduce([_telling(call) for call in calls])
    # if every call raises, the exception's message says it all
    tells &= ~np.logical_and.reduce([(call.rows[:, 0, 0] == RAISED) for call in calls])
    recognized = np.array(names)[fits & tells].tolist()
    return _by_frequency(recognized, often) or (recognized if len(recognized) == 1 else [])


def _unmoved(training: Seen, evaluation: Seen) -> tuple[bool, np.ndarray]:
    """Return whether training and eval give the same outputs: for the student and each variant."""
    ours = list(training.outputs.values())
    theirs = [evaluation.outputs[name] for name in training.outputs]
    allowed = training.allowed[ours]
    returned = (training.got[ours, 0] >= 0).all()  # a tensor, with finite values
    student = returned and close(training.got[ours], evaluation.got[theirs], allowed).all()
    rows = close(training.rows[:, ours], evaluation.rows[:, theirs], allowed).all(-1)
    return bool(student), np.asarray(rows)


def without_effect(calls: Sequence[Seen], names: Sequence[str], often: Often) -> str | None:
    """Return the mistake that leaves a dropout without effect, or None; values may be wrong too."""
    evals = {call.inputs: call for call in calls if not call.training and call.outputs}
    twins = [
        (call, evals[call.inputs])
        for call in calls
        if call.training and call.outputs and call.inputs in evals
    ]
    twins = [(call, twin) for call, twin in twins if call.outputs.keys() <= twin.outputs.keys()]
    if not twins:
        return None
    students, rows = zip(*(_unmoved(*pair) for pair in twins), strict=True)
    table = np.stack(rows, axis=-1)  # (variants, twins)
    if not any(mine and not right for mine, right in zip(students, table[0], strict=True)):
        return None
    fits = (table == np.array(students)).all(-1)
    fits &= ~np.logical_or.reduce([_telling(call) for call in calls if not call.training])
    candidates = _by_frequency(np.array(names)[fits].tolist(), often)
    decided = len(candidates) == 1 or (
        len(candidates) > 1 and often.get(candidates[0], 0) > often.get(candidates[1], 0)
    )
    return candidates[0] if decided else None


def _diagnose(calls: Sequence[Seen], names: Sequence[str], often: Often) -> Diagnosis:
    """Explain all observations at once, or else values and dropout separately."""
    whole = recognise(calls, names, often)
    if whole:
        return Diagnosis(tuple(whole))
    evals = [call for call in calls if not call.training]
    if all(agreeing(call)[0] for call in evals):  # values are right
        return Diagnosis()
    values, dropout = recognise(evals, names, often), without_effect(calls, names, often)
    joined = (f"{value}{PAIR}{dropout}" if dropout else value for value in values)
    return Diagnosis(tuple(joined), dropout)


def _agrees(calls: Sequence[Seen], names: Sequence[str], mistake: str) -> bool:
    """Return whether a mistake also explains these calls: all of them, or those in eval mode."""
    if mistake in names:
        row = names.index(mistake)
        if all(agreeing(call)[row] for call in calls):
            return True
    values = mistake.split(PAIR)[0]
    evals = [call for call in calls if not call.training]
    return values in names and all(agreeing(call)[names.index(values)] for call in evals)


def diagnosed(
    levels: Iterable[Sequence[Seen]], names: Sequence[str], often: Often = NEVER
) -> Diagnosis:
    """Return the mistakes of the first level that shows any and that no later level rules out.

    Args:
        levels: observations, those that depend least on other exercises first.
        names: the names of the observations' rows.
        often: how often each mistake was observed.
    """
    diagnosis = Diagnosis()
    for level in levels:
        mistakes = tuple(name for name in diagnosis.mistakes if _agrees(level, names, name))
        diagnosis = dataclasses.replace(diagnosis, mistakes=mistakes)
        if not mistakes:
            further = _diagnose(level, names, often)
            diagnosis = Diagnosis(further.mistakes, diagnosis.training or further.training)
    return diagnosis
