"""Finds out what a function's lines compute with, and what changed copies do, in a sandbox.

Copies are compared with the student's own function, never with references. Each is loaded anew in
the tier of the grading; in the tiers that isolate, in a new process.
"""

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tensormark.exercise import Assignment, Call, Tensors
from tensormark.judging.place import order
from tensormark.judging.tape import LINE, Tape
from tensormark.sandbox.interface import Reply, Request, clock
from tensormark.sandbox.sandbox import Sandbox
from tensormark.viva.source import Change, Source, Statement, UnfitError
from tensormark.viva.subject import Subject

MAX_LINES = 60  # of a function on a sheet
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
TRAINED = "training 0.5"
WEIGHTS = "weights/"
FIRST_LINE = 2  # the column of a tape's record that has the first line of its function
OUTPUT = "out/"
GRADIENT = "grad/"
TRAINING = "The result changes, but only in training, with dropout."
SAME = "Nothing changes."
SAME_IN_TRAINING = "Nothing changes, not even in training."
NOT_REPEATABLE = "it does not give the same result twice"
Truth = bool | None  # None: cannot be told
Effects = Mapping[str, Truth]  # statements about a change


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
    """Return outputs and gradients of a reply; none if the call failed or changed its inputs."""
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


class World(NamedTuple):
    """The calls of a function in one set of sizes, and what the function itself answers."""

    requests: dict[str, Request]
    own: Answers


def requests_of(subject: Subject, call: Call, inputs: Tensors) -> dict[str, Request]:
    """Return the calls that a function and its copies are run with, by name."""
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
    return {
        name: Request(subject.exercise, own, each.message(), tensors, SECONDS)
        for name, (each, tensors) in calls.items()
    }


class Study:
    """Runs one function of a submission and its changed copies, and compares what they return."""

    def __init__(self, subject: Subject, assignment: Assignment, copies: Copies) -> None:
        """Run the function as it is, in every world.

        Raises:
            UnfitError: it fails, differs when run again, or its text is not what runs.
        """
        self.subject = subject
        self.source = Source(copies.sources[subject.module], subject.target)
        if len(self.source.listing()) > MAX_LINES:
            raise UnfitError("it is too long")
        self.copies = copies
        self.order = order(subject.target, assignment.targets, scales=True)
        self.file = sorted(assignment.editable).index(f"{subject.module}.py")  # on tapes
        self.arguments = self._arguments()
        self.same = SAME_IN_TRAINING if subject.training else SAME
        self.is_reached: dict[Statement, bool] = {}
        exercise = assignment.exercise(subject.exercise)
        self.worlds: list[World] = []
        for seed, call in enumerate(subject.worlds, start=assignment.seed):
            requests = requests_of(subject, call, exercise.inputs(call, seed))
            own = self.answers(requests, self.source.text)
            if not all(own.values()):
                raise UnfitError("it fails on some calls")
            if not is_steady(own):
                raise UnfitError(NOT_REPEATABLE)
            self.worlds.append(World(requests, own))
        requests, own = self.worlds[0]
        begins = self.source.statements[0]
        backwards = dict(reversed(requests.items()))
        again = self.answers(backwards, self.source.before(begins, "pass"))
        if False in [equal(answer, again[name]) for name, answer in own.items()]:
            raise UnfitError(NOT_REPEATABLE)
        if not self.reached(begins):
            raise UnfitError("the code that runs differs from its source")

    def _arguments(self) -> dict[str, str]:
        """Return the function's own names of the arguments; those of modules begin with a dot."""
        parameters = self.source.parameters
        call = self.subject.worlds[0]
        return dict(zip(call.args, parameters[call.kind == "method" :], strict=False))

    def in_words(self, text: str) -> str:
        """Return a text with the function's own names in place of {arguments}."""
        names = {name.removeprefix("."): own for name, own in self.arguments.items()}
        return re.sub(r"{(\w+)}", lambda name: names.get(name[1], name[1]), text)

    def answers(self, requests: Mapping[str, Request], text: str) -> Answers:
        """Make calls with a given text of the function's module."""
        replies = self.copies.run(self.subject.module, text, requests.values())
        sent = (request.tensors for request in requests.values())
        return dict(zip(requests, map(tensors_of, replies, sent), strict=True))

    def usual(self, text: str) -> Tensors:
        """Make the usual call in the first sizes with a given text of the function's module."""
        return self.answers({USUAL: self.worlds[0].requests[USUAL]}, text)[USUAL]

    # --- what the function's statements depend on ---

    def own_name(self, name: str) -> str:
        """Return what the function calls an input or the module of a weight; "" if nothing."""
        module = name.removeprefix(WEIGHTS).partition(".")[0]
        if not name.startswith(WEIGHTS):
            return self.arguments.get(name, "")
        return self.arguments.get(f".{module}", f"self.{module}")

    def phrase(self, name: str) -> str:
        """Return what options say for a tensor or for dropout."""
        if name == TRAINED:
            return "the random numbers of dropout, in training"
        *_, weight = name.removeprefix(WEIGHTS).partition(".")
        return f"the numbers in `{self.own_name(name)}{'.' * bool(weight)}{weight}`"

    def changeable(self) -> list[str]:
        """Return the tensors whose numbers can be changed in all worlds."""
        usual = [world.requests[USUAL].tensors for world in self.worlds]
        names = sorted(set.intersection(*(set(tensors) for tensors in usual)))
        return [
            name
            for name in names
            if self.own_name(name)
            and (usual[0][name].dtype.kind == "f" or np.isin(usual[0][name], (0, 1)).all())
        ]

    def tapes(self, world: World, names: Iterable[str]) -> dict[str, Tape]:
        """Return tapes of the usual call, "", and of calls with another result for one reason.

        Args:
            names: of tensors, each of which is changed in one of the calls.
        """
        usual = world.requests[USUAL]
        asked = {"": usual}
        for name in names:
            tensors = {**usual.tensors, name: 1 - usual.tensors[name]}
            asked[name] = dataclasses.replace(usual, tensors=tensors)
        if TRAINED in world.requests:
            asked[TRAINED] = world.requests[TRAINED]
        requests = [dataclasses.replace(each, tape=self.order) for each in asked.values()]
        replies = self.copies.run(self.subject.module, self.source.text, requests)
        answers = [tensors_of(reply, {}) for reply in replies]
        return {
            name: tape
            for name, reply, answer in zip(asked, replies, answers, strict=True)
            if (tape := Tape.of(reply.tensors)) is not None
            and (name == "" or equal(answers[0], answer) is False)
        }

    def first_difference(self, usual: Tape, other: Tape) -> Statement | None:
        """Return the statement on which another tape first differs; None if that is not clear.

        The statement must be the first in time and in the text, and no other function's.
        """
        if not np.array_equal(usual.records[:, : LINE + 1], other.records[:, : LINE + 1]):
            return None
        places = usual.records[usual.differences(other)]
        own = (places[:, 0] == self.file) & (places[:, FIRST_LINE] == self.source.first)
        if not own.any() or not own[0]:
            return None
        lines = places[own, LINE].tolist()
        statement = self.source.statement_at(lines[0])
        is_first = statement is not None and min(lines) >= statement.first
        return statement if is_first else None

    def first_statements(self, names: Sequence[str]) -> dict[str, tuple[Statement, str]]:
        """Return the first statements whose results depend on tensors or on dropout, and why.

        Left out are those that are not the same in all worlds.
        """
        taped = [self.tapes(world, names) for world in self.worlds]
        found: dict[str, tuple[Statement, str]] = {}
        for name in set.intersection(*(set(tapes) for tapes in taped)) - {""}:
            first, *others = (self.first_difference(each[""], each[name]) for each in taped)
            if first is None or others.count(first) < len(others):
                continue
            found[name] = first, taped[0][""].reason(taped[0][name])
        return dict(sorted(found.items()))

    # --- what changes do ---

    def reached(self, statement: Statement) -> bool:
        """Return whether the usual call runs a statement; False if it is an `elif`."""
        if statement not in self.is_reached:
            texts = [self.source.before(statement, new) for new in ("pass", "raise RuntimeError")]
            passed, raised = map(self.usual, texts)
            self.is_reached[statement] = bool(passed) and not raised
        return self.is_reached[statement]

    def effects(self, change: Change) -> Effects | None:
        """Return what a change does in every world; None if it cannot be asked about.

        That is so if the changed function raises, draws random numbers or never gets there.
        """
        text = self.source.changed(change)
        if not self.reached(change.statement):
            return None
        if not self.usual(text):  # half of the changes raise
            return None
        found: list[Effects] = []
        for world in self.worlds:
            copy = self.answers(world.requests, text)
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
        effects = {self.same: all_of([in_eval, trained])}
        if self.subject.training:
            effects[TRAINING] = all_of([in_eval, opposite(trained)])
        for place, fact in enumerate(self.subject.facts):
            showed = self.shows(world, place, world.own)
            shows = self.shows(world, place, copy) if before.shape == after.shape else None
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
