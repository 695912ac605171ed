"""Run the calls of the exercises on the solution, on honest variants and on wrong ones.

Variants run in the types that students work in, and only their fingerprints are kept: a row for
each variant, the solution's first. Pairs of mistakes in the same exercise get a row too, if both
edits apply and one of the two is common or students were seen to make both; so do three that were
often seen and change values, as some of these hide behind others until one of them is mended.
"""

import dataclasses
import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from safetensors.numpy import save

from tensormark.authoring.course import Course
from tensormark.authoring.earlier import WRONG, PreviousRecord, settle
from tensormark.authoring.table import Table, nudged
from tensormark.authoring.tolerance import Measured, measure
from tensormark.authoring.variants import Variant, VariantError
from tensormark.exercise import Exercise
from tensormark.judging.diagnose import PAIR
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.judging.replies import texts
from tensormark.judging.trial import Trial
from tensormark.literals import sent
from tensormark.policy import usual_names
from tensormark.references import Tensors, recordings, under
from tensormark.result import Outcome
from tensormark.sandbox.interface import Reply, Request
from tensormark.sandbox.process import ProcessSandbox
from tensormark.usage import UserError, one_line

SOLUTION_ROW = "the solution"
OFTEN = 3  # students who were seen to make a mistake, for it to be recorded with two others


@dataclasses.dataclass
class Recorded:
    """One exercise: its tensors, and its entry in the manifest.

    Attributes:
        content: of its file.
        changes: how the file differs from what it was, one difference per line.
    """

    exercise: Exercise
    tensors: Tensors
    content: bytes
    measured: Measured
    rows: list[str]
    variants: dict[str, dict[str, Any]]
    changes: list[str]

    def entry(self) -> dict[str, Any]:
        """Return the manifest's entry."""
        return {
            "calls": self.exercise.digest,
            "count": len(self.exercise.calls),
            **self.measured.as_json(),
            "variants": self.variants,
            "rows": self.rows,
        }


class Recorder:
    """Records exercises in one worker."""

    def __init__(self, course: Course, sandbox: ProcessSandbox, seed: int) -> None:
        """Prepare.

        Raises:
            UserError: a file of the solution is missing.
        """
        self.course = course
        self.sandbox = sandbox
        self.seed = seed
        self.sources = course.sources()
        for exercise in course.assignment.exercises:
            if exercise.module not in self.sources:
                raise UserError(
                    f"there is no solution/{exercise.file}, which {exercise.id} is recorded from"
                )
        self.inputs = functools.cache(self.draw)

    def draw(self, exercise_id: str, index: int) -> Tensors:
        """Draw the inputs of an exercise's call."""
        assignment = self.course.assignment
        exercise = assignment.exercise(exercise_id)
        private = self.seed != assignment.seed
        try:
            return exercise.inputs(exercise.calls[index], self.seed, private=private)
        except Exception as error:  # the assignment's own code
            fault = f"{exercise_id}: its inputs cannot be drawn: {one_line(error)}"
            raise UserError(fault) from error

    def ask(
        self,
        exercise: Exercise,
        source: str,
        only: Collection[int] | None = None,
        nudge: int | None = None,
        **overrides: Any,
    ) -> list[Reply]:
        """Make an exercise's calls with one source of its file.

        Args:
            only: the numbers of the calls to make; None: all of them.
            nudge: change the inputs in their last bit, with this seed; see `nudged`.
        """
        self.sandbox.reload(self.sources | {exercise.module: source})
        requests = []
        for index, call in enumerate(exercise.calls):
            if only is None or index in only:
                inputs = self.inputs(exercise.id, index)
                if nudge is not None:
                    inputs = nudged(inputs, call.dtype, nudge)
                message, tensors = sent(call.message(), inputs)
                message |= {"forbidden": usual_names(exercise.forbidden), **overrides}
                requests.append(Request(exercise.id, frozenset(), message, tensors))
        return list(self.sandbox.run(requests))

    def record(self, exercise: Exercise, recorded: PreviousRecord | str = "new") -> Recorded:
        """Record one exercise.

        Args:
            recorded: its previous record, or why there is none to compare with.

        Raises:
            UserError: the solution or an honest variant fails a call, or honest and wrong code
                cannot be distinguished.
        """
        source = self.sources[exercise.module]
        before = recorded if isinstance(recorded, PreviousRecord) else None
        right = self.ask(exercise, source, dtype="float64")
        _require_answers(exercise, right, SOLUTION_ROW)
        _require_stand_ins(exercise, right)
        _require_gradients(exercise, self._all_inputs(exercise), right)
        names = [sorted(n for n in reply.tensors if not n.startswith("after/")) for reply in right]
        own = [variant for variant in self.course.variants if variant.exercise == exercise.id]
        texts = [source, *(variant.apply(source) for variant in own)]
        replies = [self.ask(exercise, text) for text in texts]
        wrong = dict(zip([variant.id for variant in own], replies[1:], strict=True))
        entry = before.entry if before else None
        measured = measure(exercise, right, replies[0], self._honest(exercise), wrong, entry)
        now = self._answered(exercise, right, names)
        random = [name for name in now if _is_random(exercise, name)]
        tensors, changes = settle(before.answers, now, random) if before else (now, [])
        inputs = self._all_inputs(exercise)
        unchanged = None if changes else before
        table = Table(exercise, names, inputs, measured, unchanged)
        self._fill(table, exercise, own, replies)
        tensors |= {f"{index}{WRONG}": rows for index, rows in enumerate(table.columns())}
        rows = [name for name, _ in table.rows]
        changes += table.changes
        if before and not changes and rows != before.row_names:
            changes = ["its rows are in a different order"]
        if isinstance(recorded, str):
            changes = [recorded]
        content = before.content if before and not changes else save(tensors)
        new = Recorded(exercise, tensors, content, measured, rows, self._described(own), changes)
        # the recorded inputs may be those of another processor, which rounds otherwise
        self._require_passed(dataclasses.replace(new, tensors={**tensors, **now}), replies[0])
        return new

    def _require_passed(self, new: Recorded, replies: Sequence[Reply]) -> None:
        """Check that the solution passes with the answers that were recorded."""
        exercise = new.exercise
        references = recordings(new.tensors, len(exercise.calls))
        answered = [
            AnsweredCall(probe, call, reference, reply)
            for (probe, call), reference, reply in zip(
                exercise.asked, references, replies, strict=True
            )
        ]
        assignment = self.course.assignment
        trial = Trial(assignment, exercise, answered, new.entry(), {}, public=True)
        result = trial.result()
        if result.outcome is not Outcome.PASSED:
            why = "; ".join((result.findings[0].headline, *result.findings[0].details))
            raise UserError(f"{exercise.id}: the solution would not pass: {why}")

    def _honest(self, exercise: Exercise) -> dict[str, list[Reply]]:
        source = self.sources[exercise.module]
        same_file = [honest for honest in self.course.honest if honest.module == exercise.module]
        replies_by_id = {h.id: self.ask(exercise, h.apply(source)) for h in same_file}
        for name, replies in replies_by_id.items():
            _require_answers(exercise, replies, name)
        return replies_by_id

    def _described(self, own: Sequence[Variant]) -> dict[str, dict[str, Any]]:
        return {
            variant.id: {
                "says": variant.says,
                "section": variant.section,
                "seen": self.course.staff.seen.get(variant.id, 0),
            }
            for variant in own
            if variant.form_of is None
        }

    def _all_inputs(self, exercise: Exercise) -> list[Tensors]:
        return [self.inputs(exercise.id, index) for index in range(len(exercise.calls))]

    def _answered(
        self, exercise: Exercise, right: Sequence[Reply], names: Sequence[Sequence[str]]
    ) -> Tensors:
        """Return the inputs and the solution's answers under their names in the file."""
        tensors: Tensors = {}
        for index, (inputs, reply) in enumerate(
            zip(self._all_inputs(exercise), right, strict=True)
        ):
            tensors |= {f"{index}/in/{name}": value for name, value in inputs.items()}
            tensors |= {f"{index}/{name}": reply.tensors[name] for name in names[index]}
        return tensors

    def _fill(
        self,
        table: Table,
        exercise: Exercise,
        own: Sequence[Variant],
        replies: Sequence[Sequence[Reply]],
    ) -> None:
        source = self.sources[exercise.module]
        texts = [(SOLUTION_ROW, source), *((v.name, v.apply(source)) for v in own)]
        for (name, text), answers in zip(texts, replies, strict=True):
            table.add(name, answers, functools.partial(self.ask, exercise, text))
        values = [each for each in own if not table.shows_in_training_only(each.name)]
        several = itertools.chain(_pairs(own, self.course), _threes(values, self.course.staff.seen))
        for name, text in _applied(several, source):
            ask = functools.partial(self.ask, exercise, text)
            table.add(name, ask(), ask)
        table.finish()


def _require_answers(exercise: Exercise, replies: Sequence[Reply], name: str) -> None:
    """Check that correct code answers every call that has no stand-ins."""
    for call, reply in zip(exercise.calls, replies, strict=True):
        if reply.status != "ok" and not call.stand_ins:
            raise UserError(f"{exercise.id}: {call.target} of {name}: {reply.text}")


def _require_stand_ins(exercise: Exercise, replies: Sequence[Reply]) -> None:
    """Check that the solution answers calls with stand-ins, in the same shapes as without them."""
    answered = iter(replies)
    for probe in exercise.probes:
        own, *given = [(call, next(answered)) for call in probe.calls]
        for call, reply in given:
            stand_ins = ", ".join(f"{kind} at {path}" for path, kind in call.stand_ins.items())
            if reply.status != "ok":
                raise UserError(f"{exercise.id}: with the stand-in {stand_ins}: {reply.text}")
            unmatched = sorted({*call.stand_ins} - {*texts(reply, "matched")})
            if unmatched:
                raise UserError(
                    f"{exercise.id}: there is nothing at {unmatched[0]} for a stand-in to replace"
                )
            expected = _shapes(own[1])
            got = _shapes(reply)
            if expected != got:
                raise UserError(
                    f"{exercise.id}: with the stand-in {stand_ins}, the shapes of outputs are "
                    f"{got}, but {expected} without it"
                )


def _shapes(reply: Reply) -> dict[str, tuple[int, ...]]:
    outputs = under(reply.tensors, "out/")
    return {name: value.shape for name, value in outputs.items()}


def _require_gradients(
    exercise: Exercise, inputs: Sequence[Tensors], replies: Sequence[Reply]
) -> None:
    """Check that there are gradients wherever a call asks for them."""
    for call, drawn, reply in zip(exercise.calls, inputs, replies, strict=True):
        cotangents = under(drawn, "cotangent/")
        if not call.gradients or reply.status != "ok":
            continue
        # a call may return fewer outputs than were drawn
        for name in cotangents.keys() & _shapes(reply).keys():
            expected = cotangents[name]
            got = reply.tensors[f"out/{name}"]
            if expected.shape != got.shape and not expected.size == got.size == 1:
                raise UserError(
                    f"{exercise.id}: draw says that {name} has shape {expected.shape}, but the "
                    f"solution returns {got.shape}"
                )
        if cotangents and not under(reply.tensors, "grad/"):
            raise UserError(
                f"{exercise.id}: no output of {call.target} has a gradient; let draw return None "
                "instead of the output's shape"
            )


def _is_random(exercise: Exercise, name: str) -> bool:
    index, kind, *_ = name.split("/")
    probe, call = exercise.asked[int(index)]
    return kind == "out" and probe.draws(call)


def _pairs(own: Sequence[Variant], course: Course) -> Iterator[tuple[Variant, ...]]:
    """Yield pairs of mistakes: one of the two is common, or students were seen to make both."""
    for first, second in itertools.combinations(own, 2):
        both = {first.name, second.name}
        rare = both.isdisjoint(course.staff.common) and not both <= course.staff.seen.keys()
        if not (rare or first.form_of or second.form_of):
            yield first, second


def _threes(own: Sequence[Variant], seen: Mapping[str, int]) -> Iterator[tuple[Variant, ...]]:
    """Yield all that are three mistakes that were often seen."""
    often = [one for one in own if seen.get(one.name, 0) >= OFTEN and not one.form_of]
    yield from itertools.combinations(often, 3)


def _applied(together: Iterable[tuple[Variant, ...]], source: str) -> Iterator[tuple[str, str]]:
    """Yield mistakes that can be made together: their name, and the source with all of them."""
    for variants in together:
        text = source
        try:
            for variant in variants:
                text = variant.apply(text)
        except VariantError:  # one has removed what another changes
            continue
        yield PAIR.join(variant.name for variant in variants), text
