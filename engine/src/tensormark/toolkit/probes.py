"""The probes that most exercises have, in one call.

    def draw(rng, s):
        x = rng.standard_normal((s.B, s.T, s.D))
        weights = dense(rng, "wide", s.D, s.F) | dense(rng, "narrow", s.F, s.D)
        return {"x": x}, weights, x.shape

    EXERCISE = exercise(
        "FeedForward.forward", ("x",), draw, sizes=(SIZES, OTHER_SIZES),
        id="feed_forward", order=10, title="the feed-forward part", file="model.py",
        points={"values": 6, "properties": 2},
    )

is an `Exercise` with these probes, each of which could also be written out:

    output         values       the outputs and all gradients
    other sizes    properties   other sizes, in float64
    second call    properties   a call after one with other inputs
    no dropout     training     with `dropout`: at a rate of 0, training equals eval
    all dropped    training     with `dropout`: a rate of 1 shows where dropout is applied
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tensormark.exercise import SECOND_CALL, SIZES_PROBE, Call, Examine, Exercise, Probe, Tensors
from tensormark.toolkit.draws import as_weights

MAIN, OTHER, SIZED = "main", "other", "sized"  # names of drawn inputs, like SECOND_CALL
NUMBERS = ("number", "numbers", "rows", "lists")  # forms without gradients
Shape = tuple[int, ...]


class Sizes(dict[str, int]):
    """The sizes of a small random call, by letter: Sizes(B=3, T=7).T is 7.

    All should differ, so that no axis can be mistaken for another.
    """

    def __getattr__(self, name: str) -> int:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no size {name} among {', '.join(self)}") from None


# Returns the inputs by name; the weights by parameter, if an object has any; and the shape of the
# output, or of each output by name, or None if none has gradients.
Drawn = tuple[Tensors, Tensors, Shape | Mapping[str, Shape] | None]
Draw = Callable[[np.random.Generator, Sizes], Drawn]
Fixed = Mapping[str, Any] | Callable[[Sizes], Mapping[str, Any]]  # may depend on the sizes


@dataclasses.dataclass(frozen=True)
class Further:
    """A probe besides the usual ones; its calls are made like theirs, also with stand-ins.

    Attributes:
        name, part, says, examine: as in `Probe`.
        draw: draws its inputs; None: use those of the probe "output", if `sizes` is None too.
        sizes: defaults to the first ones.
        call: further fields of its calls, such as {"dtype": "float64"}.
    """

    name: str
    part: str
    says: str
    draw: Draw | None = None
    sizes: Sizes | None = None
    call: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    examine: Examine | None = None

    @property
    def inputs(self) -> str:
        """The name of the probe's drawn inputs."""
        return MAIN if self.draw is None and self.sizes is None else self.name


@dataclasses.dataclass(frozen=True)
class _CallTemplate:
    """How an exercise is called.

    Attributes:
        target, args, module: as in `Call`.
        fields: further fields of every call.
        options, literals: as in `Call`, or functions of the sizes.
        given: upstream exercises, in order, to their stand-ins.
    """

    target: str
    args: tuple[str, ...]
    module: str
    fields: Mapping[str, Any]
    options: Fixed
    literals: Fixed
    given: Mapping[str, Mapping[str, str]]

    @property
    def gradients(self) -> bool:
        """Whether the output has gradients, which are compared as well."""
        return bool(self.fields.get("gradients", self.fields.get("form") not in NUMBERS))

    def sized(self, sizes: Sizes, **more: Any) -> Call:
        """Return the call of the student's own functions with any sizes."""
        return self.calls(SIZED, sizes, gradients=self.gradients, **more)[0]

    def calls(self, inputs: str, sizes: Sizes, **more: Any) -> tuple[Call, ...]:
        """Return the call of the student's own functions, then the calls with stand-ins.

        The second call replaces the first upstream exercise, the third the first two, and so on.
        """
        fields = {
            "kind": "method" if "." in self.target else "function",
            "config": sizes,
            "options": _fixed(self.options, sizes),
            "literals": _fixed(self.literals, sizes),
            **self.fields,
            **more,
        }
        calls = [Call(self.target, self.args, self.module, inputs, **fields)]
        given: tuple[str, ...] = ()
        stand_ins: dict[str, str] = {}
        for upstream, replacements in self.given.items():
            given, stand_ins = (*given, upstream), {**stand_ins, **replacements}
            calls.append(dataclasses.replace(calls[0], given=given, stand_ins=stand_ins))
        return tuple(calls)


def _fixed(value: Fixed, sizes: Sizes) -> Mapping[str, Any]:
    return value(sizes) if callable(value) else value


def _draw_function(
    draw: Draw, further: Mapping[str, Draw]
) -> Callable[[np.random.Generator, Call], Any]:
    """Return the function that draws all of a call's tensors: inputs, weights and cotangents.

    Args:
        further: names of inputs to the functions that draw them instead of `draw`.
    """

    def draw_all(rng: np.random.Generator, call: Call) -> Tensors:
        draw_inputs, sizes = further.get(call.inputs, draw), Sizes(call.config)
        inputs, weights, shape = draw_inputs(rng, sizes)
        if not isinstance(shape, Mapping):
            shape = {} if shape is None else {call.returns[0]: shape}
        cotangents = {f"cotangent/{name}": rng.standard_normal(s) for name, s in shape.items()}
        tensors = {**inputs, **as_weights(weights), **cotangents}
        if call.inputs == SECOND_CALL:
            earlier, _, _ = draw_inputs(rng, sizes)
            tensors |= {f"before/{name}": value for name, value in earlier.items()}
        return {name: np.asarray(value) for name, value in tensors.items()}

    return draw_all


def other_sizes(what: str, *calls: Call) -> Probe:
    """Probe calls of other sizes, in float64."""
    says = f"{what} is wrong for other sizes or in float64"
    return Probe(SIZES_PROBE, "properties", says, calls)


def second_call(*calls: Call) -> Probe:
    """Probe a second call of the same function."""
    says = "a second call gives a wrong output: something carries over from the first"
    return Probe(SECOND_CALL, "properties", says, calls)


def no_dropout(*calls: Call) -> Probe:
    """Probe training with a dropout rate of 0."""
    says = "with a dropout rate of 0, training should give the same result as eval"
    return Probe("no dropout", "training", says, calls)


def misplaced_dropout(name: str, *calls: Call, examine: Examine | None = None) -> Probe:
    """Probe where dropout is applied in training: by random draws, or with a rate of 1."""
    says = "with a dropout rate of 1, training gives a wrong output"
    if examine is not None:
        says = "dropout in training is in the wrong place"
    return Probe(name, "training", says, calls, examine)


def _usual_probes(
    name: str, template: _CallTemplate, sizes: tuple[Sizes, Sizes], dropout: tuple[str, ...]
) -> Iterator[Probe]:
    """Yield the usual probes of an exercise.

    Args:
        name: the exercise's name in messages.
    """
    main, other = sizes
    calls = template.calls(MAIN, main, gradients=template.gradients)
    yield Probe("output", "values", f"{name} gives a wrong output", calls)
    yield other_sizes(name, *template.calls(OTHER, other, dtype="float64"))
    yield second_call(*template.calls(SECOND_CALL, main))
    if dropout:
        off, on = (dict.fromkeys(dropout, rate) for rate in (0.0, 1.0))
        yield no_dropout(*template.calls(MAIN, main, train=True, rates=off))
        yield misplaced_dropout("all dropped", *template.calls(MAIN, main, train=True, rates=on))


def exercise(
    target: str,
    args: tuple[str, ...],
    draw: Draw,
    *,
    sizes: tuple[Sizes, Sizes],
    id: str,
    title: str,
    file: str,
    points: Mapping[str, float],
    order: int = 0,
    options: Fixed | None = None,
    literals: Fixed | None = None,
    given: Mapping[str, Mapping[str, str]] | None = None,
    dropout: tuple[str, ...] = (),
    further: tuple[Further, ...] = (),
    without: tuple[str, ...] = (),
    draw_private: Draw | None = None,
    call: Mapping[str, Any] | None = None,
    **about: Any,
) -> Exercise:
    """Return an exercise with the usual probes.

    Args:
        target: a class and a method, such as "SwiGLU.forward", or a function.
        args: names of inputs, or of literals; see `Call.args`.
        draw: returns the inputs of one call, the weights, and the shape of the output.
        sizes: the usual sizes, and those of the probe "other sizes".
        options: further arguments of the class, or a function of the sizes.
        literals: arguments that are not tensors, or a function of the sizes.
        given: upstream exercises, in order, to their stand-ins.
        dropout: attributes, or paths of attributes, of the dropout modules.
        further: additional probes.
        without: names of usual probes to leave out.
        draw_private: draws for private references, if `draw` would draw the same inputs.
        call: further fields of every call, such as {"form": "tuple", "returns": ("a", "b")}.
        about: further fields of the exercise, such as `extension`.
    """
    given = given or {}
    template = _CallTemplate(
        target, args, file.removesuffix(".py"), call or {}, options or {}, literals or {}, given
    )
    probes = [p for p in _usual_probes(id, template, sizes, dropout) if p.name not in without]
    for extra in further:
        calls = template.calls(extra.inputs, extra.sizes or sizes[0], **extra.call)
        probes.append(Probe(extra.name, extra.part, extra.says, calls, extra.examine))
    draws = {extra.name: extra.draw for extra in further if extra.draw is not None}
    return Exercise(
        id=id,
        order=order,
        title=title,
        file=file,
        points=points,
        upstream=about.pop("upstream", tuple(given)),
        probes=tuple(probes),
        draw=_draw_function(draw, draws),
        draw_private=None if draw_private is None else _draw_function(draw_private, draws),
        sized=template.sized,
        **about,
    )
