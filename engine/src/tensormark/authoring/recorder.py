"""Run the calls of the exercises on the solution, on honest variants and on wrong ones.

Variants run in the types that students work in, and only their fingerprints are kept: a row for
each variant, the solution's first. Pairs of mistakes in the same exercise get a row too, if both
edits apply and one of the two is common or students were seen to make both; so do three that were
often seen and change values, as some of these hide behind others until one of them is mended.
"""

import builtins
import contextlib
import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import save

from tensormark.authoring.chance import nudged
from tensormark.authoring.course import Course
from tensormark.authoring.table import Run, Table
from tensormark.authoring.tolerance import MAX_NOISE, difference, measure, moved_tolerances
from tensormark.authoring.variants import Honest, Variant, VariantError
from tensormark.exercise import Call, Exercise, Probe
from tensormark.judging.diagnose import PAIR
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.judging.place import order, scaled
from tensormark.judging.replies import texts
from tensormark.judging.tape import close
from tensormark.judging.trial import Trial
from tensormark.literals import sent
from tensormark.references import Recording, References, ReferencesError, Tensors, under
from tensormark.result import Outcome
from tensormark.sandbox.interface import Reply, Request
from tensormark.sandbox.sandbox import Sandbox
from tensormark.usage import UserError, one_line
from tensormark.worker.protocol import PRINT, TAPE

SOLUTION_ROW = "the solution"
OFTEN = 3  # students who were seen to make a mistake, for it to be recorded with two others
# limit for inputs and the solution's float64 answers; other processors moved them by up to 2e-15
MAX_MOVE = 1e-10
NO_ROWS = np.zeros(0)


@dataclasses.dataclass(frozen=True)
class Recorded:
    """One exercise.

    Attributes:
        content: of its file; calls: what is in it.
        entry: its entry in the manifest.
    """

    content: bytes
    calls: list[Recording]
    entry: dict[str, Any]


class Unrecorded(NamedTuple):
    """Why there is no record to compare with."""

    reason: str


def previous_record(folder: Path, exercise: Exercise, other: str = "") -> Recorded | Unrecorded:
    """Return a folder's record of an exercise, or why there is none to compare with.

    Args:
        other: the solution that it is of, if not the first.
    """
    name = f"{exercise.id}.safetensors"
    try:
        references = References(folder).with_other(other)
        name = f"{references.name(exercise.id)}.safetensors"
        if other and other not in references.others(exercise.id):
            return Unrecorded("new")
        entry = references.entry(exercise.id)
        if entry["calls"] != exercise.digest:
            return Unrecorded("its calls have changed")
        calls = references.recordings(exercise.id, exercise.digest)
        return Recorded((folder / name).read_bytes(), calls, entry)
    except (ReferencesError, ValueError, KeyError, TypeError):
        is_there = (folder / name).is_file()
        return Unrecorded("damaged, or not what the manifest lists" if is_there else "new")


def _named(calls: Sequence[Recording]) -> Tensors:
    """Return the inputs and the solution's answers under their names in the file."""
    tensors: Tensors = {}
    for index, call in enumerate(calls):
        tensors |= {f"{index}/in/{name}": value for name, value in call.inputs.items()}
        tensors |= {f"{index}/{name}": value for name, value in call.answers.items()}
    return tensors


def _content(calls: Sequence[Recording]) -> bytes:
    """Return the file of an exercise's calls."""
    rows = {f"{index}/wrong": call.wrong for index, call in enumerate(calls)}
    rows |= {
        f"{index}/known": call.known for index, call in enumerate(calls) if call.known is not None
    }
    return save(_named(calls) | rows)


def _move(before: np.ndarray, now: np.ndarray, is_random: bool) -> str | None:
    """Return how a tensor has moved beyond the limit; None if it has not.

    Args:
        is_random: its values may move: another build of torch draws others, and nothing is
            compared with them.
    """
    if before.dtype == now.dtype == np.uint8:
        with contextlib.suppress(ValueError, TypeError):  # bytes that are no plain value
            if difference(now, before, plain=True) <= MAX_MOVE:
                return None
    if before.shape != now.shape or before.dtype != now.dtype:
        return f"was {before.dtype} {before.shape}, and is now {now.dtype} {now.shape}"
    finite = np.isfinite(now)
    if not np.array_equal(np.isfinite(before), finite):
        return "has infinities or NaN in different places"
    distance = difference(before[finite], now[finite])
    if is_random or distance <= MAX_MOVE:
        return None
    return f"moved by {distance:.1e}, limit {MAX_MOVE:.0e}"


def moves(before: Tensors, now: Tensors, is_random: Callable[[str], bool]) -> Iterator[str]:
    """Yield a line for each tensor that has moved, is new or is gone.

    Args:
        is_random: says by its name whether the values of a tensor are random.
    """
    for name, value in now.items():
        move = _move(before[name], value, is_random(name)) if name in before else "is new"
        if move is not None:
            yield f"{name} {move}"
    for name in before.keys() - now.keys():
        yield f"{name} is gone"


class Recorder:
    """Records one exercise in a worker.

    Attributes:
        inputs: of its calls.
        own: its known mistakes.
    """

    def __init__(
        self,
        course: Course,
        exercise: Exercise,
        sandbox: Sandbox,
        seed: int,
        other: Honest | None = None,
    ) -> None:
        """Draw the inputs.

        Args:
            other: another solution, whose answers differ.

        Raises:
            UserError: its file of the solution is missing, or its inputs cannot be drawn.
        """
        self.course = course
        self.exercise = exercise
        self.sandbox = sandbox
        self.sources = course.assignment.solution_sources
        if exercise.module not in self.sources:
            raise self.fault(f"there is no solution/{exercise.file}, which it is recorded from")
        honest = [each for each in course.honest if each.module == exercise.module]
        self.honest = [each for each in honest if not each.differs]
        self.own = [each for each in course.variants if each.exercise == exercise.id]
        if other is not None:
            changed = other.apply(self.sources[other.module])
            self.sources = self.sources | {other.module: changed}
            self.honest = []
            self.own = [each for each in self.own if each.fits(self.sources[exercise.module])]
        self.source = self.sources[exercise.module]
        self.inputs = [self._drawn(probe, call, seed) for probe, call in exercise.asked]

    def _drawn(self, probe: Probe, call: Call, seed: int) -> Tensors:
        if call.raises not in {"", *dir(builtins), *re.findall(r"\w+", self.source)}:
            about = f"no exception {call.raises!r} in Python or solution/{self.exercise.file}"
            raise self.fault(f"{probe.name}: there is {about}")
        private = seed != self.course.assignment.seed
        try:
            drawn, again = [self.exercise.inputs(call, seed, private) for _ in range(2)]
            same = drawn.keys() == again.keys() and all(
                np.array_equal(value, again[name], equal_nan=value.dtype.kind == "f")
                for name, value in drawn.items()
            )
            if not same:
                raise UserError("draw returns other inputs each time; draw with rng alone")
            return drawn
        except Exception as error:  # the assignment's own code
            why = error if isinstance(error, UserError) else f"draw raises {one_line(error)}"
            raise self.fault(f"{probe.name}: {why}") from error

    def differs(self, first: "Recorder") -> bool:
        """Return whether its answers are not the first solution's."""
        calls = zip(self.exercise.calls, self.recordings, first.recordings, strict=True)
        for call, own, right in calls:
            for name, value in right.answers.items():
                if difference(own.answers.get(name), value, call) > MAX_MOVE:
                    return True
        return False

    def fault(self, text: str) -> UserError:
        """Return the error that says what is wrong with the exercise."""
        return UserError(f"{self.exercise.id}: {text}")

    def ask(
        self,
        source: str,
        only: Collection[int] | None = None,
        nudge: int = 0,
        tape: bool = False,
        **overrides: Any,
    ) -> list[Reply]:
        """Make the exercise's calls with one source of its file.

        Args:
            only: the numbers of the calls to make; None: all of them.
            nudge: the seed with which to change the inputs in their last bit; 0: do not.
        """
        exercise = self.exercise
        self.sandbox.reload(self.sources | {exercise.module: source})
        requests = []
        for index, (probe, call) in enumerate(exercise.asked):
            if only is None or index in only:
                inputs = nudged(self.inputs[index], call.dtype, nudge)
                message, tensors = sent(call.message(), inputs)
                message |= overrides
                rules = exercise.forbidden
                targets = self.course.assignment.targets
                taped = order(exercise.calls[0].target, targets, scaled(probe, call))
                requests.append(
                    Request(
                        exercise.id,
                        frozenset(),
                        message,
                        tensors,
                        forbidden=rules,
                        tape=taped if tape else None,
                    )
                )
        return list(self.sandbox.run(requests))

    def record(self, before: Recorded | Unrecorded) -> tuple[Recorded, list[str]]:
        """Record the exercise, or keep its previous record if that differs by rounding only.

        Args:
            before: that record, or why there is none to compare with.

        Returns: the record, and what has changed, one change per line.

        Raises:
            UserError: the solution or an honest variant fails a call, or honest and wrong code
                cannot be distinguished.
        """
        changes = [before.reason] if isinstance(before, Unrecorded) else self.differences(before)
        if isinstance(before, Unrecorded) or changes:
            recorded = self._recorded()
        else:
            entry = before.entry | {"variants": self._described()}
            recorded = dataclasses.replace(before, entry=entry)
            changes = list(self._unknown(before.calls))
            if changes:
                calls = self._with_known(before.calls)
                recorded = dataclasses.replace(recorded, content=_content(calls), calls=calls)
        self._require_passed(recorded)
        return recorded, changes

    def differences(self, before: Recorded) -> list[str]:
        """Return how the exercise differs from its record, one difference per line."""
        changes = list(moves(_named(before.calls), _named(self.recordings), self._is_random))
        changes += moved_tolerances(before.entry, self.measured)
        if changes:  # rows of other answers cannot be compared
            return changes
        table = Table(self.exercise, self._beside_rows(before), before.entry)
        lines = [table.difference(run) for run in self._runs(table)]
        changes = [line for line in lines if line is not None]
        return changes + [f"{table.names[row]}: a row is gone" for row in table.unmatched]

    def _recorded(self) -> Recorded:
        table = Table(self.exercise, self.recordings, self.measured)
        for run in self._runs(table):
            table.add(run)
        calls = self._with_known(table.recordings)
        entry = {
            "calls": self.exercise.digest,
            "count": len(self.exercise.calls),
            **self.measured,
            "variants": self._described(),
            "rows": table.names,
        }
        return Recorded(_content(calls), calls, entry)

    def _with_known(self, calls: Sequence[Recording]) -> list[Recording]:
        pairs = zip(calls, self.known, strict=True)
        return [dataclasses.replace(call, known=known) for call, known in pairs]

    def _unknown(self, calls: Sequence[Recording]) -> Iterator[str]:
        """Yield a line for each recorded call in which correct code computes other values."""
        for index, (now, call) in enumerate(zip(self.known, calls, strict=True)):
            if call.known is None or not close(now, call.known)[0].all():
                yield f"{index}/known: correct code computes other values on the way"

    @functools.cached_property
    def recordings(self) -> list[Recording]:
        """The inputs and the solution's answers in float64, without rows."""
        replies = self.ask(self.source, dtype="float64", compare=True)
        self._require_answers(replies, SOLUTION_ROW)
        self._require_stand_ins(replies)
        self._require_gradients(replies)
        return [
            Recording(inputs, under(reply.tensors, "out/"), under(reply.tensors, "grad/"), NO_ROWS)
            for inputs, reply in zip(self.inputs, replies, strict=True)
        ]

    def _run(self, name: str, source: str) -> Run:
        return Run(name, self.ask(source), functools.partial(self.ask, source))

    @functools.cached_property
    def single(self) -> list[Run]:
        """The solution, and each mistake."""
        mistakes = [self._run(each.name, each.apply(self.source)) for each in self.own]
        return [self._run(SOLUTION_ROW, self.source), *mistakes]

    @functools.cached_property
    def measured(self) -> dict[str, Any]:
        """The tolerances, as in the manifest."""
        honest = {}
        for other in self.honest:
            replies = self.ask(other.apply(self.source))
            self._require_answers(replies, other.id)
            honest[other.id] = replies
        solution, *mistakes = self.single
        wrong = {each.id: run.replies for each, run in zip(self.own, mistakes, strict=True)}
        return measure(self.exercise, self.recordings, solution.replies, honest, wrong)

    @functools.cached_property
    def known(self) -> list[np.ndarray]:
        """The prints of what correct code computes in each call; see judging/place.py."""
        kept: list[list[np.ndarray]] = [[] for _ in self.recordings]
        for source in [self.source, *(other.apply(self.source) for other in self.honest)]:
            replies = self.ask(source, tape=True)
            for place, (reply, recording) in enumerate(zip(replies, self.recordings, strict=True)):
                probe, call = self.exercise.asked[place]
                right = scaled(probe, call) or _agrees(reply, recording, call.is_plain)
                if reply.status == "ok" and right:
                    prints = reply.tensors[TAPE[1]]
                    same = close(prints, np.array(kept[place]).reshape(-1, PRINT))
                    kept[place].extend(prints[~np.logical_and.reduce(same)])
        return [np.array(each, np.float32).reshape(-1, PRINT) for each in kept]

    def _beside_rows(self, recorded: Recorded) -> list[Recording]:
        """Return this processor's recordings with rows that may be another one's."""
        pairs = zip(self.recordings, recorded.calls, strict=True)
        return [dataclasses.replace(own, wrong=other.wrong) for own, other in pairs]

    def _is_random(self, name: str) -> bool:
        """Return whether the values of an answer are random, by its name in the file."""
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

    def _runs(self, table: Table) -> Iterator[Run]:
        """Yield what has a row: single mistakes, then several at once."""
        yield from self.single
        for variants in self._together(table):
            source = self.source
            try:
                for variant in variants:
                    source = variant.apply(source)
            except VariantError:  # one has removed what another changes
                continue
            yield self._run(PAIR.join(variant.id for variant in variants), source)

    def _together(self, table: Table) -> Iterator[tuple[Variant, ...]]:
        """Yield mistakes that get a row together; see above."""
        common = self.course.staff.common
        seen = self.course.staff.seen
        single = [variant for variant in self.own if variant.form_of is None]
        for pair in itertools.combinations(single, 2):
            ids = {variant.id for variant in pair}
            if ids & common or ids <= seen.keys():
                yield pair
        often = [variant for variant in single if seen.get(variant.id, 0) >= OFTEN]
        values = [variant for variant in often if not table.right_in_eval(variant.id)]
        yield from itertools.combinations(values, 3)

    # --- what is required of an exercise ----------------------------------------------------------

    def _require_answers(self, replies: Sequence[Reply], name: str) -> None:
        """Check that correct code answers every call that has no stand-ins."""
        for (probe, call), reply in zip(self.exercise.asked, replies, strict=True):
            empty = reply.status == "ok" and not _shapes(reply) and "lacks" not in reply.message
            if (reply.status != "ok" or empty) and not call.stand_ins:
                text = "its answer has no out/<name>" if empty else reply.text
                text += f"; it should raise {call.raises}" if call.raises else ""
                raise self.fault(
                    f"{probe.name}: {call.target} of {name}, called as its exercise says: {text}"
                )

    def _require_stand_ins(self, replies: Sequence[Reply]) -> None:
        """Check that the solution answers calls with stand-ins, in the shapes of those without."""
        for (probe, call), reply in zip(self.exercise.asked, replies, strict=True):
            got = _shapes(reply)
            if call is probe.calls[0]:  # which has none
                expected = got
                continue
            names = ", ".join(f"{kind} at {path}" for path, kind in call.stand_ins.items())
            stand_ins = f"with the stand-in {names}"
            if reply.status != "ok":
                raise self.fault(f"{stand_ins}: {reply.text}")
            unmatched = sorted(set(call.stand_ins) - set(texts(reply, "matched")))
            if unmatched:
                raise self.fault(f"there is nothing at {unmatched[0]} for a stand-in to replace")
            if expected != got and not call.is_plain:
                raise self.fault(
                    f"{stand_ins}, the shapes of outputs are {got}, but {expected} without it"
                )

    def _require_gradients(self, replies: Sequence[Reply]) -> None:
        """Check that there are gradients wherever a call asks for them."""
        for (probe, call), drawn, reply in zip(
            self.exercise.asked, self.inputs, replies, strict=True
        ):
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
                fix = "let draw return no cotangent, or say gradients=False"
                if call.stand_ins:  # without them, it has one
                    names = ", ".join(call.stand_ins.values())
                    fix = f"the stand-in {names} must depend on its arguments or weights"
                raise self.fault(f"{probe.name}: no output of {call.target} has a gradient; {fix}")

    def _require_passed(self, recorded: Recorded) -> None:
        """Check that the solution passes with the answers that were recorded."""
        exercise = self.exercise
        references = self._beside_rows(recorded)
        solution, *_ = self.single
        calls = zip(exercise.asked, references, solution.replies, strict=True)
        answered = [AnsweredCall(*asked, reference, reply) for asked, reference, reply in calls]
        trial = Trial(self.course.assignment, exercise, answered, recorded.entry, {}, public=True)
        result = trial.result()
        if result.outcome is not Outcome.PASSED:
            why = "; ".join((result.findings[0].headline, *result.findings[0].details))
            raise self.fault(f"the solution would not pass: {why}")


def _agrees(reply: Reply, recording: Recording, plain: bool) -> bool:
    """Return whether an answer is about right, as that of honest code with stand-ins may not be."""
    outputs = under(reply.tensors, "out/")
    right = recording.outputs
    return all(difference(outputs.get(n), right[n], plain=plain) < MAX_NOISE for n in right)


def _shapes(reply: Reply) -> dict[str, tuple[int, ...]]:
    outputs = under(reply.tensors, "out/")
    return {name: value.shape for name, value in outputs.items()}
