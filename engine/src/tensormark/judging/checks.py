"""The checks of an exercise, and the score that they add up to."""

import dataclasses
from collections.abc import Callable, Collection, Iterator

from tensormark.exercise import PARTS, Exercise, Probe
from tensormark.judging.compare import Mismatch
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.judging.raised import FORBIDDEN
from tensormark.judging.trial import Trial
from tensormark.result import Blocked, CheckFailed, Finding, NotWrittenYet, Outcome, Result
from tensormark.sandbox.interface import printable

MAX_REASON = 500  # characters of the reason why an exercise could not be graded
Fault = tuple[str, Exception]  # the part of the points, and the exception that a check raised


@dataclasses.dataclass(frozen=True)
class _Check:
    """One thing to check in the answers to probes.

    Attributes:
        examine: the trial's method that checks one answer.
        part: the part of the points that a failure costs; None: the probe's part.
        applies: whether to check a probe.
    """

    examine: Callable[[Trial, AnsweredCall], Mismatch | None]
    part: str | None = None
    applies: Callable[[Probe], bool] = lambda probe: True


CHECKS = (
    _Check(Trial.wrong_output, applies=lambda probe: probe.examine is None),
    _Check(Trial.wrong_draw, applies=lambda probe: probe.examine is not None),
    _Check(
        Trial.wrong_gradient,
        "properties",
        applies=lambda probe: any(call.gradients for call in probe.calls),
    ),
    _Check(Trial.changed_input, "properties"),
    _Check(Trial.changed_state, "properties"),
    _Check(Trial.changed_by_import, "properties"),
)


def _faults(trial: Trial) -> Iterator[Fault]:
    """Yield the faults that the checks of an exercise find, in order.

    If the function is not written yet, nothing else is checked.
    """
    if trial.unwritten:
        yield "values", NotWrittenYet()
        return
    for check in CHECKS:
        for probe in filter(check.applies, trial.exercise.probes):
            try:
                trial.judge(probe, check.examine)
            except (CheckFailed, Blocked) as error:
                part = check.part or probe.part
                if isinstance(error, CheckFailed) and error.finding.mistake == FORBIDDEN:
                    part = "values"
                yield part, error


def needs_stand_ins(trial: Trial) -> bool:
    """Return whether calls with further stand-ins could change the verdict so far."""
    return not trial.unwritten and any(
        trial.deciding_stand_ins(probe, check.examine) is None
        for check in CHECKS
        for probe in filter(check.applies, trial.exercise.probes)
    )


def rounds(exercise: Exercise, failed: frozenset[str]) -> Iterator[Collection[int]]:
    """Yield sets of indices of calls with stand-ins, in the order in which to make them.

    The first set can show that the exercise is right: it ends with the first call that replaces
    every failed exercise. If one of these calls passes, the others would change nothing; if not,
    they help to say what is wrong.
    """
    levels: dict[int, set[str]] = {}
    for probe in exercise.probes:
        for place, call in enumerate(probe.calls[1:], start=1):
            levels.setdefault(place, set()).update(call.given)
    replaced = failed & {name for names in levels.values() for name in names}
    enough = min((place for place in levels if replaced <= levels[place]), default=len(levels))
    first = {place for place in levels if failed & levels[place] and place <= enough}
    yield from filter(None, (first, levels.keys() - first))


def judge(trial: Trial) -> Result:
    """Return the result of an exercise that was run."""
    faults = list(_faults(trial))
    upstream = " and ".join(sorted(trial.used_stand_ins))
    note = f"right when given a correct {upstream}" if upstream else ""
    compensated = frozenset[str]() if faults else trial.compensated
    if compensated:
        note = f"right with your {' and '.join(sorted(compensated))}, but not with a correct one"
    return result_of_faults(trial.exercise, faults, note)


def result_of(
    exercise: Exercise,
    outcome: Outcome,
    findings: tuple[Finding, ...] = (),
    note: str = "",
    score: float = 0.0,
    lost: frozenset[str] = frozenset(),
) -> Result:
    """Return an exercise's result; an exercise that could not be graded has no score."""
    return Result(
        id=exercise.id,
        outcome=outcome,
        score=None if outcome is Outcome.COULD_NOT_GRADE else score,
        max_score=exercise.max_score,
        findings=findings,
        note=note,
        bonus=exercise.extension,
        lost=lost,
        title=exercise.title,
        file=exercise.file,
        task=exercise.task is not None,
    )


def could_not_grade(exercise: Exercise, error: Exception) -> Result:
    """Return the result of an exercise for which the grader itself is at fault."""
    reason = printable(str(error)[:MAX_REASON]) or type(error).__name__
    return result_of(exercise, Outcome.COULD_NOT_GRADE, note=reason)


def result_of_faults(exercise: Exercise, faults: list[Fault], note: str = "") -> Result:
    """Combine the faults of one exercise into a result.

    Args:
        note: a short note for the exercise's line if nothing is wrong.
    """
    errors = [error for _, error in faults]
    if any(isinstance(error, NotWrittenYet) for error in errors):
        return result_of(exercise, Outcome.NOT_WRITTEN)
    failed = [(part, error.finding) for part, error in faults if isinstance(error, CheckFailed)]
    if not failed and errors:
        return result_of(exercise, Outcome.BLOCKED, note=f"by {errors[0]}")
    if not failed:
        return result_of(exercise, Outcome.PASSED, note=note, score=exercise.max_score)
    lost = frozenset(part for part, _ in faults)
    score, findings = _score_and_findings(exercise, failed, lost)
    return result_of(exercise, Outcome.FAILED, tuple(findings), score=score, lost=lost)


def _score_and_findings(
    exercise: Exercise, failed: list[tuple[str, Finding]], lost: frozenset[str]
) -> tuple[float, list[Finding]]:
    """Return the remaining points and the first finding of each part; wrong values cost all points.

    Besides wrong values, only a training mistake that was recognized separately gets a finding. A
    part is also lost if its checks were blocked: unchecked parts earn nothing.
    """
    first = dict(reversed(failed))
    if "values" in first:
        values, training = first["values"], first.get("training")
        separate = training and training.mistake and not values.mistake
        return 0.0, [values, training] if training and separate else [values]
    findings = {first[part].headline: first[part] for part in PARTS if part in first}
    left = sum(exercise.points[part] for part in exercise.points if part not in lost)
    return 0.0 if "values" in lost else left, list(findings.values())
