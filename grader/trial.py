"""One exercise on trial: its calls, what came back, what should have, and what follows.

Follow-through: a probe is asked with the student's own functions together and, where the exercise
calls others, with stand-ins for them. The stand-ins decide when one of the exercises that they
stand for has failed, so that one mistake costs one exercise.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from grader.cases import Call, Exercise, Probe
from grader.compare import Mismatch, Tolerance, compare, compare_all
from grader.diagnose import Sighting, recognise
from grader.outcomes import Blocked, CheckFailed, Finding, NotWrittenYet
from grader.policy import Offence
from grader.sandbox import Reply
from grader.store import Recording, under


@dataclasses.dataclass(frozen=True)
class Answered:
    """A call with its recording and the student's reply."""

    probe: Probe
    call: Call
    recording: Recording
    reply: Reply

    @property
    def expected(self) -> dict[str, np.ndarray]:
        """The reference's tensors under the reply's names."""
        outputs = {f"out/{name}": value for name, value in self.recording.outputs.items()}
        return outputs | {f"grad/{name}": v for name, v in self.recording.gradients.items()}


Look = Callable[[Answered], Mismatch | None]


@dataclasses.dataclass
class Trial:
    """Everything that the checks of one exercise need.

    Attributes:
        answered: the calls, grouped by probe in the order of the case table.
        failed: exercises upstream that have not passed.
        variants: what the manifest says of known wrong variants: id to its one line.
        leaned_on: exercises whose stand-ins decided; filled while judging.
    """

    exercise: Exercise
    answered: Sequence[Answered]
    tolerance: Tolerance
    gradient_tolerance: Tolerance
    failed: frozenset[str]
    variants: Mapping[str, str]
    offences: Sequence[Offence]
    leaned_on: set[str] = dataclasses.field(default_factory=set)

    def require_written(self) -> None:
        """See that the hole is filled and that something came back.

        Raises:
            NotWrittenYet: the hole is still there.
        """
        for answered in self.answered:
            if answered.reply.status == "not written" and answered.reply.text == self.exercise.id:
                raise NotWrittenYet

    def of(self, probe: Probe) -> list[Answered]:
        """Return the answers of a probe, the student's own functions together first."""
        return [answered for answered in self.answered if answered.probe is probe]

    def judge(self, probe: Probe, look: Look) -> None:
        """Let `look` examine a probe's answers until one of those that count is right.

        Raises:
            CheckFailed: none is; the finding is that of the most telling one.
            Blocked: none could run, because other exercises are not written yet.
        """
        own, *given = answers = self.of(probe)
        faults = [self.fault(answered, look) for answered in answers]
        if faults[0] is None:
            return
        for answered, fault in zip(given, faults[1:], strict=True):
            if fault is None and (stood_in := self.failed.intersection(answered.call.given)):
                self.leaned_on |= stood_in
                return
        raise self.verdict(own, given, faults)

    def fault(self, answered: Answered, look: Look) -> Mismatch | None:
        """Say what is wrong with one answer."""
        reply = answered.reply
        if reply.status == "ok":
            return look(answered)
        if reply.status == "not written":
            hole = reply.text if reply.text.isidentifier() else "another exercise"
            return Mismatch("blocked", hole, (f"Problem ({hole}) is not written yet",))
        return Mismatch("raised", answered.call.target, (reply.text,))

    def verdict(
        self, own: Answered, given: Sequence[Answered], faults: Sequence[Mismatch | None]
    ) -> Exception:
        """Choose what to say: the answer in which the least of other exercises is at work."""
        found = [fault for fault in faults if fault is not None]
        if all(fault.kind == "blocked" for fault in found) and len(found) == len(faults):
            return Blocked(", ".join(sorted({fault.name for fault in found})))
        probe = own.probe
        told = [fault for fault in found if fault.kind != "blocked"] or found
        fault = told[-1]
        if fault.kind == "raised":
            return CheckFailed(Finding(fault.lines[0]))
        headline, details = probe.says, list(fault.lines)
        if given and faults[-1] is None:
            upstream = " and ".join(given[-1].call.given)
            details.append(f"right when it is given a right {upstream}, wrong with your own")
        mistakes = recognise(self.sightings())
        if mistakes:
            headline = " or ".join(self.variants.get(mistake, mistake) for mistake in mistakes)
            headline = f"either {headline}" if len(mistakes) > 1 else headline
        details.append(f"read: {self.exercise.anchor}")
        return CheckFailed(Finding(headline, tuple(details), "|".join(mistakes) or None))

    def sightings(self) -> list[Sighting]:
        """Collect what was seen of this exercise where the least of others was at work."""
        last = {answered.probe.name: answered for answered in self.answered}  # most is given last
        return [
            self.sighting(answered) for answered in last.values() if answered.probe.examine is None
        ]

    def sighting(self, answered: Answered) -> Sighting:
        """Put an answer beside the reference and the variants."""
        got = answered.reply.tensors if answered.reply.status == "ok" else None
        return Sighting(got, answered.expected, answered.recording.wrong, self.gradient_tolerance)

    # --- what checks look for ---------------------------------------------------------------

    def wrong_output(self, answered: Answered) -> Mismatch | None:
        """Compare outputs with the reference's."""
        got = under(answered.reply.tensors, "out/")
        return compare_all(got, answered.recording.outputs, self.tolerance, answered.call.dtype)

    def wrong_gradient(self, answered: Answered) -> Mismatch | None:
        """Compare gradients with the reference's; each that it has must be there."""
        got = under(answered.reply.tensors, "grad/")
        for name, expected in answered.recording.gradients.items():
            called = name.removeprefix("weights/")
            if name not in got:
                return Mismatch("gradient", called, (f"no gradient reaches {called}",))
            if found := compare(
                f"the gradient of {called}",
                got[name],
                expected,
                self.gradient_tolerance,
                answered.call.dtype,
            ):
                return found
        return None

    def changed_input(self, answered: Answered) -> Mismatch | None:
        """See that the call left its inputs as they were."""
        for name, value in under(answered.reply.tensors, "after/").items():
            sent = answered.recording.inputs[name]
            if value.shape != sent.shape or not np.array_equal(value, sent.astype(value.dtype)):
                return Mismatch("changed", name, (f"the call changes {name} in place",))
        return None

    def changed_state(self, answered: Answered) -> Mismatch | None:
        """See that the call left torch's global state and the model's mode as they were."""
        before, after = (answered.reply.message.get(key) for key in ("before", "after"))
        if not isinstance(before, dict) or not isinstance(after, dict):
            return Mismatch("changed", "state", ("the worker did not report its state",))
        changed = [str(key)[:40] for key in before if before[key] != after.get(key)]
        if changed:
            return Mismatch("changed", changed[0], (f"the call changes {', '.join(changed)}",))
        return None

    def wrong_dropout(self, answered: Answered) -> Mismatch | None:
        """Let the case's own judge look at outputs that were drawn at random."""
        assert answered.probe.examine is not None
        got = under(answered.reply.tensors, "out/")
        for name, expected in answered.recording.outputs.items():
            if name not in got or got[name].shape != expected.shape:
                return Mismatch("shape", name, (f"{name} should have shape {expected.shape}",))
            if not np.isfinite(got[name]).all():
                return Mismatch("finite", name, (f"{name} has values that are NaN or inf",))
        wrong = answered.probe.examine(got, answered.recording.inputs)
        return Mismatch("dropout", "output", (wrong,)) if wrong else None


def pair(
    exercise: Exercise, recordings: Iterable[Recording], replies: Iterable[Reply]
) -> Iterator[Answered]:
    """Put calls, recordings and replies, all in the order of the case table, together."""
    asked = [(probe, call) for probe in exercise.probes for call in probe.calls]
    for (probe, call), recording, reply in zip(asked, recordings, replies, strict=True):
        yield Answered(probe, call, recording, reply)
