"""The trial of one exercise: its calls, their answers, the expected answers, and the verdict.

Follow-through: a probe is run with the student's own functions and, if the exercise calls others,
also with stand-ins for them. If one of the exercises they replace has failed, the stand-ins decide,
so that a mistake costs points in one exercise only.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tensormark.exercise import Assignment, Call, Exercise, Probe
from tensormark.handout import POINTER
from tensormark.judging.compare import Axes, Mismatch, Tolerance, compare, compare_all, compare_form
from tensormark.judging.diagnose import PAIR, Diagnosis, diagnose, one_sentence
from tensormark.judging.excerpt import excerpt
from tensormark.judging.faults import attempt, examine_answer
from tensormark.judging.fingerprints import (
    AnsweredCall,
    Observation,
    changed_state,
    lacks_state,
    observe,
    tolerance_kind,
)
from tensormark.judging.general import General, general
from tensormark.judging.raised import hole, mismatch_of, most_telling, not_allowed, renamed, texts
from tensormark.judging.student_text import PLACE_AT_END
from tensormark.policy import usual_names
from tensormark.references import under
from tensormark.result import Blocked, CheckFailed, Finding

Examine = Callable[["Trial", AnsweredCall], Mismatch | None]


@dataclasses.dataclass
class Trial:
    """Everything that the checks of one exercise need.

    Attributes:
        answered: the answered calls, those of the student's own functions first.
        failed: upstream exercises that have not passed.
        entry: the manifest's entry for the exercise: tolerances and known wrong variants.
        first_of_file: no other exercise of its file has been judged, so this one is charged for
            the side effects of importing the file.
        public: whether values of inputs and references may be shown.
        wrong: the upstream exercises whose values are wrong.
        used_stand_ins: exercises whose stand-ins decided; filled in while judging.
        troubles: messages for the maintainers; filled in while judging.
        mismatches: a cache of the mismatch by the answer's id() and the check.
    """

    assignment: Assignment
    exercise: Exercise
    answered: list[AnsweredCall]
    entry: Mapping[str, Any]
    failed: frozenset[str]
    first_of_file: bool = False
    public: bool = False
    wrong: frozenset[str] = frozenset()
    used_stand_ins: set[str] = dataclasses.field(default_factory=set)
    troubles: list[str] = dataclasses.field(default_factory=list)
    mismatches: dict[tuple[int, Examine], Mismatch | None] = dataclasses.field(default_factory=dict)

    @property
    def unwritten(self) -> bool:
        """Whether the function is still a stub, or a bare `raise NotImplementedError`."""
        return any(
            hole(answered.reply, self.targets) == self.exercise.id for answered in self.answered
        )

    @functools.cached_property
    def forbidden(self) -> frozenset[str]:
        """What this exercise's function may not use, by the names in messages."""
        policy = self.assignment.policy
        paths = [*policy.forbidden, *policy.given_only, *self.exercise.forbidden]
        return frozenset(usual_names(paths).values())

    @property
    def targets(self) -> Mapping[str, str]:
        """The functions that students write, to the ids of their exercises."""
        return self.assignment.targets

    @property
    def suspect(self) -> frozenset[str]:
        """The exercises that this one calls and that have failed."""
        return self.failed.intersection(self.exercise.upstream)

    def answers_to(self, probe: Probe) -> list[AnsweredCall]:
        """Return a probe's answers, that of the student's own functions first."""
        return [answered for answered in self.answered if answered.probe is probe]

    def judge(self, probe: Probe, examine: Examine) -> None:
        """Examine a probe's answers; pass if one of those that count is right.

        Raises:
            CheckFailed: none is right; the finding is that of the most informative answer.
            Blocked: no call could run, because other exercises are not written yet.
        """
        stood_in = self.deciding_stand_ins(probe, examine)
        if stood_in is None:
            answers = self.answers_to(probe)
            raise self.verdict(answers, [self.mismatch(answered, examine) for answered in answers])
        self.used_stand_ins |= stood_in

    def deciding_stand_ins(self, probe: Probe, examine: Examine) -> frozenset[str] | None:
        """Return which failed exercises the first right answer replaces; None: none is right."""
        for number, answered in enumerate(self.answers_to(probe)):
            replaced = self.failed.intersection(answered.call.given)
            if (number == 0 or replaced) and self.mismatch(answered, examine) is None:
                return replaced
        return None

    @property
    def doubtful(self) -> list[Probe]:
        """The probes that so far pass only together with wrong exercises upstream, if at all."""
        suspects = self.wrong.intersection(self.exercise.upstream)
        if not suspects or self.unwritten:
            return []
        return [
            probe
            for probe in self.exercise.probes
            if probe.examine is None
            if any(suspects.issubset(call.given) for call in probe.calls)
            if not any(
                suspects.issubset(answered.call.given)
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
        return self.wrong.intersection(self.exercise.upstream) - used

    def mismatch(self, answered: AnsweredCall, examine: Examine) -> Mismatch | None:
        """Return what is wrong with one answer, or None."""
        if answered.was_not_called:
            return None
        if answered.reply.status == "ok":
            key = id(answered), examine
            if key not in self.mismatches:
                check = functools.partial(examine, self)
                mismatch = examine_answer(check, answered, self.troubles.append)
                if mismatch is not None and mismatch.kind != "changed":
                    mismatch = renamed(answered) or mismatch
                self.mismatches[key] = mismatch
            return self.mismatches[key]
        if (name := answered.reply.message.get("forbidden")) in self.forbidden:
            place = PLACE_AT_END.search(answered.reply.text)
            rule = f"{name} is not allowed in this assignment: it is what you are asked to write"
            return Mismatch("forbidden", name, (rule + (place[0] if place else ""),))
        return mismatch_of(answered, self.targets)

    def verdict(
        self, answers: Sequence[AnsweredCall], mismatches: Sequence[Mismatch | None]
    ) -> Exception:
        """Choose the message: that of the answer that depends least on other exercises."""
        own, *others = answers
        wrong = [(a, f) for a, f in zip(answers, mismatches, strict=True) if f is not None]
        if all(mismatch and mismatch.kind == "blocked" for mismatch in mismatches):
            return Blocked(", ".join(sorted({mismatch.name for _, mismatch in wrong})))
        judged = [pair for pair in wrong if pair[1].kind != "blocked"] or wrong
        wrong_targets = [target for target, name in self.targets.items() if name in self.suspect]
        answered, mismatch, more = most_telling(judged, own, wrong_targets)
        if mismatch.kind == "forbidden":
            return not_allowed(mismatch.lines[0], self.assignment.policy.section)
        handout = self.assignment.handout
        if mismatch.headline and mismatch.kind == "raised":  # the file cannot be imported
            about = [*mismatch.lines, mismatch.headline]
            advice = [] if answered.reply.advice else handout.explanation(self.exercise.id, about)
            return CheckFailed(Finding(mismatch.headline, (*mismatch.lines, *advice)))
        mistakes, common, place, excerpt = self.descriptions(own, answered, mismatch)
        details = [
            *mismatch.lines,
            *([mismatch.numbers] if mismatch.numbers and self.public else []),
            *more,
        ]
        sections = ""
        shown: list[str] = []
        if mistakes:
            headline, sections = self.in_words(mistakes)
        elif mismatch.kind == "raised":
            headline = details.pop(0)
        elif common is not None:
            headline = common.says
            details += filter(None, [common.more])
        else:
            headline = mismatch.headline or own.probe.says
            shown = place
            details += shown
            if mismatches[-1] is None:
                *names, last = self.exercise.id, *others[-1].call.given
                details.append(f"{', '.join(names)} and {last} pass alone, but not together")
        if common is not None and common.id is not None and not mistakes:
            mistakes = (common.id,)
        if mismatch.numbers and own.probe.part == "training" and headline != own.probe.says:
            details.insert(0, own.probe.says)  # numbers need the rate
        # the handout's advice on wrong values does not help if there are none to compare
        unlike = headline == own.probe.says and mismatch.kind in ("names", "shape", "unreadable")
        lines = [*shown, headline, *details]
        about = details if unlike and own.probe.part == "values" else lines
        details += handout.explanation(self.exercise.id, about)
        details.append(f"{POINTER}{handout.place(self.exercise.id)}{sections}")
        return CheckFailed(Finding(headline, tuple(details), "|".join(mistakes) or None, excerpt))

    def descriptions(
        self, own: AnsweredCall, answered: AnsweredCall, mismatch: Mismatch
    ) -> tuple[tuple[str, ...], General | None, list[str], dict[str, Any] | None]:
        """Describe what is wrong with an answer, as far as possible.

        Returns:
            The ids of the known mistakes that explain it; a mistake that any function can have;
            a line that says where the output is wrong, or none; and the excerpt of an array.
        """
        independent = [each for each in self.answered if self.suspect.issubset(each.call.given)]
        note = self.troubles.append
        located = mismatch.kind in ("values", "shape") and own.probe.part != "properties"
        return (
            attempt(lambda: self.mistakes_shown(own.probe, mismatch), (), note),
            attempt(lambda: general(answered, mismatch, independent), None, note),
            attempt(lambda: self.place(answered, mismatch.name) if located else [], [], note),
            attempt(lambda: self.excerpt(answered, mismatch), None, note),
        )

    def excerpt(self, answered: AnsweredCall, mismatch: Mismatch) -> dict[str, Any] | None:
        """Return where an array's values are wrong, or None if they are not or are private."""
        if mismatch.pair is None or not self.public:
            return None
        inputs = answered.recording.inputs
        return excerpt(mismatch.pair, self.axes, self.assignment.padding(inputs))

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
            if all(self.suspect.issubset(answered.call.given) for answered in chosen):
                yield [observe(answered, self.tolerance) for answered in chosen]

    def tolerance(self, name: str, call: Call) -> Tolerance:
        """Return the tolerance of a tensor of a call."""
        return Tolerance(**self.entry["tolerance"][tolerance_kind(name, call)])

    def place(self, answered: AnsweredCall, name: str) -> list[str]:
        """Return a line that says where an output is wrong, or no lines if that is unclear.

        Args:
            name: the output's name; for anything else there are no lines.
        """
        inputs, got = answered.recording.inputs, under(answered.reply.tensors, "out/")
        expected = answered.recording.outputs.get(name)
        if expected is None or name not in got:
            return []
        with np.errstate(all="ignore"):
            where = self.exercise.locate or self.assignment.locate
            place = where(got[name], expected, inputs)
        return [] if place is None else [place]

    @property
    def axes(self) -> Axes:
        """The names of the axes of outputs."""
        return self.assignment.axes if self.exercise.axes is None else self.exercise.axes

    # --- the checks ------------------------------------------------------------------------------

    def wrong_output(self, answered: AnsweredCall) -> Mismatch | None:
        """Compare outputs with the reference's."""
        got = under(answered.reply.tensors, "out/")
        tolerance = self.tolerance("out/", answered.call)
        dtype = answered.call.dtype
        return compare_all(got, answered.recording.outputs, tolerance, dtype, self.axes)

    def wrong_gradient(self, answered: AnsweredCall) -> Mismatch | None:
        """Compare gradients with the reference's; none may be missing."""
        got = under(answered.reply.tensors, "grad/")
        headline = "the output is right, but its gradients are wrong"
        for name, expected in answered.recording.gradients.items():
            called = name.removeprefix("weights/")
            if name not in got:
                return Mismatch("gradient", called, (f"no gradient reaches {called}",))
            words, tolerance = f"the gradient of {called}", self.tolerance(name, answered.call)
            # the axes of a weight are not those of an output
            dtype, axes = answered.call.dtype, {} if name.startswith("weights/") else self.axes
            if mismatch := compare(words, got[name], expected, tolerance, dtype, axes):
                return dataclasses.replace(mismatch, kind="gradient", headline=headline)
        return None

    def changed_input(self, answered: AnsweredCall) -> Mismatch | None:
        """Check that the call did not change its inputs."""
        for name, value in under(answered.reply.tensors, "after/").items():
            sent = answered.recording.inputs.get(name)
            if sent is None:  # not an input of the call
                continue
            if not np.array_equal(value, sent.astype(value.dtype)):
                return Mismatch("changed", name, (f"the call changes {name} in place",))
        return None

    def changed_state(self, answered: AnsweredCall) -> Mismatch | None:
        """Check that the call did not change torch's global state or the model's mode."""
        changed = changed_state(answered.reply)
        if changed is None or lacks_state(answered):
            return Mismatch("changed", "state", ("the worker did not report its state",))
        if changed:
            lines = (f"the call changes {', '.join(name[:40] for name in changed[:10])}",)
            return Mismatch(
                "changed", changed[0], lines, "the call changes something other than its output"
            )
        return None

    def changed_by_import(self, answered: AnsweredCall) -> Mismatch | None:
        """Check that importing the exercise's file changed nothing."""
        changed = texts(answered.reply, "imported") if self.first_of_file else []
        if not changed:
            return None
        file = self.exercise.file
        lines = (f"importing {file} changes {', '.join(changed)}",)
        return Mismatch("changed", file, lines, f"importing {file} changes a global setting")

    def wrong_draw(self, answered: AnsweredCall) -> Mismatch | None:
        """Let the probe examine random outputs."""
        if not answered.probe.draws(answered.call):
            return self.wrong_output(answered)
        assert answered.probe.examine is not None
        got = under(answered.reply.tensors, "out/")
        if mismatch := compare_form(got, answered.recording.outputs, self.axes):
            return mismatch
        with np.errstate(all="ignore"):  # a wrong output may be arbitrarily large
            wrong = answered.probe.examine(got, answered.recording.inputs)
        return Mismatch("draw", "output", (), wrong) if wrong else None
