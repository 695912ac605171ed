"""Run the calls of the exercises on the solution, on honest variants and on wrong ones.

Variants run in the types that students work in, and only their fingerprints are kept: a row for
each variant, the solution's first. Pairs of mistakes in the same exercise get a row too, if both
edits apply and one of the two is common or students were seen to make both; so do three that were
often seen and change values, as some of these hide behind others until one of them is mended.
"""

import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from safetensors.numpy import save

from tensormark.authoring.course import Course, Staff
from tensormark.authoring.recorded import Recorded, moves
from tensormark.authoring.table import Ask, Table, nudged
from tensormark.authoring.tolerance import measure, moved_tolerances
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

    def record(self, before: Recorded | str) -> tuple[Recorded, list[str]]:
        """Record the exercise, or keep its previous record if that differs by rounding only.

        Args:
            before: that record, or why there is none to compare with.

        Returns: the record, and what has changed, one change per line.

        Raises:
            UserError: the solution or an honest variant fails a call, or honest and wrong code
                cannot be distinguished.
        """
        changes = [before] if isinstance(before, str) else self.differences(before)
        if isinstance(before, str) or changes:
            recorded = self._recorded()
        else:
            entry = before.entry | {"variants": self._described()}
            recorded = Recorded(before.content, before.tensors, entry)
        self._require_passed(recorded)
        return recorded, changes

    def differences(self, before: Recorded) -> list[str]:
        """Return how the exercise differs from its record, one difference per line."""
        changes = [*moves(before.answers, self.answers, self._is_random)]
        changes += moved_tolerances(before.entry, self.measured)
        if changes:  # rows of other answers cannot be compared
            return changes
        table = Table(self.exercise, self.names, self.inputs, before.entry, before.rows())
        lines = [table.difference(*variant) for variant in self._variants(table)]
        changes = [line for line in lines if line is not None]
        return changes + [f"{name}: a row is gone" for name, _ in table.unmatched]

    def _recorded(self) -> Recorded:
        table = Table(self.exercise, self.names, self.inputs, self.measured)
        for variant in self._variants(table):
            table.add(*variant)
        tensors = self.answers | table.tensors()
        entry = {
            "calls": self.exercise.digest,
            "count": len(self.exercise.calls),
            **self.measured,
            "variants": self._described(),
            "rows": [name for name, _ in table.rows],
        }
        return Recorded(save(tensors), tensors, entry)

    @functools.cached_property
    def right(self) -> list[Reply]:
        """The solution's replies in float64."""
        replies = self.ask(self.source, dtype="float64")
        self._require_answers(replies, SOLUTION_ROW)
        self._require_stand_ins(replies)
        self._require_gradients(replies)
        return replies

    @functools.cached_property
    def single(self) -> list[tuple[str, str, list[Reply]]]:
        """Names, sources and replies of the solution and of each mistake."""
        sources = [(SOLUTION_ROW, self.source)]
        sources += [(each.name, each.apply(self.source)) for each in self.own]
        return [(name, source, self.ask(source)) for name, source in sources]

    @functools.cached_property
    def measured(self) -> dict[str, Any]:
        """The tolerances, as in the manifest."""
        honest = []
        for other in self.course.honest:
            if other.module == self.exercise.module:
                replies = self.ask(other.apply(self.source))
                self._require_answers(replies, other.id)
                honest.append(replies)
        (*_, working), *mistakes = self.single
        wrong = {each.id: replies for each, (*_, replies) in zip(self.own, mistakes, strict=True)}
        return measure(self.exercise, self.right, working, honest, wrong)

    @functools.cached_property
    def names(self) -> list[list[str]]:
        """The names of the tensors that the solution returns in each call."""
        return [
            sorted(n for n in each.tensors if not n.startswith("after/")) for each in self.right
        ]

    @property
    def answers(self) -> Tensors:
        """The inputs and the solution's answers under their names in the file."""
        tensors: Tensors = {}
        for index, (inputs, reply) in enumerate(zip(self.inputs, self.right, strict=True)):
            tensors |= {f"{index}/in/{name}": value for name, value in inputs.items()}
            tensors |= {f"{index}/{name}": reply.tensors[name] for name in self.names[index]}
        return tensors

    def _is_random(self, name: str) -> bool:
        """Say whether the values of an answer are random, by its name in the file."""
        index, kind, *_ = name.split("/")
        probe, call = self.exercise.asked[int(index)]
        return kind == "out" and probe.draws(call)

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

    def _variants(self, table: Table) -> Iterator[tuple[str, list[Reply], Ask]]:
        """Yield the names and replies of what has a row: single mistakes, then several at once."""
        for name, source, replies in self.single:
            yield name, replies, functools.partial(self.ask, source)
        for variants in _together(self.own, self.course.staff, table.right_in_eval):
            source = self.source
            try:
                for variant in variants:
                    source = variant.apply(source)
            except VariantError:  # one has removed what another changes
                continue
            name = PAIR.join(variant.id for variant in variants)
            yield name, self.ask(source), functools.partial(self.ask, source)

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
                    f"no output of {call.target} has a gradient; let draw return no cotangent, or "
                    "say gradients=False"
                )

    def _require_passed(self, recorded: Recorded) -> None:
        """Check that the solution passes with the answers that were recorded."""
        exercise = self.exercise
        # the recorded inputs may be those of another processor, which rounds otherwise
        references = recordings(recorded.tensors | self.answers, len(exercise.calls))
        *_, replies = self.single[0]
        answered = [
            AnsweredCall(*asked, reference, reply)
            for asked, reference, reply in zip(exercise.asked, references, replies, strict=True)
        ]
        trial = Trial(self.course.assignment, exercise, answered, recorded.entry, {}, public=True)
        result = trial.result()
        if result.outcome is not Outcome.PASSED:
            why = "; ".join((result.findings[0].headline, *result.findings[0].details))
            raise self.fault(f"the solution would not pass: {why}")


def _shapes(reply: Reply) -> dict[str, tuple[int, ...]]:
    outputs = under(reply.tensors, "out/")
    return {name: value.shape for name, value in outputs.items()}


def _together(
    own: Sequence[Variant], staff: Staff, right_in_eval: Callable[[str], bool]
) -> Iterator[tuple[Variant, ...]]:
    """Yield mistakes that get a row together; see above."""
    single = [variant for variant in own if variant.form_of is None]
    for pair in itertools.combinations(single, 2):
        ids = {variant.id for variant in pair}
        if ids & staff.common or ids <= staff.seen.keys():
            yield pair
    often = [variant for variant in single if staff.seen.get(variant.id, 0) >= OFTEN]
    values = [variant for variant in often if not right_in_eval(variant.id)]
    yield from itertools.combinations(values, 3)
