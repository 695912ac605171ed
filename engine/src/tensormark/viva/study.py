"""What changed copies of a function do: they run in a sandbox, next to the unchanged function.

Copies are compared with the student's own function, never with references. A difference close to
rounding is neither equal nor different: the finding is None, and nothing is asked about it.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from tensormark.exercise import Call, Tensors
from tensormark.sandbox.interface import Reply
from tensormark.viva.copies import Copies, Run, UnfitError
from tensormark.viva.edits import changes
from tensormark.viva.sameness import all_of, equal, output_of, tensors_of, trimmed, vanishes
from tensormark.viva.source import Change, Source
from tensormark.viva.subject import Subject

COARSE = 30.0  # factor on the limits for float32
RAISES, SHAPE, SAME, GRADIENTS = "raises", "shape", "same", "gradients"
TRAINING, EVERYWHERE, FACTOR = "training", "everywhere", "factor"
DIFFERS, NO_GRADIENT = "differs: ", "no gradient: "
NOT_TWICE = "it does not give the same result twice"
# a second call of the same object, with inputs so large that a softmax by hand may overflow
SECOND, LARGE = "second", 30.0
USUAL, RATES = "usual", (0.0, 0.5, 1.0)


class World:
    """The calls that copies are run with, in one set of sizes."""

    def __init__(self, subject: Subject, call: Call, inputs: Tensors) -> None:
        """Prepare the calls.

        Args:
            call: the usual one.
        """
        self.subject, self.coarseness = subject, 1.0 if call.dtype == "float64" else COARSE
        self.runs = {USUAL: Run(call, inputs)}
        plain = dataclasses.replace(call, gradients=False)
        for situation in subject.situations:
            self.runs[situation.name] = Run(plain, situation.inputs(inputs))
        for place, fact in enumerate(subject.facts):
            self.runs[f"fact {place}"] = Run(plain, fact.poke(inputs))
        large = {name: value * LARGE for name, value in inputs.items() if value.dtype.kind == "f"}
        before = {f"before/{name}": inputs[name] for name in call.args if name in inputs}
        second = dataclasses.replace(plain, dtype="float64")
        self.runs[SECOND] = Run(second, inputs | large | before)
        if subject.training is not None:
            for rate in RATES:
                self.runs[f"{TRAINING} {rate:g}"] = Run(subject.training(plain, rate), inputs)

    def needed(self, finding: str) -> list[str]:
        """Return the names of the calls that a finding needs, besides the usual one."""
        kind, _, place = finding.partition(" ")
        if kind in ("gained", "lost"):
            return [f"fact {place}"]
        if finding.startswith(DIFFERS):
            return [finding.removeprefix(DIFFERS)]
        training = [name for name in self.runs if name.startswith(TRAINING)]
        in_eval = [situation.name for situation in self.subject.situations]
        everywhere = [*in_eval, SECOND, *training]
        return {SAME: in_eval, TRAINING: training, EVERYWHERE: everywhere}.get(finding, [])


@dataclasses.dataclass(frozen=True)
class Compared:
    """The replies of a function and of a changed copy in one world, by the names of calls."""

    world: World
    own: Mapping[str, Reply]
    other: Mapping[str, Reply]

    def same(self, name: str, prefix: str = "out/") -> bool | None:
        """Return whether a call has the function's own outputs, or gradients."""
        if self.other[name].status != "ok":
            return None
        own, other = (tensors_of(replies[name], prefix) for replies in (self.own, self.other))
        return equal(own, other, self.world.coarseness)

    def finding(self, name: str) -> bool | None:
        """Return whether a finding is true; None if that cannot be told."""
        usual = self.other[USUAL]
        if name == RAISES and usual.status == "error":
            return True if usual.text.startswith("raised ") else None  # it may return no tensor
        if name == RAISES:
            return False if usual.status == "ok" else None
        if usual.status != "ok" or not np.isfinite(output_of(usual)).all():
            return None
        kind, _, rest = name.partition(" ")
        if kind in ("gained", "lost"):
            before, after = self.shows(self.own, int(rest)), self.shows(self.other, int(rest))
            if before is None or after is None:
                return None
            return after and not before if kind == "gained" else before and not after
        if name.startswith(DIFFERS):
            same = self.same(name.removeprefix(DIFFERS))
            return None if same is None else not same
        if name.startswith(NO_GRADIENT):
            return name.removeprefix(NO_GRADIENT) not in usual.tensors
        return self.general(name)

    def general(self, name: str) -> bool | None:
        """Return whether a finding that applies to any function is true; None as in `finding`."""
        if name == SHAPE:
            return output_of(self.own[USUAL]).shape != output_of(self.other[USUAL]).shape
        if name == GRADIENTS:
            return self.same(USUAL, "grad/")
        if name == FACTOR:
            return self.factor()
        if name == TRAINING:
            return self.training()
        in_eval = all_of(self.same(call) for call in (USUAL, *self.world.needed(SAME)))
        if name == SAME:
            return in_eval
        training = self.training()
        unlike = None if training is None else not training
        others = self.same(USUAL, "grad/"), self.same(SECOND), unlike
        return all_of((in_eval, *others))  # EVERYWHERE

    def shows(self, replies: Mapping[str, Reply], place: int) -> bool | None:
        """Return whether the poke of a fact, by its number, shows; None if that cannot be told."""
        fact, poked = self.world.subject.facts[place], replies[f"fact {place}"]
        if poked.status != "ok":
            return None
        before, after = output_of(replies[USUAL]), output_of(poked)
        if not before.shape == after.shape == output_of(self.own[USUAL]).shape:
            return None
        usual, changed = (self.world.runs[name].inputs for name in (USUAL, f"fact {place}"))
        differences = fact.differences(usual, changed, before, after)
        hidden = vanishes(differences, coarseness=self.world.coarseness)
        return None if hidden is None else not hidden

    def factor(self) -> bool | None:
        """Return whether all results are the function's own times one number other than 1."""
        own, other = (output_of(replies[USUAL]) for replies in (self.own, self.other))
        total = float((own * own).sum())
        if own.shape != other.shape or not total > 0:
            return False
        factor = float((own * other).sum()) / total
        scale = float(np.abs(own).max())
        proportional = vanishes(other - factor * own, scale, self.world.coarseness)
        return abs(factor - 1) > 0.05 and abs(factor) > 0.05 if proportional else proportional

    def training(self) -> bool | None:
        """Return whether training differs; None if it may only draw other random numbers."""
        if self.world.subject.training is None:
            return False
        none, some, full = (self.same(f"{TRAINING} {rate:g}") for rate in RATES)
        if all_of((none, some, full)):
            return False
        return True if none is False or full is False else None


class Study:
    """One function of a submission, and the findings on its changed copies."""

    def __init__(self, subject: Subject, source: Source, copies: Copies) -> None:
        """Run the function as it is.

        Raises:
            UnfitError: it behaves differently when run again, or its text is not what runs.
        """
        self.subject, self.source, self.copies = subject, source, copies
        self.exercise = copies.assignment.exercise(subject.exercise)
        self.worlds: dict[int, World] = {}
        self.cache: dict[tuple[str, int], dict[str, Reply]] = {}
        self.lines: dict[int, bool] = {}  # whether they run
        self.right: str | None = None  # the solution's text, if it is available
        self.check()

    @cached_property
    def names(self) -> dict[str, str]:
        """The function's own names of its arguments, by the names that the calls use."""
        given = self.source.function.args
        own = [each.arg for each in [*given.posonlyargs, *given.args]]
        own = own[1:] if self.subject.worlds[0].kind == "method" else own
        args = (name.removeprefix(".") for name in self.subject.worlds[0].args)
        return dict(zip(args, own, strict=False))

    def in_words(self, text: str) -> str:
        """Return a text with the function's own names in place of {arguments}."""
        return re.sub(r"{(\w+)}", lambda name: self.names.get(name[1], name[1]), text)

    @cached_property
    def changes(self) -> list[Change]:
        """All single changes to the function, in lines that run."""
        return [change for change in changes(self.source) if self.reached(change.line)]

    def reached(self, line: int) -> bool:
        """Return whether the usual call runs a line."""
        if line not in self.lines:
            text = self.source.stopping_at(line)
            self.lines[line] = (
                self.source.surely_runs(line) or self.replies(text, 0, [])[USUAL].status == "error"
            )
        return self.lines[line]

    def world(self, number: int) -> World:
        """Return a world; the numbers that sheets show are those of the first."""
        if number not in self.worlds:
            call = self.subject.worlds[number]
            inputs = self.exercise.inputs(call, self.copies.seed + number)
            self.worlds[number] = World(self.subject, call, inputs)
        return self.worlds[number]

    def answer(self, text: str, runs: Sequence[Run]) -> list[Reply]:
        """Make calls with a given text of the function's module."""
        return self.copies.run(self.exercise, self.subject.module, text, runs)

    def replies(self, text: str, number: int, names: Iterable[str]) -> dict[str, Reply]:
        """Make the named calls of a world with a given text, and the usual one; each only once.

        The usual call comes first, because most copies that raise do so in every call.
        """
        replies = self.cache.setdefault((text, number), {})
        runs = self.world(number).runs
        if USUAL not in replies:
            replies[USUAL] = trimmed(self.answer(text, [runs[USUAL]])[0], runs[USUAL])
        missing = [name for name in names if name not in replies]
        if missing and replies[USUAL].status == "ok":
            further = [runs[name] for name in missing]
            answers = map(trimmed, self.answer(text, further), further)
            replies |= zip(missing, answers, strict=True)
        return replies

    def own(self, number: int, names: Sequence[str]) -> dict[str, Reply]:
        """Make calls with the function as it is.

        Raises:
            UnfitError: it fails on a call, or answers differently after other calls.
        """
        own = self.cache.get((self.source.text, number), {})
        if not {USUAL, *names} <= own.keys():
            more = number == 0 and own  # all at once, because copies are loaded in between
            own = self.replies(self.source.text, number, self.world(0).runs if more else names)
            if more and not self.is_unchanged():
                raise UnfitError(NOT_TWICE)
        if any(reply.status != "ok" for reply in own.values()):
            raise UnfitError("it fails on some calls")
        if self.right is not None:
            right = self.replies(self.right, number, [])[USUAL]
            if right.status == "ok" and equal(tensors_of(own[USUAL]), tensors_of(right)) is False:
                raise UnfitError("it behaves differently in calls that are not graded")
        return own

    def check(self) -> None:
        """Check that the function answers, and answers alike in another order or a longer text.

        Raises:
            UnfitError: it does not.
        """
        first, *others = self.world(0).runs.items()
        runs = dict([first, *others[-2:]])
        own = self.own(0, [*runs])
        turned = {
            name: run if name.startswith(TRAINING) else run.reseeded
            for name, run in reversed(runs.items())
        }
        longer = self.source.beginning_with("pass")
        again = zip(turned, self.answer(longer, [*turned.values()]), strict=True)
        same = {
            name: equal(own[name].tensors, trimmed(reply, runs[name]).tensors)
            for name, reply in again
        }
        if False in same.values() or not same[USUAL]:
            raise UnfitError(NOT_TWICE)
        stopped = self.replies(self.source.beginning_with("raise RuntimeError"), 0, [])
        if stopped[USUAL].status != "error":
            raise UnfitError("its text is not the code that runs")
        self.right = self.copies.solution(self.subject.module)
        self.own(0, [])

    def is_unchanged(self) -> bool:
        """Return whether the function still answers as before, whatever copies left behind."""
        run = self.world(0).runs[USUAL]
        (reply,) = self.answer(self.source.text, [run])
        return equal(self.own(0, [])[USUAL].tensors, trimmed(reply, run).tensors) is True

    def finding(self, change: Change, name: str, number: int = 0) -> bool | None:
        """Return whether a finding is true of a changed copy in a world; None if undecided."""
        world = self.world(number)
        if name in (SAME, EVERYWHERE):  # for most copies, the usual call already shows a difference
            usual = self.replies(change.text, number, [])
            if Compared(world, self.own(number, []), usual).same(USUAL) is False:
                return False
        names = world.needed(name)
        replies = self.replies(change.text, number, names)
        return Compared(world, self.own(number, names), replies).finding(name)

    def steady(self, change: Change) -> bool:
        """Return whether a changed copy answers the usual call alike with another seed."""
        first, run = self.replies(change.text, 0, [])[USUAL], self.world(0).runs[USUAL].reseeded
        if first.status != "ok":
            return True
        (again,) = self.answer(change.text, [run])
        return equal(first.tensors, trimmed(again, run).tensors) is not False

    def confirms(self, change: Change, name: str, value: bool) -> bool:
        """Return whether a finding has a value in all worlds."""
        if not self.steady(change):
            return False
        numbers = range(len(self.subject.worlds))
        return all(self.finding(change, name, number) is value for number in numbers)
