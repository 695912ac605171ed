"""Finds out what changed copies of a function do, by running them and the function in a sandbox.

Copies are compared with the student's own function, never with references. Each is loaded anew in
the tier of the grading; in the tiers that isolate, in a new process.
"""

import ast
import dataclasses
import functools
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tensormark.exercise import Call, Exercise, Tensors
from tensormark.judging.place import order
from tensormark.judging.tape import Tape
from tensormark.sandbox.interface import Reply, Request, Sandbox, clock
from tensormark.viva.edits import Change, Source
from tensormark.viva.subject import Subject

MAX_LOST = 2  # copies that hang or crash, before questions stop
SECONDS = 10.0  # limit for a call, which takes milliseconds
TOTAL_SECONDS = 300.0  # limit for all calls of a submission, which take about ten seconds
# limits on differences of numbers around 1
MAX_EQUAL = 3e-6
MIN_DIFFERENT = 1e-3
USUAL = "usual"
AGAIN = "again"
# a second call of the same object, with inputs scaled so that a softmax by hand may overflow
SECOND = "second"
SCALE = 30.0
RATES = (0.0, 0.5, 1.0)  # of dropout, in training
OUTPUT = "out/"
GRADIENT = "grad/"
SHAPE = "The result has a different shape."
TRAINING = "The result changes, but only in training, with dropout."
SAME = "Nothing changes."
SAME_IN_TRAINING = "Nothing changes, not even in training."
NOT_REPEATABLE = "it does not give the same result twice"
Truth = bool | None  # None: cannot be told
Effects = Mapping[str, Truth]  # statements about a change


class UnfitError(Exception):
    """No questions can be asked about a function; the message says why."""


class Copies:
    """Runs copies of a submission's modules in a sandbox.

    Attributes:
        sources: the modules that the functions need, own and given ones: name to text.
        lost: how many copies have hung or crashed; seconds: the time that all took.
    """

    def __init__(self, sandbox: Sandbox, sources: Mapping[str, str]) -> None:
        self.sandbox = sandbox
        self.sources = dict(sources)
        self.loaded_text = ""  # that the sandbox has now
        self.lost = 0
        self.seconds = 0.0

    def run(self, module: str, text: str, requests: Iterable[Request]) -> list[Reply]:
        """Make calls with a given text of a module, as if there had been none before.

        Raises:
            UnfitError: too many copies were lost already, or all took too long.
        """
        if self.lost >= MAX_LOST:
            raise UnfitError("changed copies of its functions hang or crash")
        if self.seconds > TOTAL_SECONDS:
            raise UnfitError("its functions take too long")
        start = clock()
        if text != self.loaded_text:
            self.sandbox.reload(self.sources | {module: text})
            self.loaded_text = text
        replies = list(self.sandbox.run(requests))
        self.seconds += clock() - start
        self.lost += any(reply.status == "lost" for reply in replies)
        return replies


def tensors_of(reply: Reply, sent: Mapping[str, Any]) -> Tensors:
    """Return a reply's outputs and gradients; none if the call failed or changed its inputs."""
    if reply.status != "ok":
        return {}
    for name, before in sent.items():
        after = reply.tensors.get(f"after/{name}", before)
        if after.shape != before.shape or not np.allclose(after, before):
            return {}
    kept = (name for name in reply.tensors if name.startswith((OUTPUT, GRADIENT)))
    return {name: reply.tensors[name].astype(np.float64) for name in kept}


def output_of(tensors: Tensors) -> np.ndarray:
    """Return the first output; NaN if there is none."""
    outputs = (value for name, value in tensors.items() if name.startswith(OUTPUT))
    return next(outputs, np.array(math.nan))


def all_of(truths: Iterable[Truth]) -> Truth:
    """Return whether all hold; None if that cannot be told."""
    values = list(truths)
    if False in values:
        return False
    return None if None in values else True


def opposite(truth: Truth) -> Truth:
    """Return whether something does not hold; None if that cannot be told."""
    return None if truth is None else not truth


Answers = dict[str, Tensors]  # by the names of a world's calls


def vanishes(differences: np.ndarray, scale: float = 1.0) -> Truth:
    """Return whether differences are zero; None if close to rounding, not finite or empty."""
    largest = float(np.abs(differences).max(initial=-math.inf)) / max(1.0, scale)
    if not math.isfinite(largest) or MAX_EQUAL < largest < MIN_DIFFERENT:
        return None
    return largest <= MAX_EQUAL


def equal(first: Tensors, second: Tensors, prefix: str = OUTPUT) -> Truth:
    """Return whether the tensors of two calls are equal; None if that cannot be told."""
    if not first or not second:
        return None
    own, other = (
        {name: value for name, value in each.items() if name.startswith(prefix)}
        for each in (first, second)
    )
    if own.keys() != other.keys() or any(own[n].shape != other[n].shape for n in own):
        return False
    scales = {name: float(np.abs(value).max(initial=0.0)) for name, value in own.items()}
    return all_of(vanishes(own[name] - other[name], scales[name]) for name in own)


def is_steady(answers: Answers) -> bool:
    """Return whether usual calls return finite numbers that no random ones decide."""
    return equal(answers[USUAL], answers[AGAIN]) is True


class World:
    """The calls that a function and its copies are run with, in one set of sizes.

    Attributes:
        own: what the function itself answers; complete once a study has been made.
    """

    def __init__(self, subject: Subject, call: Call, inputs: Tensors) -> None:
        self.own: Answers = {}
        # a worker derives its random numbers from the whole call
        reseeded = dataclasses.replace(call, constants=(*call.constants, "*another seed"))
        plain = dataclasses.replace(call, gradients=False)
        scaled = {name: value * SCALE for name, value in inputs.items() if value.dtype.kind == "f"}
        before = {f"before/{name}": inputs[name] for name in call.args if name in inputs}
        calls = {USUAL: (call, inputs), AGAIN: (reseeded, inputs)}
        for place, fact in enumerate(subject.facts):
            calls[f"fact {place}"] = (plain, fact.poke(inputs))
        for place, poke in enumerate(subject.special):
            calls[f"special {place}"] = (plain, poke(inputs))
        calls[SECOND] = (plain, inputs | scaled | before)
        if subject.training is not None:
            for rate in RATES:
                calls[f"training {rate:g}"] = (subject.training(plain, rate), inputs)
        own = frozenset({subject.exercise})
        self.requests = {
            name: Request(subject.exercise, own, each.message(), tensors, SECONDS)
            for name, (each, tensors) in calls.items()
        }


class Study:
    """Runs one function of a submission and its changed copies, and compares what they return."""

    def __init__(
        self,
        subject: Subject,
        exercise: Exercise,
        source: Source,
        copies: Copies,
        seed: int,
        others: Collection[str] = (),
    ) -> None:
        """Run the function as it is, in every world.

        Args:
            seed: of the inputs.
            others: the functions of other exercises.

        Raises:
            UnfitError: it fails, differs when run again, or its text is not what runs.
        """
        self.subject = subject
        self.source = source
        self.copies = copies
        self.order = order(subject.target, others, scales=True)
        self.names = self._names()
        self.same = SAME_IN_TRAINING if subject.training else SAME
        self.is_reached: dict[int, bool] = {}  # by line
        inputs = [exercise.inputs(call, seed + n) for n, call in enumerate(subject.worlds)]
        self.worlds = [World(subject, *each) for each in zip(subject.worlds, inputs, strict=True)]
        for world in self.worlds:
            world.own = self.answers(world, source.text)
            if not all(world.own.values()):
                raise UnfitError("it fails on some calls")
            if not is_steady(world.own):
                raise UnfitError(NOT_REPEATABLE)
        world = self.worlds[0]
        longer = self.source.before(self.source.body[0], "pass")
        again = self.answers(world, longer, [*world.requests][::-1])
        if False in [equal(own, again[name]) for name, own in world.own.items()]:
            raise UnfitError(NOT_REPEATABLE)
        if not self.reached(self.source.body[0]):
            raise UnfitError("the code that runs differs from its source")

    def _names(self) -> dict[str, str]:
        signature = self.source.function.args
        parameters = [parameter.arg for parameter in [*signature.posonlyargs, *signature.args]]
        call = self.subject.worlds[0]
        if call.kind == "method":
            parameters = parameters[1:]
        args = (name.removeprefix(".") for name in call.args)
        return dict(zip(args, parameters, strict=False))

    def in_words(self, text: str) -> str:
        """Return a text with the function's own names in place of {arguments}."""
        return re.sub(r"{(\w+)}", lambda name: self.names.get(name[1], name[1]), text)

    def phrase(self, name: str) -> str:
        """Return an input or weight as the function calls it: "`a`", "`b.weight`"."""
        module, dot, rest = name.removeprefix("weights/").partition(".")
        return f"`{self.names.get(module, module)}{dot}{rest}`"

    def answers(self, world: World, text: str, names: Sequence[str] | None = None) -> Answers:
        """Make calls of a world, or all, with a given text of the function's module."""
        asked = {name: world.requests[name] for name in names or world.requests}
        replies = self.copies.run(self.subject.module, text, asked.values())
        sent = (request.tensors for request in asked.values())
        return dict(zip(asked, map(tensors_of, replies, sent), strict=True))

    # --- the lines that the function itself runs ---

    def pokes(self, world: World) -> Iterator[tuple[str, Request]]:
        """Yield calls that differ in one input, weight or the mode, each with what then shows."""
        usual = world.requests[USUAL]
        yield "", usual
        for name, value in usual.tensors.items():
            number_or_mark = value.dtype.kind == "f" or bool(np.isin(value, (0, 1)).all())
            prefix, _, rest = name.rpartition("weights/")
            if number_or_mark and (name in usual.call["args"] or (prefix == "" and rest != name)):
                poked = dataclasses.replace(usual, tensors={**usual.tensors, name: 1 - value})
                yield f"depends on {self.phrase(name)}", poked
        dropped = world.requests.get(f"training {RATES[1]:g}")
        if dropped is not None:
            yield "is changed by dropout in training", dropped

    def tapes(self, world: World) -> dict[str, Tape]:
        """Return the tapes of the usual call and of those of `pokes` that run the same lines."""
        asked = {
            name: dataclasses.replace(each, tape=self.order) for name, each in self.pokes(world)
        }
        replies = self.copies.run(self.subject.module, self.source.text, asked.values())
        tapes = {name: Tape.of(each.tensors) for name, each in zip(asked, replies, strict=True)}
        usual = tapes[""]
        return {
            name: tape
            for name, tape in tapes.items()
            if tape is not None
            and usual is not None
            and np.array_equal(tape.records[:, :2], usual.records[:, :2])
        }

    @functools.cached_property
    def all_tapes(self) -> list[dict[str, Tape]]:
        """The tapes of each world."""
        return [self.tapes(world) for world in self.worlds]

    def first_lines(self) -> dict[str, tuple[int, str]]:
        """Return the first line that each poke changes, the same in every world, and why."""
        first: dict[str, tuple[int, str]] = {}
        names = set.intersection(*({*tapes} for tapes in self.all_tapes)) - {""}
        for name in sorted(names):
            found = {tapes[""].first_difference(tapes[name]) for tapes in self.all_tapes}
            line = found.pop()
            if line is None or found:
                continue
            tapes = self.all_tapes[0]
            first[name] = line, tapes[""].reason(tapes[name], line)
        return first

    def reached(self, statement: ast.stmt) -> bool:
        """Return whether the usual call runs a statement."""
        line = statement.lineno
        if line not in self.is_reached:
            text = self.source.before(statement, "raise RuntimeError")
            answers = self.answers(self.worlds[0], text, [USUAL])
            self.is_reached[line] = not answers[USUAL]
        return self.is_reached[line]

    def effects(self, change: Change) -> Effects | None:
        """Return what a change does in every world; None if it cannot be asked about.

        That is so if the changed function raises, draws random numbers or never gets there.
        """
        if not self.reached(change.statement):
            return None
        found: list[Effects] = []
        for world in self.worlds:
            copy = self.answers(world, change.text)
            if not is_steady(copy):
                return None
            found.append(self._effects(world, copy))
        return {
            name: truth if all(each.get(name) is truth for each in found) else None
            for name, truth in found[0].items()
        }

    def _effects(self, world: World, copy: Answers) -> dict[str, Truth]:
        usual = world.own[USUAL]
        changed = copy[USUAL]
        before = output_of(usual)
        after = output_of(changed)
        same = {name: equal(answer, copy[name]) for name, answer in world.own.items()}
        gradients = equal(usual, changed, GRADIENT)
        in_training = [same.pop(f"training {rate:g}", True) for rate in RATES]
        trained = all_of(in_training)
        if trained is False and False not in (in_training[0], in_training[-1]):
            trained = None  # other random numbers may be all that differs
        in_eval = all_of([*same.values(), gradients])
        effects = {SHAPE: before.shape != after.shape, self.same: all_of([in_eval, trained])}
        if self.subject.training:
            effects[TRAINING] = all_of([in_eval, opposite(trained)])
        for place, fact in enumerate(self.subject.facts):
            showed = self.shows(world, place, world.own)
            shows = None if effects[SHAPE] else self.shows(world, place, copy)
            if fact.gained:
                effects[self.in_words(fact.gained)] = all_of([opposite(showed), shows])
            if fact.lost:
                effects[self.in_words(fact.lost)] = all_of([showed, opposite(shows)])
        return effects

    def shows(self, world: World, place: int, answers: Answers) -> Truth:
        """Return whether the poke of a fact, by its number, shows in results."""
        name = f"fact {place}"
        before = output_of(answers[USUAL])
        after = output_of(answers[name])
        if before.shape != after.shape:
            return None
        inputs = dict(world.requests[USUAL].tensors)
        changed = dict(world.requests[name].tensors)
        differences = self.subject.facts[place].differences(inputs, changed, before, after)
        return opposite(vanishes(differences))
