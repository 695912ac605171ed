"""The trial of one exercise: its calls, their answers, the checks of these, and the result.

Follow-through: a probe is run with the student's own functions and, if the exercise calls others,
also with stand-ins for them. If one of the exercises they replace has failed, the stand-ins decide,
so that a mistake costs points in one exercise only.

If judging an answer raises an exception, the answer is at fault if the same check judges the right
answer without one and then raises on this answer again: the check, the references and the machine
work, so the cause is in the answer. The answer then fails that check and no other. The grader is at
fault if the right answer raises too: then no answer can be judged, which costs no points. If a bug
of ours cannot handle a wrong answer, that counts as the answer's fault: it is not the right answer,
so the check could not have passed, and the trouble is noted for the maintainers. Code that only
describes a failed answer decides nothing: if it raises, there is no description.
"""

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tensormark.exercise import PARTS, Assignment, Call, Exercise, Probe
from tensormark.handout import POINTER
from tensormark.judging.compare import Axes, Mismatch, Tolerance, compare, compare_all
from tensormark.judging.diagnose import PAIR, Diagnosis, diagnose, one_sentence
from tensormark.judging.excerpt import excerpt
from tensormark.judging.fingerprints import (
    AnsweredCall,
    Observation,
    changed_state,
    observe,
    tolerance_kind,
)
from tensormark.judging.general import general
from tensormark.judging.replies import PLACE_AT_END, hole, mismatch_of, renamed, texts
from tensormark.policy import usual_names
from tensormark.references import under
from tensormark.result import FORBIDDEN, Finding, Outcome, Result
from tensormark.sandbox.interface import Reply
from tensormark.trouble import trouble_in

Examine = Callable[["Trial", AnsweredCall], Mismatch | None]
Description = TypeVar("Description")
MAX_ENTERED = 32  # names of library code that are shown


class Fault(NamedTuple):
    """A part of the points that is lost, and why: a finding, or the exercises that block it."""

    part: str
    finding: Finding | None
    blocked: str = ""


@dataclasses.dataclass
class Trial:
    """Everything that the checks of one exercise need.

    Attributes:
        answered: the answered calls, those of the student's own functions first.
        entry: the manifest's entry for the exercise: tolerances and known wrong variants.
        results: those of the exercises so far, by id.
        public: whether values of inputs and references may be shown.
        others: the names of modules that were handed in but are not graded.
        used_stand_ins: exercises whose stand-ins decided; filled in while judging.
        troubles: messages for the maintainers; filled in while judging.
        mismatches: a cache of the mismatch by the answer's id() and the check.
    """

    assignment: Assignment
    exercise: Exercise
    answered: list[AnsweredCall]
    entry: Mapping[str, Any]
    results: Mapping[str, Result]
    public: bool = False
    others: Collection[str] = ()
    used_stand_ins: set[str] = dataclasses.field(default_factory=set)
    troubles: list[str] = dataclasses.field(default_factory=list)
    mismatches: dict[tuple[int, Examine], Mismatch | None] = dataclasses.field(default_factory=dict)

    # --- the result ------------------------------------------------------------------------------

    def result(self) -> Result:
        """Return the result; if the function is not written yet, nothing else is checked."""
        if self.unwritten:
            return Result.of(self.exercise, Outcome.NOT_WRITTEN)
        every = [self.fault(check, probe) for check, probe in self.checks()]
        faults = [fault for fault in every if fault is not None]
        upstream = " and ".join(sorted(self.used_stand_ins))
        note = f"right when given a correct {upstream}" if upstream else ""
        compensated = frozenset[str]() if faults else self.compensated
        if compensated:
            own = " and ".join(sorted(compensated))
            note = f"right with your {own}, but not with a correct one"
        return result_of_faults(self.exercise, faults, note)

    @property
    def unwritten(self) -> bool:
        """Whether the function is still a stub, or a bare `raise NotImplementedError`."""
        targets = self.assignment.targets
        return any(hole(each.reply, targets) == self.exercise.id for each in self.answered)

    def checks(self) -> Iterator[tuple["Check", Probe]]:
        """Yield what is checked, in order."""
        for check in CHECKS:
            for probe in filter(check.applies, self.exercise.probes):
                yield check, probe

    @property
    def undecided(self) -> bool:
        """Whether calls with further stand-ins could change the verdict so far."""
        return not self.unwritten and any(
            self.deciding_stand_ins(probe, check.examine) is None for check, probe in self.checks()
        )

    @property
    def doubtful(self) -> list[Probe]:
        """The probes that so far pass only together with wrong exercises upstream, if at all."""
        if not self.wrong or self.unwritten:
            return []
        return [
            probe
            for probe in self.exercise.probes
            if probe.examine is None
            if any(self.wrong.issubset(call.given) for call in probe.calls)
            if not any(
                self.wrong.issubset(answered.call.given)
                and self.mismatch(answered, Trial.wrong_output) is None
                for answered in self.answers_to(probe)
            )
        ]

    @property
    def compensated(self) -> frozenset[str]:
        """The wrong exercises upstream without which this one, which has passed, would be wrong."""
        if not self.doubtful:
            return frozenset()
        used = self.deciding_stand_ins(self.doubtful[0], Trial.wrong_output) or frozenset()
        return self.wrong - used

    @property
    def flags(self) -> tuple[str, ...]:
        """What staff may want to know: library code that ran, and faults in judging it.

        The worker says what ran, so nothing depends on it.
        """
        troubles = [*(answered.reply.trouble for answered in self.answered), *self.troubles]
        raised = [
            f"an answer made the grader raise {each}" for each in dict.fromkeys(troubles) if each
        ]
        ran = list(dict.fromkeys(name for a in self.answered for name in texts(a.reply, "entered")))
        if len(ran) > MAX_ENTERED:
            ran = [*ran[:MAX_ENTERED], f"{len(ran) - MAX_ENTERED} more"]
        library = [f"library code that ran: {', '.join(ran)}"] if ran else []
        return tuple(f"{self.exercise.id}: {flag}" for flag in (*library, *raised))

    # --- one check of one probe ------------------------------------------------------------------

    @functools.cached_property
    def failed(self) -> frozenset[str]:
        """The exercises that this one calls and that have not passed."""
        upstream = self.exercise.upstream
        results = self.results.values()
        return frozenset(
            r.id for r in results if r.id in upstream and r.outcome is not Outcome.PASSED
        )

    @property
    def wrong(self) -> frozenset[str]:
        """Those of them whose values are wrong."""
        results = [self.results[name] for name in self.failed]
        return frozenset(
            r.id for r in results if r.outcome is Outcome.FAILED and not r.right_values
        )

    def answers_to(self, probe: Probe) -> list[AnsweredCall]:
        """Return a probe's answers, that of the student's own functions first."""
        return [answered for answered in self.answered if answered.probe is probe]

    def deciding_stand_ins(self, probe: Probe, examine: Examine) -> frozenset[str] | None:
        """Return which failed exercises the first right answer replaces; None: none is right."""
        for number, answered in enumerate(self.answers_to(probe)):
            replaced = self.failed.intersection(answered.call.given)
            if (number == 0 or replaced) and self.mismatch(answered, examine) is None:
                return replaced
        return None

    def fault(self, check: "Check", probe: Probe) -> Fault | None:
        """Examine a probe's answers; return None if one of those that count is right.

        The finding is that of the most informative answer.
        """
        stood_in = self.deciding_stand_ins(probe, check.examine)
        if stood_in is not None:
            self.used_stand_ins |= stood_in
            return None
        part = check.part or probe.part
        answers = self.answers_to(probe)
        mismatches = [self.mismatch(answered, check.examine) for answered in answers]
        wrong = [(a, m) for a, m in zip(answers, mismatches, strict=True) if m is not None]
        judged = [(a, m) for a, m in wrong if m.kind != "blocked"]
        if not judged and len(wrong) == len(answers):
            return Fault(part, None, ", ".join(sorted({mismatch.name for _, mismatch in wrong})))
        targets = self.assignment.targets.items()
        failed = [target for target, name in targets if name in self.failed]
        answered, mismatch, more = most_telling(judged or wrong, answers[0], failed)
        if mismatch.kind == "forbidden":
            section = self.assignment.policy.section
            read = (f'read: handout.md, "{section}"',) if section else ()
            return Fault("values", Finding(mismatch.lines[0], read, FORBIDDEN))
        if mismatch.headline and mismatch.kind == "raised":  # the file cannot be imported
            about = [*mismatch.lines, mismatch.headline]
            explained = self.assignment.handout.explanation(self.exercise.id, about)
            advice = [] if mismatch.advised else explained
            return Fault(part, Finding(mismatch.headline, (*mismatch.lines, *advice)))
        together: list[str] = []
        if mismatches[-1] is None:
            *names, last = answers[-1].call.given
            those = ", ".join([self.exercise.id, *names])
            together.append(f"{those} and {last} pass alone, but not together")
        return Fault(part, self.finding(probe, answered, mismatch, more, together))

    @functools.cached_property
    def forbidden(self) -> frozenset[str]:
        """What this exercise's function may not use, by the names in messages."""
        policy = self.assignment.policy
        paths = [*policy.forbidden, *policy.given_only, *self.exercise.forbidden]
        return frozenset(usual_names(paths).values())

    def mismatch(self, answered: AnsweredCall, examine: Examine) -> Mismatch | None:
        """Return what is wrong with one answer, or None."""
        reply = answered.reply
        if answered.was_not_called:
            return None
        if reply.status == "ok":
            key = id(answered), examine
            if key not in self.mismatches:
                mismatch = self.examined(answered, examine)
                if mismatch is not None and mismatch.kind != "changed":
                    mismatch = renamed(answered) or mismatch
                self.mismatches[key] = mismatch
            return self.mismatches[key]
        name = reply.message.get("forbidden")
        if name in self.forbidden:
            place = PLACE_AT_END.search(reply.text)
            rule = f"{name} is not allowed in this assignment: it is what you are asked to write"
            return Mismatch("forbidden", name, (rule + (place[0] if place else ""),))
        return mismatch_of(answered, self.assignment, self.others)

    def examined(self, answered: AnsweredCall, examine: Examine) -> Mismatch | None:
        """Return what a check finds wrong with an answer, or None; an answer that breaks it fails.

        Raises:
            Exception: the grader is at fault.
        """
        try:
            return examine(self, answered)
        except Exception:
            examine(self, _right_answer(answered))
        try:
            return examine(self, answered)
        except Exception as error:
            trouble = trouble_in(error)
            self.troubles.append(trouble)
            says = f"its answer could not be compared: {trouble.split(' ')[0]}"
            return Mismatch("unreadable", answered.call.target, (says,))

    # --- in words --------------------------------------------------------------------------------

    def attempt(
        self, describe: Callable[..., Description], default: Description, *args: object
    ) -> Description:
        """Return a description of a failed answer, or `default` if describing it raises."""
        try:
            return describe(*args)
        except Exception as error:
            self.troubles.append(trouble_in(error))
            return default

    def finding(
        self,
        probe: Probe,
        answered: AnsweredCall,
        mismatch: Mismatch,
        more: Sequence[str],
        together: Sequence[str],
    ) -> Finding:
        """Describe what is wrong with the answer that tells most.

        Args:
            more: further lines.
            together: a line that is true if each of some exercises is right alone, or none.
        """
        handout = self.assignment.handout
        independent = [each for each in self.answered if self.failed.issubset(each.call.given)]
        mistakes: tuple[str, ...] = self.attempt(self.mistakes_shown, (), probe, mismatch)
        common = self.attempt(general, None, answered, mismatch, independent)
        details = [*mismatch.lines]
        if mismatch.numbers and self.public:
            details.append(mismatch.numbers)
        details += more
        sections = ""
        place: list[str] = []
        if mistakes:
            headline, sections = self.in_words(mistakes)
        elif mismatch.kind == "raised":
            headline = details.pop(0)
        elif common is not None:
            headline = common.says
            details += filter(None, [common.more])
        else:
            headline = mismatch.headline or probe.says
            place = self.attempt(self.place, [], probe, answered, mismatch)
            details += [*place, *together]
        if common is not None and common.id is not None and not mistakes:
            mistakes = (common.id,)
        if mismatch.numbers and probe.part == "training" and headline != probe.says:
            details.insert(0, probe.says)  # numbers need the rate
        # the handout's advice on wrong values does not help if there are none to compare
        unlike = headline == probe.says and mismatch.kind in ("names", "shape", "unreadable")
        about = details if unlike and probe.part == "values" else [*place, headline, *details]
        details += handout.explanation(self.exercise.id, about)
        details.append(f"{POINTER}{handout.place(self.exercise.id)}{sections}")
        shown = self.attempt(self.excerpt, None, answered, mismatch)
        return Finding(headline, tuple(details), "|".join(mistakes) or None, shown)

    def excerpt(self, answered: AnsweredCall, mismatch: Mismatch) -> dict[str, Any] | None:
        """Return where an array's values are wrong, or None if they are not or are private."""
        if mismatch.pair is None or not self.public:
            return None
        inputs = answered.recording.inputs
        return excerpt(mismatch.pair, self.axes, self.assignment.padding(inputs))

    def place(self, probe: Probe, answered: AnsweredCall, mismatch: Mismatch) -> list[str]:
        """Return a line that says where an output is wrong, or no lines if that is unclear."""
        expected = answered.recording.outputs.get(mismatch.name)
        got = answered.reply.tensors.get(f"out/{mismatch.name}")
        if mismatch.kind not in ("values", "shape") or probe.part == "properties":
            return []
        if expected is None or got is None:
            return []
        locate = self.exercise.locate or self.assignment.locate
        with np.errstate(all="ignore"):
            place = locate(got, expected, answered.recording.inputs)
        return [] if place is None else [place]

    @functools.cached_property
    def diagnosis(self) -> Diagnosis:
        """The known mistakes that explain the observations."""
        variants = self.entry["variants"]
        counts = {name: variant["seen"] for name, variant in variants.items() if "seen" in variant}
        return diagnose(self.levels(), self.entry["rows"], counts)

    def mistakes_shown(self, probe: Probe, mismatch: Mismatch) -> tuple[str, ...]:
        """Return the mistakes that explain why a probe failed, and how."""
        diagnosis = self.diagnosis
        if diagnosis.partly and mismatch.kind == "raised":
            return ()
        if not diagnosis.mistakes and diagnosis.training and probe.part == "training":
            return (diagnosis.training,)
        return diagnosis.mistakes

    def in_words(self, mistakes: Sequence[str]) -> tuple[str, str]:
        """Describe recognized mistakes in words, and name the handout's sections on them."""
        variants = self.entry["variants"]
        says = [one_sentence([variants[name]["says"] for name in m.split(PAIR)]) for m in mistakes]
        sections = {variants[name]["section"]: None for m in mistakes for name in m.split(PAIR)}
        either = "either " if len(says) > 1 else ""
        return either + " or ".join(says), ", " + " and ".join(f'"{part}"' for part in sections)

    def levels(self) -> Iterator[list[Observation]]:
        """Yield the observations, those that depend least on other exercises first.

        Calls that run a failed exercise say nothing about this one, and are left out.
        """
        grouped = [self.answers_to(probe) for probe in self.exercise.probes]
        grouped = [answers for answers in grouped if not answers[0].was_not_called]
        for level in reversed(range(max(map(len, grouped)))):
            chosen = [answers[min(level, len(answers) - 1)] for answers in grouped]
            if all(self.failed.issubset(answered.call.given) for answered in chosen):
                yield [observe(answered, self.tolerance) for answered in chosen]

    def tolerance(self, name: str, call: Call) -> Tolerance:
        """Return the tolerance of a tensor of a call."""
        return Tolerance(**self.entry["tolerance"][tolerance_kind(name, call)])

    @property
    def axes(self) -> Axes:
        """The names of the axes of outputs."""
        return self.assignment.axes if self.exercise.axes is None else self.exercise.axes

    # --- the checks ------------------------------------------------------------------------------

    def wrong_output(self, answered: AnsweredCall) -> Mismatch | None:
        """Compare outputs with the reference's; if they are random, only their form."""
        call = answered.call
        tolerance = None if answered.probe.draws(call) else self.tolerance("out/", call)
        got = under(answered.reply.tensors, "out/")
        return compare_all(got, answered.recording.outputs, tolerance, call.dtype, self.axes)

    def wrong_draw(self, answered: AnsweredCall) -> Mismatch | None:
        """Let the probe examine random outputs."""
        mismatch = self.wrong_output(answered)
        examine = answered.probe.examine
        if mismatch is not None or examine is None or answered.call.deterministic:
            return mismatch
        with np.errstate(all="ignore"):  # a wrong output may be arbitrarily large
            wrong = examine(under(answered.reply.tensors, "out/"), answered.recording.inputs)
        return Mismatch("draw", "output", (), wrong) if wrong else None

    def wrong_gradient(self, answered: AnsweredCall) -> Mismatch | None:
        """Compare gradients with the reference's; none may be missing."""
        got = under(answered.reply.tensors, "grad/")
        call = answered.call
        for name, expected in answered.recording.gradients.items():
            called = name.removeprefix("weights/")
            if name not in got:
                return Mismatch("gradient", called, (f"no gradient reaches {called}",))
            words = f"the gradient of {called}"
            axes = self.axes if called == name else {}  # a weight's are not those of an output
            tolerance = self.tolerance(name, call)
            mismatch = compare(words, got[name], expected, tolerance, call.dtype, axes)
            if mismatch is not None:
                headline = "the output is right, but its gradients are wrong"
                return dataclasses.replace(mismatch, kind="gradient", headline=headline)
        return None

    def changed_input(self, answered: AnsweredCall) -> Mismatch | None:
        """Check that the call did not change its inputs."""
        inputs = answered.recording.inputs
        for name, value in under(answered.reply.tensors, "after/").items():
            if name in inputs and not np.array_equal(value, inputs[name].astype(value.dtype)):
                return Mismatch("changed", name, (f"the call changes {name} in place",))
        return None

    def changed_state(self, answered: AnsweredCall) -> Mismatch | None:
        """Check that the call did not change torch's global state or the model's mode."""
        changed = changed_state(answered.reply)
        if changed is None:
            return Mismatch("changed", "state", ("the worker did not report its state",))
        if not changed:
            return None
        lines = (f"the call changes {', '.join(name[:40] for name in changed[:10])}",)
        headline = "the call changes something other than its output"
        return Mismatch("changed", changed[0], lines, headline)

    def changed_by_import(self, answered: AnsweredCall) -> Mismatch | None:
        """Check that importing the exercise's file changed nothing."""
        file = self.exercise.file
        changed = texts(answered.reply, "imported")
        # only the first exercise of a file is charged
        if not changed or any(result.file == file for result in self.results.values()):
            return None
        lines = (f"importing {file} changes {', '.join(changed)}",)
        return Mismatch("changed", file, lines, f"importing {file} changes a global setting")


@dataclasses.dataclass(frozen=True)
class Check:
    """One thing to check in the answers to probes.

    Attributes:
        examine: the trial's method that checks one answer.
        part: the part of the points that a failure costs; "": the probe's part.
        applies: whether to check a probe.
    """

    examine: Examine
    part: str = ""
    applies: Callable[[Probe], bool] = lambda probe: True


CHECKS = (
    Check(Trial.wrong_output, applies=lambda probe: probe.examine is None),
    Check(Trial.wrong_draw, applies=lambda probe: probe.examine is not None),
    Check(
        Trial.wrong_gradient,
        "properties",
        lambda probe: any(call.gradients for call in probe.calls),
    ),
    Check(Trial.changed_input, "properties"),
    Check(Trial.changed_state, "properties"),
    Check(Trial.changed_by_import, "properties"),
)


def _right_answer(answered: AnsweredCall) -> AnsweredCall:
    """Return the call with the solution's recorded answer."""
    tensors = {
        name: value.astype(answered.call.dtype) if value.dtype.kind == "f" else value
        for name, value in answered.expected.items()
    }
    message = {"status": "ok", "changed": []}
    return dataclasses.replace(answered, reply=Reply("ok", "", message, tensors))


def most_telling(
    judged: Sequence[tuple[AnsweredCall, Mismatch]], own: AnsweredCall, wrong: Collection[str]
) -> tuple[AnsweredCall, Mismatch, list[str]]:
    """Choose the mismatch to show: that of the answer that depends least on other exercises.

    An exception from the student's own functions comes first, as the student sees it too, unless it
    passed through a failed upstream function: then what the call with most stand-ins does counts.
    An exception raised only with stand-ins is shown only if the grader worded it: it then says how
    the function is called wrongly. If no exercise upstream has failed, wrong values are those of
    the student's own functions, which the student can print: those with stand-ins only help to
    recognize the mistake.

    Args:
        own: the answer of the student's own functions; if judged, it comes first.
        wrong: the upstream functions that have failed.

    Returns: the answer, its mismatch, and further lines.
    """
    first, own_mismatch = judged[0]
    last, mismatch = judged[-1]
    if first is not own or last is own:
        return last, mismatch, []
    raised = mismatch.kind == "raised"
    worded = raised and last.reply.status == "error" and not last.reply.text.startswith("raised ")
    if own_mismatch.kind == "raised":
        if set(texts(first.reply, "through")).intersection(wrong):
            return last, mismatch, []
        more = [line for line in mismatch.lines if worded and line not in own_mismatch.lines]
        return first, own_mismatch, more
    if (raised and not worded) or not (raised or wrong):
        return first, own_mismatch, []
    return last, mismatch, []


def result_of_faults(exercise: Exercise, faults: Sequence[Fault], note: str = "") -> Result:
    """Combine the faults of one exercise into a result; wrong values cost all points.

    There is one finding for each part. Besides wrong values, only a training mistake that was
    recognized separately gets one. A part is also lost if its checks were blocked: unchecked parts
    earn nothing.

    Args:
        note: a short note for the exercise's line if nothing is wrong.
    """
    if not faults:
        return Result.of(exercise, Outcome.PASSED, exercise.max_score, note=note)
    first = {fault.part: fault.finding for fault in reversed(faults) if fault.finding is not None}
    if not first:
        return Result.of(exercise, Outcome.BLOCKED, note=f"by {faults[0].blocked}")
    lost = frozenset(fault.part for fault in faults)
    score = sum(points for part, points in exercise.points.items() if part not in lost)
    findings = {first[part].headline: first[part] for part in PARTS if part in first}
    values = first.get("values")
    if values is not None:
        training = first.get("training")
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
