"""The trial of one exercise: its answers, the checks of these, and the result.

Follow-through: a probe is run with the student's own functions and, if the exercise calls others,
also with stand-ins for them. If one of the exercises they replace has failed, the stand-ins decide,
so that a mistake costs points in one exercise only.
"""

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from tensormark.exercise import PARTS, SECOND_CALL, Exercise, Probe
from tensormark.judging.checks import (
    CHECKS,
    Check,
    changed_input,
    examined,
    wrong_gradient,
    wrong_output,
)
from tensormark.judging.compare import Mismatch
from tensormark.judging.evidence import Evidence
from tensormark.judging.findings import OF_OUTPUT, finding
from tensormark.judging.fingerprints import AnsweredCall, changed_state
from tensormark.judging.replies import PLACE_AT_END, hole, mismatch_of, renamed
from tensormark.policy import reasons
from tensormark.result import Finding, Outcome, Result
from tensormark.usage import enumerated
from tensormark.worker.protocol import NOT_ALLOWED


class Fault(NamedTuple):
    """A part of the points that is lost, and why: what makes a finding, or what blocks it."""

    part: str
    find: Callable[[], Finding] | None
    blocked: str = ""


class Verdict(NamedTuple):
    """What one check of a probe has come to.

    Attributes:
        is_right: whether one of the answers that count passes.
        replaced: the failed exercises that stand-ins replace in the first answer that passes.
    """

    check: Check
    probe: Probe
    is_right: bool
    replaced: frozenset[str] = frozenset()


@dataclasses.dataclass
class Trial(Evidence):
    """Judges an exercise; answers of further calls may be added to `answered` before `result`.

    Attributes:
        mismatches: a cache of the mismatch by the answer's id() and the check.
        alone: by the answer's id(), the answer to the same call without others before it.
    """

    alone: dict[int, AnsweredCall] = dataclasses.field(default_factory=dict)
    mismatches: dict[tuple[int, Check], Mismatch | None] = dataclasses.field(default_factory=dict)

    # --- the result ------------------------------------------------------------------------------

    def result(self) -> Result:
        """Return the result; if the function is not written yet, nothing else is checked."""
        if self.unwritten:
            return Result.of(self.exercise, Outcome.NOT_WRITTEN)
        verdicts = list(self.verdicts())
        wrong = [each for each in verdicts if not each.is_right]
        outputs = [each.probe for each in wrong if each.check is wrong_output]
        failing = {each.name for each in outputs if each.of_sizes or each.name == SECOND_CALL}
        judged = [(self.excused(each, failing), each) for each in wrong]
        judged.sort(key=lambda each: each[0])  # of each part, the first is shown
        faults = [self.fault(each.check, each.probe, excused) for excused, each in judged]
        if faults:
            return result_of_faults(self.exercise, faults)
        upstream = enumerated(sorted(set().union(*(each.replaced for each in verdicts))))
        own = enumerated(sorted(self.compensated))
        note = f"right when given a correct {upstream}" if upstream else ""
        if own:
            note = f"right with your {own}, but not with a correct one"
        return Result.of(self.exercise, Outcome.PASSED, self.exercise.max_score, note=note)

    @property
    def unwritten(self) -> bool:
        """Whether the function is still a stub, or a bare `raise NotImplementedError`."""
        targets = self.assignment.targets
        return any(hole(each.reply, targets) == self.exercise.id for each in self.answered)

    def verdicts(self) -> Iterator[Verdict]:
        """Yield the verdict of each check of each probe, in order.

        Gradients and inputs are checked only where the output is right.
        """
        right = []
        for check in CHECKS:
            for probe in self.exercise.probes:
                if check in (wrong_gradient, changed_input) and probe not in right:
                    continue
                if check is wrong_gradient and not any(call.gradients for call in probe.calls):
                    continue
                verdict = self.verdict(check, probe)
                if check is wrong_output and verdict.is_right:
                    right.append(probe)
                yield verdict

    @property
    def undecided(self) -> bool:
        """Whether calls with further stand-ins could change the verdict so far."""
        return not self.unwritten and not all(each.is_right for each in self.verdicts())

    @property
    def doubtful(self) -> Probe | None:
        """The first probe that has no right answer yet with stand-ins for all that is `wrong`."""
        if not self.wrong or self.unwritten:
            return None
        for probe in self.exercise.probes:
            possible = any(self.wrong.issubset(call.given) for call in probe.calls)
            right = any(
                self.mismatch(answered, wrong_output) is None
                for answered in self.answers_to(probe)
                if self.wrong.issubset(answered.call.given)
            )
            if probe.examine is None and possible and not right:
                return probe
        return None

    @property
    def compensated(self) -> frozenset[str]:
        """The wrong exercises upstream without which this one, which has passed, would be wrong."""
        doubtful = self.doubtful
        if doubtful is None:
            return frozenset()
        return self.wrong - self.verdict(wrong_output, doubtful).replaced

    @property
    def flags(self) -> tuple[str, ...]:
        """What staff may want to know: faults in judging it."""
        return tuple(
            f"{self.exercise.id}: an answer made the grader raise {trouble}"
            for trouble in dict.fromkeys(self.troubles)
        )

    # --- one check of one probe ------------------------------------------------------------------

    def verdict(self, check: Check, probe: Probe) -> Verdict:
        """Return the verdict of one check of a probe."""
        for number, answered in enumerate(self.answers_to(probe)):
            replaced = self.failed.intersection(answered.call.given)
            if (number == 0 or replaced) and self.mismatch(answered, check) is None:
                return Verdict(check, probe, True, replaced)
        return Verdict(check, probe, False)

    def excused(self, verdict: Verdict, failing: set[str]) -> bool:
        """Return whether a wrong output may have a cause that already costs the properties.

        It may if the probe is in other sizes or calls twice, and the probes of that fail; if its
        call is right alone, but not after others; or if a call in training changes a mode, seed or
        rate.

        Args:
            failing: the names of the probes of other sizes and of a second call that fail.
        """
        probe = verdict.probe
        if verdict.check is not wrong_output or probe.part == "properties":
            return False
        call = probe.calls[0]
        resized = call.sizes.letters != self.exercise.calls[0].sizes.letters
        changed = probe.part == "training" and changed_state(self.answers_to(probe)[0].reply)
        return bool(
            changed
            or (call.twice and SECOND_CALL in failing)
            or (resized and failing - {SECOND_CALL})
            or self.carries_over(self.answers_to(probe)[-1])
        )

    def carries_over(self, answered: AnsweredCall) -> bool:
        """Return whether a call is wrong only because of the calls before it.

        That is so if the exercise's first call is right, and this one is when it is made alone.
        """
        first = self.exercise.probes[0]
        mismatch = self.mismatch(answered, wrong_output)
        if mismatch is None or mismatch.kind not in OF_OUTPUT or answered.probe is first:
            return False
        if self.again is None or not self.verdict(wrong_output, first).is_right:
            return False
        if id(answered) not in self.alone:
            self.alone[id(answered)] = self.again(answered, alone=True)
        return self.mismatch(self.alone[id(answered)], wrong_output) is None

    def fault(self, check: Check, probe: Probe, excused: bool) -> Fault:
        """Return the fault of a probe without a right answer that counts.

        Its finding describes the most informative answer.
        """
        part = probe.part if check is wrong_output and not excused else "properties"
        answers = self.answers_to(probe)
        mismatches = [self.mismatch(answered, check) for answered in answers]
        wrong = [(a, m) for a, m in zip(answers, mismatches, strict=True) if m is not None]
        judged = [(answered, m) for answered, m in wrong if m.kind != "blocked"]
        if not judged and len(wrong) == len(answers):
            return Fault(part, None, ", ".join(sorted({mismatch.name for _, mismatch in wrong})))
        answered, mismatch = most_telling(judged or wrong, answers[0], self.failed)
        together = ""
        asked = check is not wrong_gradient or answers[-1].call.gradients
        if mismatches[-1] is None and asked:
            *names, last = answers[-1].call.given
            those = ", ".join([self.exercise.id, *names])
            together = f"{those} and {last} pass alone, but not together"
        if mismatch.kind == "forbidden":
            part = "values"
        kept = check is wrong_output and self.carries_over(answered)
        return Fault(part, functools.partial(finding, self, answered, mismatch, together, kept))

    @functools.cached_property
    def forbidden(self) -> dict[str, str]:
        """What this exercise's function may not use, by the names in messages, and why."""
        policy = self.assignment.policy
        return reasons(policy.forbidden, policy.given_only, self.exercise.forbidden)

    def mismatch(self, answered: AnsweredCall, check: Check) -> Mismatch | None:
        """Return what is wrong with one answer, or None."""
        reply = answered.reply
        if answered.was_not_called:
            return None
        if reply.status == "ok":
            key = id(answered), check
            if key not in self.mismatches:
                mismatch = examined(self, answered, check)
                if mismatch is not None and mismatch.kind != "changed":
                    mismatch = renamed(answered) or mismatch
                self.mismatches[key] = mismatch
            return self.mismatches[key]
        if check is not wrong_output:
            return None  # that there is no output is what is wrong
        name = reply.message.get("forbidden")
        if name in self.forbidden:
            place = PLACE_AT_END.search(reply.text)
            rule = f"{NOT_ALLOWED.format(name)}: {self.forbidden[name]}"
            return Mismatch("forbidden", name, (rule + (place[0] if place else ""),))
        return mismatch_of(answered, self.assignment, self.others)


def most_telling(
    judged: Sequence[tuple[AnsweredCall, Mismatch]], own: AnsweredCall, wrong: Collection[str]
) -> tuple[AnsweredCall, Mismatch]:
    """Choose the mismatch to show: that of the answer that depends least on other exercises.

    If an exercise upstream has failed, that is the answer with most stand-ins, as the failure may
    cause all else; if none has, that of the student's own functions, which the student can print:
    those with stand-ins only help to recognize the mistake. An exception raised only with stand-ins
    is shown only if the grader worded it: it then says how the function is called wrongly.

    Args:
        own: the answer of the student's own functions; if judged, it comes first.
        wrong: the upstream exercises that have failed.
    """
    first, own_mismatch = judged[0]
    last, mismatch = judged[-1]
    if first is not own or last is own:
        return last, mismatch
    raised = mismatch.kind == "raised"
    worded = raised and last.reply.status != "lost" and not last.reply.text.startswith("raised ")
    if own_mismatch.kind == "raised":
        if wrong:
            return last, mismatch
        own_lines = own_mismatch.lines
        more = [line for line in mismatch.lines if worded and line not in own_lines]
        return first, dataclasses.replace(own_mismatch, lines=(*own_lines, *more))
    if (raised and not worded) or not (raised or wrong):
        return first, own_mismatch
    return last, mismatch


def result_of_faults(exercise: Exercise, faults: Sequence[Fault]) -> Result:
    """Combine the faults of one exercise into a result; wrong values cost all points.

    There is one finding for each part. Besides wrong values, only a training mistake that was
    recognized separately gets one. A part is also lost if its checks were blocked: unchecked parts
    earn nothing.
    """
    finds = {fault.part: fault.find for fault in reversed(faults) if fault.find is not None}
    if not finds:
        return Result.of(exercise, Outcome.BLOCKED, note=f"by {faults[0].blocked}")
    found = {part: finds[part]() for part in PARTS if part in finds}
    lost = frozenset(fault.part for fault in faults)
    score = sum(points for part, points in exercise.points.items() if part not in lost)
    findings = {each.headline: each for each in found.values()}
    values = found.get("values")
    if values is not None:
        training = found.get("training")
        findings = {"values": values}
        if training is not None and training.mistake and not values.mistake:
            findings["training"] = training
    return Result.of(
        exercise,
        Outcome.FAILED,
        0.0 if "values" in lost else score,
        findings=tuple(findings.values()),
        lost=lost,
    )
