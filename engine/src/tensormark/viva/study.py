"""Finds out what changed copies of a function do, by running them and the function in a sandbox.

Copies are compared with the student's own function, never with references. Where a difference is
too close to rounding to call the results equal or different, the finding is None, and nothing is
asked about it.
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

FLOAT32_FACTOR = 30.0  # factor on the limits for float32
RAISES, SHAPE, SAME, GRADIENTS = "raises", "shape", "same", "gradients"
TRAINING, EVERYWHERE, FACTOR = "training", "everywhere", "factor"
DIFFERS, NO_GRADIENT = "differs: ", "no gradient: "
NOT_REPEATABLE = "it does not give the same result twice"
# a second call of the same object, with inputs scaled so that a softmax by hand may overflow
SECOND, SCALE = "second", 30.0
USUAL, RATES = "usual", (0.0, 0.5, 1.0)


class World:
    """The calls that copies are run with, in one set of sizes."""

    def __init__(self, subject: Subject, call: Call, inputs: Tensors) -> None:
        """Prepare the calls.

        Args:
            call: the usual one.
        """
        self.subject, self.coarseness = subject, 1.0 if call.dtype == "float64" else FLOAT32_FACTOR
        self.runs = {USUAL: Run(call, inputs)}
        forward_only = dataclasses.replace(call, gradients=False)
        for situation in subject.situations:
            self.runs[situation.name] = Run(forward_only, situation.inputs(inputs))
        for place, fact in enumerate(subject.facts):
            self.runs[f"fact {place}"] = Run(forward_only, fact.poke(inputs))
        scaled = {name: value * SCALE for name, value in inputs.items() if value.dtype.kind == "f"}
        first_inputs = {f"before/{name}": inputs[name] for name in call.args if name in inputs}
        float64_call = dataclasses.replace(forward_only, dtype="float64")
        self.runs[SECOND] = Run(float64_call, inputs | scaled | first_inputs)
        if subject.training is not None:
            for rate in RATES:
                self.runs[f"{TRAINING} {rate:g}"] = Run(
                    subject.training(forward_only, rate), inputs
                )

    def needed(self, finding: str) -> list[str]:
        """Return the names of the calls that a finding needs, besides the usual one."""
        kind, _, place = finding.partition(" ")
        if kind in ("gained", "lost"):
            return [f"fact {place}"]
        if finding.startswith(DIFFERS):
            return [finding.removeprefix(DIFFERS)]
        training_calls = [name for name in self.runs if name.startswith(TRAINING)]
        eval_calls = [situation.name for situation in self.subject.situations]
        all_calls = [*eval_calls, SECOND, *training_calls]
        return {SAME: eval_calls, TRAINING: training_calls, EVERYWHERE: all_calls}.get(finding, [])


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The replies of a function and of a changed copy in one world, by the names of calls."""

    world: World
    original: Mapping[str, Reply]
    copy: Mapping[str, Reply]

    def same(self, name: str, prefix: str = "out/") -> bool | None:
        """Return whether a call of the copy has the same outputs, or gradients, as the original."""
        if self.copy[name].status != "ok":
            return None
        original, copy = (
            tensors_of(replies[name], prefix) for replies in (self.original, self.copy)
        )
        return equal(original, copy, self.world.coarseness)

    def finding(self, name: str) -> bool | None:
        """Return whether a finding is true; None if that cannot be told."""
        usual = self.copy[USUAL]
        if name == RAISES and usual.status == "error":
            return True if usual.text.startswith("raised ") else None  # it may return no tensor
        if name == RAISES:
            return False if usual.status == "ok" else None
        if usual.status != "ok" or not np.isfinite(output_of(usual)).all():
            return None
        kind, _, fact = name.partition(" ")
        if kind in ("gained", "lost"):
            before, after = self.shows(self.original, int(fact)), self.shows(self.copy, int(fact))
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
            return output_of(self.original[USUAL]).shape != output_of(self.copy[USUAL]).shape
        if name == GRADIENTS:
            return self.same(USUAL, "grad/")
        if name == FACTOR:
            return self.factor()
        if name == TRAINING:
            return self.training()
        same_in_eval = all_of(self.same(call) for call in (USUAL, *self.world.needed(SAME)))
        if name == SAME:
            return same_in_eval
        training = self.training()
        same_in_training = None if training is None else not training
        rest = self.same(USUAL, "grad/"), self.same(SECOND), same_in_training
        return all_of((same_in_eval, *rest))  # EVERYWHERE

    def shows(self, replies: Mapping[str, Reply], place: int) -> bool | None:
        """Return whether the poke of a fact, by its number, shows; None if that cannot be told."""
        fact, poked = self.world.subject.facts[place], replies[f"fact {place}"]
        if poked.status != "ok":
            return None
        before, after = output_of(replies[USUAL]), output_of(poked)
        if not before.shape == after.shape == output_of(self.original[USUAL]).shape:
            return None
        usual, changed = (self.world.runs[name].inputs for name in (USUAL, f"fact {place}"))
        differences = fact.differences(usual, changed, before, after)
        hidden = vanishes(differences, coarseness=self.world.coarseness)
        return None if hidden is None else not hidden

    def factor(self) -> bool | None:
        """Return whether all results are the function's own times one number other than 1."""
        original, copy = (output_of(replies[USUAL]) for replies in (self.original, self.copy))
        total = float((original * original).sum())
        if original.shape != copy.shape or not total > 0:
            return False
        factor = float((original * copy).sum()) / total
        scale = float(np.abs(original).max())
        proportional = vanishes(copy - factor * original, scale, self.world.coarseness)
        return abs(factor - 1) > 0.05 and abs(factor) > 0.05 if proportional else proportional

    def training(self) -> bool | None:
        """Return whether training differs; None if it may only draw other random numbers."""
        if self.world.subject.training is None:
            return False
        without_dropout, with_dropout, all_dropped = (
            self.same(f"{TRAINING} {rate:g}") for rate in RATES
        )
        if all_of((without_dropout, with_dropout, all_dropped)):
            return False
        return True if without_dropout is False or all_dropped is False else None


class Study:
    """Runs one function of a submission and its changed copies, and compares what they return."""

    def __init__(self, subject: Subject, source: Source, copies: Copies) -> None:
        """Run the function as it is.

        Raises:
            UnfitError: it behaves differently when run again, or its text is not what runs.
        """
        self.subject, self.source, self.copies = subject, source, copies
        self.exercise = copies.assignment.exercise(subject.exercise)
        self.worlds: dict[int, World] = {}
        self.cache: dict[tuple[str, int], dict[str, Reply]] = {}
        self.lines: dict[int, bool] = {}  # by number: whether the usual call runs it
        self.solution: str | None = None  # the solution's text, if it is available
        self.check()

    @cached_property
    def names(self) -> dict[str, str]:
        """The function's own names of its arguments, by the names that the calls use."""
        signature = self.source.function.args
        parameters = [parameter.arg for parameter in [*signature.posonlyargs, *signature.args]]
        parameters = parameters[1:] if self.subject.worlds[0].kind == "method" else parameters
        args = (name.removeprefix(".") for name in self.subject.worlds[0].args)
        return dict(zip(args, parameters, strict=False))

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
                self.source.certainly_runs(line)
                or self.replies(text, 0, [])[USUAL].status == "error"
            )
        return self.lines[line]

    def world(self, number: int) -> World:
        """Return a world; the numbers that sheets show are those of the first."""
        if number not in self.worlds:
            call = self.subject.worlds[number]
            inputs = self.exercise.inputs(call, self.copies.assignment.seed + number)
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
        missing_names = [name for name in names if name not in replies]
        if missing_names and replies[USUAL].status == "ok":
            missing_runs = [runs[name] for name in missing_names]
            answers = map(trimmed, self.answer(text, missing_runs), missing_runs)
            replies |= zip(missing_names, answers, strict=True)
        return replies

    def original_replies(self, number: int, names: Sequence[str]) -> dict[str, Reply]:
        """Make calls with the function as it is.

        Raises:
            UnfitError: it fails on a call, or answers differently after other calls.
        """
        replies = self.cache.get((self.source.text, number), {})
        if not {USUAL, *names} <= replies.keys():
            all_at_once = number == 0 and replies  # because copies are loaded in between
            replies = self.replies(
                self.source.text, number, self.world(0).runs if all_at_once else names
            )
            if all_at_once and not self.is_unchanged():
                raise UnfitError(NOT_REPEATABLE)
        if any(reply.status != "ok" for reply in replies.values()):
            raise UnfitError("it fails on some calls")
        if self.solution is not None:
            expected = self.replies(self.solution, number, [])[USUAL]
            if (
                expected.status == "ok"
                and equal(tensors_of(replies[USUAL]), tensors_of(expected)) is False
            ):
                raise UnfitError("it behaves differently in calls that are not graded")
        return replies

    def check(self) -> None:
        """Check that the function gives the same answers in another order, and in a longer text.

        Raises:
            UnfitError: it does not, or it fails.
        """
        first, *rest = self.world(0).runs.items()
        runs = dict([first, *rest[-2:]])
        first_replies = self.original_replies(0, [*runs])
        reversed_runs = {
            name: run if name.startswith(TRAINING) else run.reseeded
            for name, run in reversed(runs.items())
        }
        longer = self.source.beginning_with("pass")
        second_replies = zip(
            reversed_runs, self.answer(longer, [*reversed_runs.values()]), strict=True
        )
        equalities = {
            name: equal(first_replies[name].tensors, trimmed(reply, runs[name]).tensors)
            for name, reply in second_replies
        }
        if False in equalities.values() or not equalities[USUAL]:
            raise UnfitError(NOT_REPEATABLE)
        stopped = self.replies(self.source.beginning_with("raise RuntimeError"), 0, [])
        if stopped[USUAL].status != "error":
            raise UnfitError("its text is not the code that runs")
        self.solution = self.copies.solution(self.subject.module)
        self.original_replies(0, [])

    def is_unchanged(self) -> bool:
        """Return whether the function still answers as before, whatever copies left behind."""
        run = self.world(0).runs[USUAL]
        (reply,) = self.answer(self.source.text, [run])
        return (
            equal(self.original_replies(0, [])[USUAL].tensors, trimmed(reply, run).tensors) is True
        )

    def finding(self, change: Change, name: str, number: int = 0) -> bool | None:
        """Return whether a finding is true of a changed copy in a world; None if undecided."""
        world = self.world(number)
        if name in (SAME, EVERYWHERE):  # for most copies, the usual call already shows a difference
            usual = self.replies(change.text, number, [])
            if Comparison(world, self.original_replies(number, []), usual).same(USUAL) is False:
                return False
        names = world.needed(name)
        replies = self.replies(change.text, number, names)
        return Comparison(world, self.original_replies(number, names), replies).finding(name)

    def steady(self, change: Change) -> bool:
        """Return whether a changed copy answers the usual call alike when seeded differently."""
        reply, run = self.replies(change.text, 0, [])[USUAL], self.world(0).runs[USUAL].reseeded
        if reply.status != "ok":
            return True
        (second_reply,) = self.answer(change.text, [run])
        return equal(reply.tensors, trimmed(second_reply, run).tensors) is not False

    def confirms(self, change: Change, name: str, value: bool) -> bool:
        """Return whether a finding has a value in all worlds."""
        if not self.steady(change):
            return False
        numbers = range(len(self.subject.worlds))
        return all(self.finding(change, name, number) is value for number in numbers)
