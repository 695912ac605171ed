"""Run the calls of the exercises on the solution, on honest variants and on wrong ones.

Variants run in the types that students work in, and only their fingerprints are kept: a row for
each variant, the solution's first. Pairs of mistakes in the same exercise get a row too, if both
edits apply and one of the two is common or students were seen to make both; so do three that were
often seen and change values, as some of these hide behind others until one of them is mended.
"""

import builtins
import dataclasses
import functools
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
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
from tensormark.judging.tape import close
from tensormark.judging.trial import Trial
from tensormark.literals import sent
from tensormark.references import OTHER, Recording, References, ReferencesError, Tensors, under
from tensormark.result import Outcome
from tensormark.sandbox.interface import Reply, Request
from tensormark.sandbox.sandbox import Sandbox
from tensormark.usage import UserError, one_line
from tensormark.worker.protocol import PRINT, TAPE

SOLUTION_ROW = "the solution"
OFTEN = 3  # students who were seen to make a mistake, for it to be recorded with two others
# limit for inputs and the solution's float64 answers; other processors moved them by up to 2e-15
MAX_MOVE = 1e-10
# the share of the values on the way that another processor may compute differently, such as those
# that are only rounding; they were up to 0.5 %
ROUNDING = 0.01
NO_ROWS = np.zeros(0)
NO_PRINTS = np.zeros((0, PRINT), np.float32)
Shapes = dict[str, tuple[int, ...]]


class Record(NamedTuple):
    """What references have of one exercise: its calls, and its entry in the manifest."""

    calls: list[Recording]
    entry: dict[str, Any]


class Recorded(NamedTuple):
    """One exercise: the content of its file, its entry, and what has changed, line by line."""

    content: bytes
    entry: dict[str, Any]
    changes: list[str]


def _named(call: Recording) -> Tensors:
    """Return a call's inputs and the solution's answers under their names in the file."""
    return {f"in/{name}": value for name, value in call.inputs.items()} | call.answers


def _content(calls: Sequence[Recording]) -> bytes:
    """Return the file of an exercise's calls."""
    tensors: Tensors = {}
    for index, call in enumerate(calls):
        own = _named(call) | {"wrong": call.wrong}
        if call.known is not None:
            own["known"] = call.known
        tensors |= {f"{index}/{name}": value for name, value in own.items()}
    return save(tensors)


def _moves(before: Recording, now: Recording, probe: Probe, call: Call) -> Iterator[str]:
    """Yield a line for each tensor of a call that has moved, is new or is gone.

    The values of random outputs may move: another build of torch draws others, and nothing is
    compared with them.
    """
    old = _named(before)
    new = _named(now)
    for name in old | new:
        if name not in old or name not in new:
            yield f"{name} is {'new' if name in new else 'gone'}"
            continue
        was = old[name]
        value = new[name]
        distance = difference(name, was, value, call) if was.dtype == value.dtype else math.inf
        comparable = call.is_plain or math.isfinite(distance)
        is_random = name.startswith("out/") and probe.draws(call)
        if distance > MAX_MOVE and not (is_random and comparable):
            how = f"moved by {distance:.1e}, limit {MAX_MOVE:.0e}"
            if (was.dtype, was.shape) != (value.dtype, value.shape):
                how = f"was {was.dtype} {was.shape}, and is now {value.dtype} {value.shape}"
            elif not math.isfinite(distance):
                how = "has other values, or infinities or NaN in different places"
            yield f"{name} {how}"


class Recorder:
    """Records one exercise in a worker.

    Attributes:
        name: under which it is recorded.
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
        self.name = f"{exercise.id}{OTHER}{other.id}" if other else exercise.id
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
            if save(drawn) != save(again):
                raise UserError("draw returns other inputs each time; draw with rng alone")
            return drawn
        except Exception as error:  # the assignment's own code
            why = error if isinstance(error, UserError) else f"draw raises {one_line(error)}"
            raise self.fault(f"{probe.name}: {why}") from error

    def fault(self, text: str) -> UserError:
        """Return the error that says what is wrong with the exercise."""
        return UserError(f"{self.exercise.id}: {text}")

    def ask(
        self,
        source: str,
        only: Sequence[int] | None = None,
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
        asked = exercise.asked
        target = exercise.calls[0].target
        targets = self.course.assignment.targets
        self.sandbox.reload(self.sources | {exercise.module: source})
        requests = []
        for index in range(len(asked)) if only is None else only:
            probe, call = asked[index]
            inputs = nudged(self.inputs[index], call.dtype, nudge)
            message, tensors = sent(call.message(), inputs)
            taped = order(target, targets, scaled(probe, call)) if tape else None
            requests.append(
                Request(
                    exercise.id,
                    frozenset(),
                    message | overrides,
                    tensors,
                    forbidden=exercise.forbidden,
                    tape=taped,
                )
            )
        return list(self.sandbox.run(requests))

    def record(self, folder: Path) -> Recorded:
        """Record the exercise, or keep a folder's record if that differs by rounding only.

        Raises:
            UserError: the solution or an honest variant fails a call, or honest and wrong code
                cannot be distinguished.
        """
        before, why = self.previous(folder)
        changes = self.differences(before) if before else [why]
        record = before if before and not changes else self._recorded()
        entry = record.entry | {"variants": self._described()}
        calls = record.calls
        if record is before:
            changes = list(self.unknown(calls))
        if changes:
            pairs = zip(calls, self.known, strict=True)
            calls = [dataclasses.replace(call, known=known) for call, known in pairs]
        self._require_passed(calls, entry)
        return Recorded(_content(calls), entry, changes)

    def previous(self, folder: Path) -> tuple[Record | None, str]:
        """Return a folder's record of the exercise, or why there is none to compare with."""
        try:
            references = References(folder)
            entry = references.entry(self.name)
            if entry["calls"] != self.exercise.digest:
                return None, "its calls have changed"
            return Record(references.recordings(self.name, entry["calls"]), entry), ""
        except (ReferencesError, ValueError, KeyError, TypeError):
            is_there = (folder / f"{self.name}.safetensors").is_file()
            return None, "damaged, or not what the manifest lists" if is_there else "new"

    def differences(self, before: Record) -> list[str]:
        """Return how the exercise differs from its record, one difference per line."""
        changes = [*self.moves(before.calls), *moved_tolerances(before.entry, self.measured)]
        if changes:  # rows of other answers cannot be compared
            return changes
        table = Table(self.exercise, self._beside_rows(before.calls), before.entry)
        lines = [table.difference(run) for run in self._runs(table)]
        changes = [line for line in lines if line is not None]
        return changes + [f"{table.names[row]}: a row is gone" for row in table.unmatched]

    def moves(self, before: Sequence[Recording]) -> Iterator[str]:
        """Yield how inputs and the solution's answers differ from others, one tensor per line."""
        calls = zip(before, self.recordings, self.exercise.asked, strict=True)
        for index, (old, new, asked) in enumerate(calls):
            for line in _moves(old, new, *asked):
                yield f"{index}/{line}"

    def _recorded(self) -> Record:
        table = Table(self.exercise, self.recordings, self.measured)
        for run in self._runs(table):
            table.add(run)
        entry = {
            "calls": self.exercise.digest,
            "count": len(self.exercise.calls),
            **self.measured,
            "rows": table.names,
        }
        return Record(table.recordings, entry)

    def unknown(self, calls: Sequence[Recording]) -> Iterator[str]:
        """Yield a line for each correct code that computes other values than were recorded."""
        for name, made in self.prints.items():
            unlike = 0
            for prints, call in zip(made, calls, strict=True):
                known = NO_PRINTS if call.known is None else call.known
                unlike += int((~close(prints, known)[0]).sum())
            if unlike > ROUNDING * sum(map(len, made)):
                yield f"{name} computes other values on the way"

    @functools.cached_property
    def recordings(self) -> list[Recording]:
        """The inputs and the solution's answers in float64, without rows."""
        replies = self.ask(self.source, dtype="float64", compare=True)
        self._require_answers(replies, SOLUTION_ROW)
        self._require_whole(replies)
        return [
            Recording(inputs, under(reply.tensors, "out/"), under(reply.tensors, "grad/"), NO_ROWS)
            for inputs, reply in zip(self.inputs, replies, strict=True)
        ]

    def _run(self, name: str, source: str) -> Run:
        return Run(name, self.ask(source), functools.partial(self.ask, source))

    @functools.cached_property
    def single(self) -> dict[str, Run]:
        """The solution, and each mistake by its id."""
        mistakes = {each.id: self._run(each.name, each.apply(self.source)) for each in self.own}
        return {SOLUTION_ROW: self._run(SOLUTION_ROW, self.source)} | mistakes

    @functools.cached_property
    def measured(self) -> dict[str, Any]:
        """The tolerances, as in the manifest."""
        honest = {}
        for other in self.honest:
            replies = self.ask(other.apply(self.source))
            self._require_answers(replies, other.id)
            honest[other.id] = replies
        wrong = {name: run.replies for name, run in self.single.items()}
        solution = wrong.pop(SOLUTION_ROW)
        return measure(self.exercise, self.recordings, solution, honest, wrong)

    @functools.cached_property
    def prints(self) -> dict[str, list[np.ndarray]]:
        """The prints of what correct code computes, by its name: of each call that is right."""
        sources = {SOLUTION_ROW: self.source}
        sources |= {other.id: other.apply(self.source) for other in self.honest}
        made: dict[str, list[np.ndarray]] = {name: [] for name in sources}
        for name, source in sources.items():
            calls = zip(
                self.ask(source, tape=True), self.recordings, self.exercise.asked, strict=True
            )
            for reply, recording, (probe, call) in calls:
                right = scaled(probe, call) or _agrees(reply, recording, call)
                told = reply.status == "ok" and right
                made[name].append(reply.tensors[TAPE[1]] if told else NO_PRINTS)
        return made

    @property
    def known(self) -> list[np.ndarray]:
        """The prints of what correct code computes in each call; see judging/place.py."""
        kept = [NO_PRINTS for _ in self.recordings]
        for made in self.prints.values():
            for place, prints in enumerate(made):
                same = np.logical_and.reduce(close(prints, kept[place]))
                kept[place] = np.concatenate([kept[place], prints[~same]])
        return kept

    def _beside_rows(self, calls: Sequence[Recording]) -> list[Recording]:
        """Return this processor's recordings with rows that may be another one's."""
        pairs = zip(self.recordings, calls, strict=True)
        return [dataclasses.replace(own, wrong=call.wrong) for own, call in pairs]

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
        yield from self.single.values()
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
        values = [each for each in often if not table.right_in_eval(self.single[each.id])]
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

    def _require_whole(self, replies: Sequence[Reply]) -> None:
        """Check that the solution answers stand-ins in the same shapes, and with gradients."""
        shapes: Shapes = {}
        for (probe, call), drawn, reply in zip(
            self.exercise.asked, self.inputs, replies, strict=True
        ):
            if call is probe.calls[0]:
                shapes = _shapes(reply)
            if call.stand_ins:
                self._require_stood_in(call, reply, shapes)
            if call.gradients:
                self._require_gradients(probe, call, under(drawn, "cotangent/"), reply)

    def _require_stood_in(self, call: Call, reply: Reply, expected: Shapes) -> None:
        names = ", ".join(f"{kind} at {path}" for path, kind in call.stand_ins.items())
        stand_ins = f"with the stand-in {names}"
        if reply.status != "ok":
            raise self.fault(f"{stand_ins}: {reply.text}")
        unmatched = sorted(set(call.stand_ins) - set(reply.message.get("matched", ())))
        if unmatched:
            raise self.fault(f"there is nothing at {unmatched[0]} for a stand-in to replace")
        got = _shapes(reply)
        if expected != got and not call.is_plain:
            raise self.fault(
                f"{stand_ins}, the shapes of outputs are {got}, but {expected} without it"
            )

    def _require_gradients(
        self, probe: Probe, call: Call, cotangents: Tensors, reply: Reply
    ) -> None:
        outputs = under(reply.tensors, "out/")
        # a call may return fewer outputs than were drawn
        for name in cotangents.keys() & outputs.keys():
            expected = cotangents[name]
            got = outputs[name]
            if expected.shape != got.shape and not expected.size == got.size == 1:
                raise self.fault(
                    f"draw says that {name} has shape {expected.shape}, but the solution returns "
                    f"{got.shape}"
                )
        if cotangents and not under(reply.tensors, "grad/"):
            fix = "let draw return no cotangent, or say gradients=False"
            if call.stand_ins:  # without them, it has one
                names = ", ".join(call.stand_ins.values())
                fix = f"the stand-in {names} must depend on its arguments or weights"
            raise self.fault(f"{probe.name}: no output of {call.target} has a gradient; {fix}")

    def _require_passed(self, calls: Sequence[Recording], entry: Mapping[str, Any]) -> None:
        """Check that the solution passes with the answers that were recorded."""
        exercise = self.exercise
        replies = self.single[SOLUTION_ROW].replies
        asked = zip(exercise.asked, self._beside_rows(calls), replies, strict=True)
        answered = [AnsweredCall(*each, reference, reply) for each, reference, reply in asked]
        trial = Trial(self.course.assignment, exercise, answered, entry, {}, public=True)
        result = trial.result()
        if result.outcome is not Outcome.PASSED:
            why = "; ".join((result.findings[0].headline, *result.findings[0].details))
            raise self.fault(f"the solution would not pass: {why}")


def _agrees(reply: Reply, recording: Recording, call: Call) -> bool:
    """Return whether an answer is about right, as that of honest code with stand-ins may not be."""
    outputs = {f"out/{name}": value for name, value in recording.outputs.items()}
    distances = [difference(n, reply.tensors.get(n), outputs[n], call) for n in outputs]
    return max(distances, default=0.0) < MAX_NOISE


def _shapes(reply: Reply) -> Shapes:
    outputs = under(reply.tensors, "out/")
    return {name: value.shape for name, value in outputs.items()}
