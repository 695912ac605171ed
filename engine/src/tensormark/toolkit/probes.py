"""An exercise, from how its function is called and a list of probes.

    def draw(rng, call):
        s = call.sizes
        return {
            "x": rng.standard_normal((s.B, s.T, s.D)),
            "cotangent/output": rng.standard_normal((s.B, s.T, s.D)),
            **as_weights(dense(rng, "wide", s.D, s.F) | dense(rng, "narrow", s.F, s.D)),
        }

    EXERCISE = exercise(
        "FeedForward.forward", ("x",), draw, sizes=Sizes(B=3, T=7, D=5, F=4),
        probes=(
            *usual("feed_forward", Sizes(B=1, T=4, D=6, F=8)),
            probe("zeros", "properties", "zeros give NaN", inputs="zeros"),
        ),
        id="feed_forward", file="model.py", points=8,
    )

A probe says what its call has of its own: sizes, the name of its inputs, fields such as dtype. The
call is made with the student's own functions and, for an exercise with others upstream, again with
stand-ins for these.
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tensormark.exercise import (
    NO_DROPOUT,
    NUMPY,
    PLAIN,
    SECOND_CALL,
    SIZES_PROBE,
    TORCH,
    Call,
    Draw,
    Examine,
    Exercise,
    Probe,
    Sizes,
    Tensors,
)

Fixed = Mapping[str, Any] | Callable[[Sizes], Mapping[str, Any]]  # may depend on the sizes
# ids of upstream exercises to paths of methods with the names of their stand-ins
Given = Mapping[str | tuple[str, ...], Mapping[str, str]]
NOTHING: Mapping[Any, Any] = {}
NO_SIZES = Sizes()


@dataclasses.dataclass(frozen=True)
class Case:
    """A probe without its calls, and what its exercise makes them from; see `probe`."""

    probe: Probe
    calls: Callable[[Call], Sequence[Call]] | None
    fields: Mapping[str, Any]


def probe(
    name: str,
    part: str,
    says: str,
    *,
    calls: Callable[[Call], Sequence[Call]] | None = None,
    examine: Examine | None = None,
    **fields: Any,
) -> Case:
    """Return a probe of the exercise that lists it.

    Args:
        name, part, says, examine: as in `Probe`.
        calls: makes the probe's calls from that of the student's own functions, if they are not
            those of `stood_in`.
        fields: those of its calls that differ from the exercise's, such as dtype="float64" or
            `sizes`; `inputs`, the name by which `draw` knows what to draw, which probes may share;
            and `rate`, for `dropout` and all sizes whose names end like that.
    """
    return Case(Probe(name, part, says, (), examine), calls, fields)


# --- usual probes -------------------------------------------------------------------------------


def output(what: str, **fields: Any) -> Case:
    """Probe the outputs and all gradients."""
    fields = {"gradients": True, **fields}
    return probe("output", "values", f"{what} gives a wrong output", **fields)


def other_sizes(what: str, sizes: Sizes, which: str = "", **fields: Any) -> Case:
    """Probe other sizes, in float64.

    Args:
        which: what they are, if an exercise has several such probes.
    """
    fields = {"inputs": f"other {which}".rstrip(), "sizes": sizes, "dtype": "float64", **fields}
    says = f"{what} is wrong for {which or 'other sizes'} or in float64"
    name = f"{SIZES_PROBE}: {which}" if which else SIZES_PROBE
    return probe(name, "properties", says, **fields)


def second_call(says: str = "a call with other inputs gives a wrong output", **fields: Any) -> Case:
    """Probe a call after one with other inputs.

    Args:
        says: what is wrong if nothing carries over from the first call.
    """
    return probe(SECOND_CALL, "properties", says, inputs=SECOND_CALL, **fields)


def usual(what: str, other: Sizes | None = None, **fields: Any) -> tuple[Case, ...]:
    """Probe the output, other sizes if there are any, and a second call.

    Args:
        what: the exercise in messages.
        fields: further fields of all their calls.
    """
    sizes = () if other is None else (other_sizes(what, other, **fields),)
    return output(what, **fields), *sizes, second_call(**fields)


def refused(what: str, error: str = "ValueError") -> Case:
    """Probe an exception.

    Args:
        what: the inputs that are refused, for `draw` and in messages, such as "an empty word".
    """
    return probe(what, "properties", f"{what} is accepted", inputs=what, raises=error)


def _at_rate(
    rate: float, name: str, says: str, paths: Sequence[str], fields: Mapping[str, Any]
) -> Case:
    rates = {"rates": dict.fromkeys(paths, rate)} if paths else {"rate": rate}
    return probe(name, "training", says, train=True, **rates, **fields)


def no_dropout(*paths: str, **fields: Any) -> Case:
    """Probe training with a dropout rate of 0, which should equal eval.

    Args:
        paths: attributes, or paths of attributes, of the dropout modules; without them, all rates
            among the sizes are changed.
    """
    says = "with a dropout rate of 0, training should give the same result as eval"
    return _at_rate(0.0, NO_DROPOUT, says, paths, fields)


def all_dropped(*paths: str, name: str = "all dropped", **fields: Any) -> Case:
    """Probe training with a dropout rate of 1, which shows where dropout is applied.

    Args:
        paths: as in `no_dropout`.
    """
    says = "with a dropout rate of 1, training gives a wrong output"
    return _at_rate(1.0, name, says, paths, fields)


# --- the exercise -------------------------------------------------------------------------------


def _ids(key: str | tuple[str, ...]) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else key


def stood_in(call: Call, given: Given) -> tuple[Call, ...]:
    """Return a call of the student's own functions, and those with stand-ins.

    The second call replaces the first upstream exercise, the third the first two, and so on.
    """
    calls = [call]
    for key, stand_ins in given.items():
        last = calls[-1]
        ids = (*last.given, *_ids(key))
        both = {**last.stand_ins, **stand_ins}
        calls.append(dataclasses.replace(last, given=ids, stand_ins=both))
    return tuple(calls)


def _own_call(fields: Mapping[str, Any]) -> Call:
    """Return a call of the student's own functions."""
    own = dict(fields)
    if own["arrays"] == NUMPY:
        own |= {"dtype": "float64", "gradients": False}
    rate = own.pop("rate", None)
    if rate is not None:
        names = ["dropout", *(name for name in own["sizes"] if name.endswith("dropout"))]
        own["sizes"] = own["sizes"] | dict.fromkeys(names, rate)
    for name in ("options", "literals"):
        if callable(own[name]):
            own[name] = own[name](own["sizes"])
    return Call(**own)


def _sized(usual: Mapping[str, Any], sizes: Mapping[str, Any], **more: Any) -> Call:
    """Return a call with these sizes."""
    return _own_call({**usual, "inputs": "sized", "sizes": Sizes(sizes), **more})


def _probe(case: Case, own: Call, given: Given, upstream: Sequence[str]) -> Probe:
    """Return the probe with all its calls."""
    calls = case.calls(own) if case.calls else stood_in(own, given)
    ordered = [
        dataclasses.replace(each, given=tuple(name for name in upstream if name in each.given))
        for each in calls
    ]
    return dataclasses.replace(case.probe, calls=tuple(ordered))


def _with_earlier_inputs(draw: Draw) -> Draw:
    """Return a function that also draws the inputs of the call before the second, if need be."""

    def draw_all(rng: np.random.Generator, call: Call) -> Tensors:
        tensors = draw(rng, call)
        if call.inputs == SECOND_CALL and not any(name.startswith("before/") for name in tensors):
            earlier = draw(rng, call)
            tensors |= {f"before/{name}": earlier[name] for name in call.args if name in earlier}
        return tensors

    return draw_all


def exercise(
    target: str,
    args: tuple[str, ...],
    draw: Draw,
    *,
    file: str,
    id: str = "",
    probes: Sequence[Case] = (),
    points: float | Mapping[str, float] = 4,
    sizes: Sizes = NO_SIZES,
    options: Fixed = NOTHING,
    literals: Fixed = NOTHING,
    given: Given = NOTHING,
    draw_private: Draw | None = None,
    arrays: str | None = TORCH,
    call: Mapping[str, Any] = NOTHING,
    **about: Any,
) -> Exercise:
    """Return an exercise with these probes.

    Args:
        target: a class and a method, such as "SwiGLU.forward", or a function.
        args: names of inputs, or of literals; see `Call.args`.
        draw: returns the inputs of a call by name: arrays, or plain values (worker/values.py);
            weights/<parameter>, and cotangent/<output> for each output that has gradients. For a
            second call, it is asked twice, unless it returns before/<input>.
        id: the name of the function or method, if it is not given.
        probes: the usual ones, if none are given.
        points: by part; or a number, of which values get three quarters, and properties the rest.
        sizes: those of all probes that have no others.
        options: further arguments of the class, or a function of the sizes.
        literals: arguments that are not tensors, or a function of the sizes.
        given: upstream exercises, in order, to their stand-ins.
        draw_private: draws for private references, if `draw` would draw the same inputs.
        arrays: "numpy" for arrays of numpy, and None for functions that return a plain value: calls
            are in float64, and have no gradients.
        call: further fields of every call, such as {"form": "tuple", "returns": ("a", "b")}.
        file, about: fields of the exercise, such as `title`, or its `order`, if that of the names
            of files does not suit.
    """
    id = id or target.rpartition(".")[2]
    about = {"order": 0, "title": "", **about}
    if isinstance(points, int | float):
        points = {"values": 0.75 * points, "properties": 0.25 * points}
    probes = probes or usual(id)
    upstream = about.pop("upstream", tuple(itertools.chain.from_iterable(map(_ids, given))))
    common = {
        "target": target,
        "args": args,
        "module": file.removesuffix(".py"),
        "kind": "method" if "." in target else "function",
        "sizes": sizes,
        "options": options,
        "literals": literals,
        "arrays": arrays or NUMPY,
        "form": "tensor" if arrays else PLAIN,
        **call,
    }
    return Exercise(
        id=id,
        points=points,
        file=file,
        upstream=upstream,
        probes=tuple(
            _probe(case, _own_call({**common, **case.fields}), given, upstream) for case in probes
        ),
        draw=_with_earlier_inputs(draw),
        draw_private=draw_private and _with_earlier_inputs(draw_private),
        sized=functools.partial(_sized, {**common, **probes[0].fields}),
        **about,
    )
