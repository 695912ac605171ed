"""Run the calls of the exercises on the solution, on honest variants and on wrong ones.

Variants run in the types that students work in, and only their fingerprints are kept: a row for
each variant, the solution's first. Pairs of mistakes in the same exercise get a row too, if both
edits apply and one of the two is common or students were seen to make both; so do three that were
often seen and change values, as some of these hide behind others until one of them is mended.
"""

import dataclasses
import functools
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
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
    """One exercise: its file, and its entry in the manifest.

    Attributes:
        content: of the file.
        changes: how it differs from what it was, one difference per line.
    """

    exercise: Exercise
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
    """Records one exercise in a worker.

    Attributes:
        inputs: of its calls.
        own: its known mistakes.
    """

    def __init__(
        self, course: Course, exercise: Exercise, sandbox: ProcessSandbox, seed: int
    ) -> None:
        """Draw the inputs.

        Raises:
            UserError: its file of the solution is missing, or its inputs cannot be drawn.
        """
        self.course = course
        self.exercise = exercise
        self.sandbox = sandbox
        self.sources = course.assignment.solution_sources
        if exercise.module not in self.sources:
            raise self.fault(f"there is no solution/{exercise.file}, which it is recorded from")
        self.source = self.sources[exercise.module]
        self.own = [each for each in course.variants if each.exercise == exercise.id]
        private = seed != course.assignment.seed
        try:
            self.inputs = [exercise.inputs(call, seed, private) for call in exercise.calls]
        except Exception as error:  # the assignment's own code
            raise self.fault(f"its inputs cannot be drawn: {one_line(error)}") from error

    def fault(self, text: str) -> UserError:
        """Return the error that says what is wrong with the exercise."""
        return UserError(f"{self.exercise.id}: {text}")

    def ask(
        self,
        source: str,
        only: Collection[int] | None = None,
        nudge: int | None = None,
        **overrides: Any,
    ) -> list[Reply]:
        """Make the exercise's calls with one source of its file.

        Args:
            only: the numbers of the calls to make; None: all of them.
            nudge: change the inputs in their last bit, with this seed; see `nudged`.
        """
        exercise = self.exercise
        self.sandbox.reload(self.sources | {exercise.module: source})
        requests = []
        for index, call in enumerate(exercise.calls):
            if only is None or index in only:
                inputs = self.inputs[index]
                if nudge is not None:
                    inputs = nudged(inputs, call.dtype, nudge)
                message, tensors = sent(call.message(), inputs)
                message |= {"forbidden": usual_names(exercise.forbidden), **overrides}
                requests.append(Request(exercise.id, frozenset(), message, tensors))
        return list(self.sandbox.run(requests))

    def record(self, recorded: PreviousRecord | str = "new") -> Recorded:
        """Record the exercise.

        Args:
            recorded: its previous record, or why there is none to compare with.

        Raises:
            UserError: the solution or an honest variant fails a call, or honest and wrong code
                cannot be distinguished.
        """
        exercise = self.exercise
        before = recorded if isinstance(recorded, PreviousRecord) else None
        right = self.ask(self.source, dtype="float64")
        self._require_answers(right, SOLUTION_ROW)
        self._require_stand_ins(right)
        self._require_gradients(right)
        sources = [(SOLUTION_ROW, self.source)]
        sources += [(each.name, each.apply(self.source)) for each in self.own]
        replies = [self.ask(source) for _, source in sources]
        wrong = dict(zip([variant.id for variant in self.own], replies[1:], strict=True))
        entry = before.entry if before else None
        measured = measure(exercise, right, replies[0], self._honest(), wrong, entry)
        names = [sorted(n for n in reply.tensors if not n.startswith("after/")) for reply in right]
        now = self._answered(right, names)
        tensors, changes = settle(before.answers, now, self._is_random) if before else (now, [])
        table = Table(exercise, names, self.inputs, measured, None if changes else before)
        for (name, source), answers in zip(sources, replies, strict=True):
            table.add(name, answers, functools.partial(self.ask, source))
        for name, source in self._together(table):
            table.add(name, self.ask(source), functools.partial(self.ask, source))
        table.finish()
        tensors |= {f"{index}{WRONG}": rows for index, rows in enumerate(table.columns())}
        rows = [name for name, _ in table.rows]
        changes += table.changes
        if before and not changes and rows != before.row_names:
            changes = ["its rows are in a different order"]
        if isinstance(recorded, str):
            changes = [recorded]
        content = before.content if before and not changes else save(tensors)
        new = Recorded(exercise, content, measured, rows, self._described(), changes)
        # the recorded inputs may be those of another processor, which rounds otherwise
        self._require_passed(new.entry(), tensors | now, replies[0])
        return new

    def _honest(self) -> list[list[Reply]]:
        """Return the replies of honest variants of the exercise's file."""
        found = []
        for honest in self.course.honest:
            if honest.module == self.exercise.module:
                replies = self.ask(honest.apply(self.source))
                self._require_answers(replies, honest.id)
                found.append(replies)
        return found

    def _described(self) -> dict[str, dict[str, Any]]:
        return {
            variant.id: {
                "says": variant.says,
                "section": variant.section,
                "seen": self.course.staff.seen.get(variant.id, 0),
            }
            for variant in self.own
            if variant.form_of is None
        }

    def _answered(self, right: Sequence[Reply], names: Sequence[Sequence[str]]) -> Tensors:
        """Return the inputs and the solution's answers under their names in the file."""
        tensors: Tensors = {}
        for index, (inputs, reply) in enumerate(zip(self.inputs, right, strict=True)):
            tensors |= {f"{index}/in/{name}": value for name, value in inputs.items()}
            tensors |= {f"{index}/{name}": reply.tensors[name] for name in names[index]}
        return tensors

    def _is_random(self, name: str) -> bool:
        """Say whether the values of an answer are random, by its name in the file."""
        index, kind, *_ = name.split("/")
        probe, call = self.exercise.asked[int(index)]
        return kind == "out" and probe.draws(call)

    def _together(self, table: Table) -> Iterator[tuple[str, str]]:
        """Yield mistakes that can be made together: their name, and the source with all of them."""
        values = [each for each in self.own if not table.shows_in_training_only(each.name)]
        seen = self.course.staff.seen
        for variants in itertools.chain(_pairs(self.own, self.course), _threes(values, seen)):
            source = self.source
            try:
                for variant in variants:
                    source = variant.apply(source)
            except VariantError:  # one has removed what another changes
                continue
            yield PAIR.join(variant.name for variant in variants), source

    # --- what is required of an exercise ----------------------------------------------------------

    def _require_answers(self, replies: Sequence[Reply], name: str) -> None:
        """Check that correct code answers every call that has no stand-ins."""
        for call, reply in zip(self.exercise.calls, replies, strict=True):
            if reply.status != "ok" and not call.stand_ins:
                raise self.fault(f"{call.target} of {name}: {reply.text}")

    def _require_stand_ins(self, replies: Sequence[Reply]) -> None:
        """Check that the solution answers calls with stand-ins, in the shapes of those without."""
        answered = iter(replies)
        for probe in self.exercise.probes:
            own, *given = [(call, next(answered)) for call in probe.calls]
            expected = _shapes(own[1])
            for call, reply in given:
                names = ", ".join(f"{kind} at {path}" for path, kind in call.stand_ins.items())
                stand_ins = f"with the stand-in {names}"
                if reply.status != "ok":
                    raise self.fault(f"{stand_ins}: {reply.text}")
                unmatched = sorted({*call.stand_ins} - {*texts(reply, "matched")})
                if unmatched:
                    raise self.fault(
                        f"there is nothing at {unmatched[0]} for a stand-in to replace"
                    )
                got = _shapes(reply)
                if expected != got:
                    raise self.fault(
                        f"{stand_ins}, the shapes of outputs are {got}, but {expected} without it"
                    )

    def _require_gradients(self, replies: Sequence[Reply]) -> None:
        """Check that there are gradients wherever a call asks for them."""
        for call, drawn, reply in zip(self.exercise.calls, self.inputs, replies, strict=True):
            cotangents = under(drawn, "cotangent/")
            if not call.gradients or reply.status != "ok":
                continue
            # a call may return fewer outputs than were drawn
            for name in cotangents.keys() & _shapes(reply).keys():
                expected = cotangents[name]
                got = reply.tensors[f"out/{name}"]
                if expected.shape != got.shape and not expected.size == got.size == 1:
                    raise self.fault(
                        f"draw says that {name} has shape {expected.shape}, but the solution "
                        f"returns {got.shape}"
                    )
            if cotangents and not under(reply.tensors, "grad/"):
                raise self.fault(
                    f"no output of {call.target} has a gradient; let draw return None instead of "
                    "the output's shape"
                )

    def _require_passed(
        self, entry: Mapping[str, Any], tensors: Tensors, replies: Sequence[Reply]
    ) -> None:
        """Check that the solution passes with the answers that were recorded."""
        exercise = self.exercise
        references = recordings(tensors, len(exercise.calls))
        answered = [
            AnsweredCall(*asked, reference, reply)
            for asked, reference, reply in zip(exercise.asked, references, replies, strict=True)
        ]
        trial = Trial(self.course.assignment, exercise, answered, entry, {}, public=True)
        result = trial.result()
        if result.outcome is not Outcome.PASSED:
            why = "; ".join((result.findings[0].headline, *result.findings[0].details))
            raise self.fault(f"the solution would not pass: {why}")


def _shapes(reply: Reply) -> dict[str, tuple[int, ...]]:
    outputs = under(reply.tensors, "out/")
    return {name: value.shape for name, value in outputs.items()}


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
