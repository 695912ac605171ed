"""Name the mistake: match the results of a student's code with those of known wrong variants.

A variant is recognized if it explains everything: every fingerprint of every call equals the
variant's. If none does, values and dropout are diagnosed separately: a mistake that explains every
call in eval mode is recognized by those calls alone, and whether dropout has any effect is decided
by comparing the student's calls in training with the student's own calls in eval mode, whatever
their values. So two mistakes in a function's values plus a missing dropout still get three names.

If neither explains the values, calls that raise an exception are left out: a mistake that explains
all others is named where no exception is shown.

If several variants fit, all are named, the most frequent first; if none fits, the mistake has no
name.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tensormark.judging.fingerprints import NOT_FINITE, RAISED, RANDOM, UNDECIDED, Observation

PAIR = "+"  # joins the ids of mistakes that occur together
Counts = Mapping[str, int]  # the id of a mistake to the number of times it was observed


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """The recognized mistakes.

    Attributes:
        mistakes: ids, or several ids joined by PAIR, each of which explains the observations.
        training: the id of a mistake that shows in training only, besides wrong values; if these
            have a name, `mistakes` includes it.
        partly: whether `mistakes` explain only the calls that raise no exception.
    """

    mistakes: tuple[str, ...] = ()
    training: str | None = None
    partly: bool = False


def close(got: np.ndarray, rows: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return which fingerprints (..., entries) agree with those of each row; NaN equals NaN."""
    with np.errstate(invalid="ignore"):
        size = np.abs(np.nan_to_num(rows[..., 1:], posinf=0.0, neginf=0.0)).max(-1)
        near = np.abs(got - rows) <= allowed * (1.0 + size[..., None])
    equal: np.ndarray = (near | (got == rows) | (np.isnan(got) & np.isnan(rows))).all(-1)
    return equal


def matching_variants(call: Observation) -> np.ndarray:
    """Return which variants explain a call: (variants,).

    If a variant is random, the student's code must be random too, and wrong, but with the
    variant's shape and type. If a variant is undecided, anything matches.
    """
    equal = close(call.got, call.rows, call.allowed)
    code = call.rows[..., 0]
    form = call.rows[..., 1]
    wrong = ~equal[0] & (call.got[:, 0] == form) & call.drew
    equal = np.where(code == RANDOM, wrong, equal)
    return np.asarray((equal | (code == UNDECIDED)).all(-1))


def _distinctive(call: Observation) -> np.ndarray:
    """Return which variants differ from the solution in this call by more than noise and chance.

    A tensor of NaN or an exception is no evidence either: many mistakes end in one.
    """
    off = ~close(call.rows[0], call.rows, call.allowed)
    tells_nothing = np.isin(call.rows[..., 0], (RAISED, RANDOM, NOT_FINITE, UNDECIDED))
    return np.asarray((off & ~tells_nothing).any(-1))


def _by_frequency(names: Iterable[str], counts: Counts) -> list[str]:
    """Return the single mistakes among names, the most frequent first."""
    single = {name for name in names if PAIR not in name}
    return sorted(single, key=lambda name: (-counts.get(name, 0), name))


def recognize(calls: Sequence[Observation], names: Sequence[str], counts: Counts) -> list[str]:
    """Return the ids of the variants that explain all observations, the most frequent first.

    Single mistakes take precedence over several at once, which are only named if no others fit.
    """
    if not calls:
        return []
    fits = np.logical_and.reduce([matching_variants(call) for call in calls])
    distinctive = np.logical_or.reduce([_distinctive(call) for call in calls])
    recognized = np.array(names)[fits & distinctive].tolist()
    return _by_frequency(recognized, counts) or (recognized if len(recognized) == 1 else [])


def _same_as_eval(training: Observation, evaluation: Observation) -> np.ndarray:
    """Return who has the same outputs in training and eval: the student, and each variant."""
    train = list(training.outputs.values())
    eval_ = [evaluation.outputs[name] for name in training.outputs]
    allowed = training.allowed[train]
    finite = (training.got[train, 0] >= 0).all()  # a tensor with finite values was returned
    student = finite and close(training.got[train], evaluation.got[eval_], allowed).all()
    variants = close(training.rows[:, train], evaluation.rows[:, eval_], allowed).all(-1)
    return np.hstack([student, variants])


def ineffective_dropout(
    calls: Sequence[Observation], names: Sequence[str], counts: Counts
) -> str | None:
    """Return the mistake that leaves a dropout without effect, or None; values may be wrong too."""
    evals = {call.inputs: call for call in calls if not call.training and call.outputs}
    same = []  # (twins, 1 + variants)
    for call in calls:
        twin = evals.get(call.inputs)
        if call.training and call.outputs and twin and call.outputs.keys() <= twin.outputs.keys():
            same.append(_same_as_eval(call, twin))
    if not same:
        return None
    students, *rows = np.transpose(same)
    if not (students & ~rows[0]).any():  # the solution's row is the first
        return None
    fits = (rows == students).all(-1)
    for call in calls:
        if not call.training:
            draws = (call.rows[..., 0] == RANDOM).any(-1)
            fits &= ~_distinctive(call) & (call.drew | ~draws)
    candidates = _by_frequency(np.array(names)[fits].tolist(), counts)
    frequencies = [counts.get(name, 0) for name in candidates[:2]]
    undecided = len(frequencies) == 2 and frequencies[0] == frequencies[1]
    return None if undecided or not candidates else candidates[0]


def _diagnosis_of(calls: Sequence[Observation], names: Sequence[str], counts: Counts) -> Diagnosis:
    """Explain all observations at once, or else values and dropout separately."""
    whole = recognize(calls, names, counts)
    if whole:
        return Diagnosis(tuple(whole))
    evals = [call for call in calls if not call.training]
    if all(matching_variants(call)[0] for call in evals):  # values are right
        return Diagnosis()
    values = recognize(evals, names, counts)
    dropout = ineffective_dropout(calls, names, counts)
    joined = [f"{value}{PAIR}{dropout}" if dropout else value for value in values]
    if joined:
        return Diagnosis(tuple(joined), dropout)
    answered = [call for call in calls if call.got[0, 0] != RAISED]
    rest = recognize(answered, names, counts) if len(answered) < len(calls) else []
    return Diagnosis(tuple(rest), dropout, partly=bool(rest))


def _still_explains(calls: Sequence[Observation], names: Sequence[str], mistake: str) -> bool:
    """Return whether a mistake explains the calls in eval mode, or all calls if those are right.

    Where stand-ins are not called, right values look like a mistake, which training may rule out.
    """
    # what follows the last PAIR may be a mistake in training
    possible = (mistake, mistake.rpartition(PAIR)[0])
    rows = [names.index(name) for name in possible if name in names]
    evals = [call for call in calls if not call.training]
    if all(matching_variants(call)[0] for call in evals):
        evals = list(calls)
    return any(all(matching_variants(call)[row] for call in evals) for row in rows)


def diagnose(
    levels: Iterable[Sequence[Observation]], names: Sequence[str], counts: Counts
) -> Diagnosis:
    """Return the mistakes of the first level that shows any and that no later level rules out.

    Args:
        levels: observations, those that depend least on other exercises first.
        names: the names of the observations' rows.
        counts: how often each mistake was observed.
    """
    diagnosis = Diagnosis()
    for level in levels:
        mistakes = tuple(name for name in diagnosis.mistakes if _still_explains(level, names, name))
        diagnosis = dataclasses.replace(diagnosis, mistakes=mistakes)
        if not mistakes:
            further = _diagnosis_of(level, names, counts)
            training = diagnosis.training or further.training
            diagnosis = dataclasses.replace(further, training=training)
    return diagnosis
