"""The toolkit: usual probes in one call, and where an output is wrong."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tensormark.exercise import Exercise, followed
from tensormark.toolkit import Call, Sizes, Tensors, exercise, locator, optimizer, probe, usual
from tensormark.toolkit.draws import as_weights, dense
from tensormark.toolkit.optimizers import usual_steps
from tensormark.toolkit.places import locate
from tensormark.toolkit.probes import Case, all_dropped, no_dropout, output, stood_in

MAIN = Sizes(B=3, T=7, D=5, F=4)
OTHER = Sizes(B=1, T=4, D=6, F=8)
ABOUT: dict[str, Any] = {
    "id": "gate",
    "order": 10,
    "title": "a gate",
    "file": "model.py",
    "points": {"values": 6, "training": 2, "properties": 2},
    "sizes": MAIN,
}


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    s = call.sizes
    return {
        "x": rng.standard_normal((s.B, s.T, s.D)),
        "cotangent/output": rng.standard_normal((s.B, s.T, s.F)),
        **as_weights(dense(rng, "wide", s.D, s.F)),
    }


def gate_with(*further: Case, target: str = "Gate.forward", **more: Any) -> Exercise:
    return exercise(target, ("x",), draw, probes=(*usual("gate", OTHER), *further), **ABOUT, **more)


def parts(exercise: Exercise) -> dict[str, str]:
    return {probe.name: probe.part for probe in exercise.probes}


def calls(exercise: Exercise, name: str) -> tuple[Call, ...]:
    return next(probe.calls for probe in exercise.probes if probe.name == name)


# --- probes -------------------------------------------------------------------------------------


def test_the_usual_probes_are_the_output_other_sizes_and_a_second_call() -> None:
    gate = gate_with(options=lambda s: {"width": s.D})

    assert parts(gate) == {
        "output": "values",
        "other sizes": "properties",
        "second call": "properties",
    }
    (first,) = calls(gate, "output")
    (other,) = calls(gate, "other sizes")
    assert (first.kind, first.module, first.gradients) == ("method", "model", True)
    assert (first.dtype, other.dtype) == ("float32", "float64")
    assert (first.options, other.options) == ({"width": 5}, {"width": 6})
    json.dumps([call.message() for call in gate.calls])  # a call is sent as JSON


def test_a_function_is_called_as_one() -> None:
    assert {call.kind for call in gate_with(target="gate").calls} == {"function"}


def test_the_call_before_the_second_has_other_inputs_of_the_same_shapes() -> None:
    gate = gate_with()

    inputs = gate.inputs(calls(gate, "second call")[0], seed=1)

    assert {name for name in inputs if name.startswith("before/")} == {"before/x"}
    assert inputs["before/x"].shape == inputs["x"].shape
    assert not np.array_equal(inputs["before/x"], inputs["x"])


def test_inputs_before_the_second_call_may_be_drawn_by_the_exercise() -> None:
    def shorter(rng: np.random.Generator, call: Call) -> Tensors:
        tensors = draw(rng, call)
        return tensors | {"before/x": tensors["x"][:, 1:]}

    gate = exercise("gate", ("x",), shorter, probes=usual("gate", OTHER), **ABOUT)

    assert gate.inputs(calls(gate, "second call")[0], seed=1)["before/x"].shape == (3, 6, 5)


def test_each_upstream_exercise_is_given_after_those_before_it() -> None:
    gate = gate_with(given={"norm": {"norm.forward": "norm"}, ("wide", "long"): {"m:wide": "wide"}})

    assert gate.upstream == ("norm", "wide", "long")
    for each in gate.probes:
        given = [call.given for call in each.calls]
        assert given == [(), ("norm",), ("norm", "wide", "long")]
        assert [len(call.stand_ins) for call in each.calls] == [0, 1, 2]
        assert len({call.inputs for call in each.calls}) == 1


def test_a_stand_in_replaces_what_is_upstream_of_the_exercise_that_it_replaces() -> None:
    def one(name: str, *upstream: str) -> Exercise:
        given = {each: {f"model:{each}": each} for each in upstream}
        return exercise(
            name, ("x",), draw, probes=(output(name),), given=given, **{**ABOUT, "id": name}
        )

    rope, attention, block, mixed = followed(
        [
            one("rope"),
            one("attention", "rope"),
            one("block", "attention"),
            one("mixed", "attention", "rope"),
        ]
    )

    assert block.upstream == ("attention", "rope")
    assert [call.given for call in block.calls] == [(), ("attention", "rope")]
    assert [call.given for call in attention.calls] == [(), ("rope",)]
    # it calls rope itself, too
    assert [call.given for call in mixed.calls] == [(), ("attention",), ("attention", "rope")]
    assert rope.upstream == ()


def test_a_probe_may_make_its_calls_itself() -> None:
    def last_only(call: Call) -> tuple[Call, ...]:
        return stood_in(call, {"norm": {"norm.forward": "other"}})[1:]

    one = probe("one", "values", "it is wrong", calls=last_only)
    gate = gate_with(one, given={"norm": {"norm.forward": "norm"}})

    (call,) = calls(gate, "one")
    assert (call.given, call.stand_ins) == (("norm",), {"norm.forward": "other"})


def test_dropout_is_a_size_or_the_rate_of_modules() -> None:
    gate = gate_with(no_dropout("dropout", "inner.dropout"), all_dropped())

    kept = calls(gate, "no dropout")[0]
    dropped = calls(gate, "all dropped")[0]
    assert kept.train
    assert kept.rates == {"dropout": 0.0, "inner.dropout": 0.0}
    assert kept.sizes == MAIN
    assert dropped.sizes == {**MAIN, "dropout": 1.0}
    assert {kept.inputs, dropped.inputs} == {calls(gate, "output")[0].inputs}


def test_a_probe_has_inputs_and_sizes_of_its_own_or_those_of_the_exercise() -> None:
    gate = gate_with(
        probe("doubles", "values", "it is wrong in float64", dtype="float64"),
        probe("large", "values", "it is wrong if large", inputs="large", sizes=MAIN | {"T": 30}),
    )

    drawn = {each.name: gate.inputs(each.calls[0], seed=1) for each in gate.probes}
    assert np.array_equal(drawn["doubles"]["x"], drawn["output"]["x"])
    assert drawn["large"]["x"].shape == (3, 30, 5)


def test_literals_may_depend_on_the_sizes() -> None:
    rate = exercise(
        "rate",
        ("step",),
        lambda rng, call: {},
        probes=(output("rate", gradients=False),),
        **ABOUT,
        literals=lambda s: {"step": s.T},
        call={"form": "number"},
    )

    (call,) = rate.calls
    assert (call.gradients, call.literals, call.form) == (False, {"step": 7}, "number")
    assert rate.inputs(call, seed=1) == {}


def test_an_unknown_size_is_named() -> None:
    with pytest.raises(AttributeError, match="there is no size H among B, T, D, F"):
        _ = MAIN.H


def test_an_optimizer_takes_one_step_several_and_those_of_groups() -> None:
    momentum = optimizer(
        "Momentum.step",
        probes=usual_steps({"lr": 0.1}, {"lr": 0.5}),
        id="momentum",
        order=20,
        title="momentum",
        file="momentum.py",
        points={"values": 8, "properties": 2},
    )

    assert parts(momentum) == {"first step": "values", "steps": "values", "groups": "properties"}
    assert momentum.axes == {}
    groups = calls(momentum, "groups")[0].literals["groups"]
    assert [group["lr"] for group in groups] == [0.1, 0.5]
    inputs = momentum.inputs(momentum.calls[0], seed=1)
    assert inputs["gradients/a"].shape[1:] == inputs["start/a"].shape
    assert "start/c" in inputs
    assert "gradients/c" not in inputs


# --- places -------------------------------------------------------------------------------------

RIGHT = np.random.default_rng(1).standard_normal((3, 4, 5))
AXES = ("signal", "pattern", "window")


def changed(*index: Any) -> np.ndarray:
    got = RIGHT.copy()
    got[index] += 1.0 + np.arange(got[index].size).reshape(got[index].shape)
    return got


PLACES: Mapping[str, np.ndarray] = {
    "only signal 0 of the batch is wrong": changed(0),
    "signal 0 of the batch is right; the others are wrong": changed(slice(1, None)),
    "only patterns from number 2 on are wrong": changed(slice(None), slice(2, None)),
    "only pattern 1 of each signal is wrong": changed(slice(None), 1),
    "only windows from number 4 on are wrong": changed(slice(None), slice(None), 4),
    "only window 1 of each signal is wrong": changed(slice(None), slice(None), 1),
    "every value is -2 times the expected one": -2.0 * RIGHT,
    "every value is off by the same amount": RIGHT + 3.0,
    "each pattern has the right values, but its windows are in the wrong order": RIGHT[..., ::-1],
    "the signals have the right values, but are in another order": RIGHT[::-1],
    "the patterns have the right values, but are in another order": np.roll(RIGHT, 2, axis=1),
    "the number of values is right: check the order of axes": RIGHT.transpose(0, 2, 1),
    "the number of values is right: an axis of length 1 is missing or extra": RIGHT[:, None],
    "all the right values are there, but in the wrong places: check the order of axes": (
        RIGHT.transpose(1, 0, 2).reshape(3, 4, 5)
    ),
}


@pytest.mark.parametrize("message", PLACES)
def test_a_place_is_named_in_the_words_of_the_assignment(message: str) -> None:
    assert locate(PLACES[message], RIGHT, AXES) == message


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        (np.s_[1, 3:], "only padding is wrong"),
        (np.s_[:, :3], "only patterns are wrong; padding is right"),
        (np.s_[1], "only signals that have padding are wrong"),
        (np.s_[:, 3], "only patterns from number 3 on are wrong"),
    ],
)
def test_a_place_comes_first_if_padding_explains_it(wrong: Any, place: str) -> None:
    padding = np.zeros((3, 4), dtype=bool)
    padding[1, 3:] = True

    assert (
        locate(changed(*(wrong if isinstance(wrong, tuple) else (wrong,))), RIGHT, AXES, padding)
        == place
    )


@pytest.mark.parametrize(("got", "among"), [(RIGHT + RIGHT**2, None), (changed(..., 4), 2)])
def test_what_is_wrong_everywhere_has_no_place(got: np.ndarray, among: int | None) -> None:
    assert locate(got, RIGHT, AXES, among=among) is None


def test_a_single_value_is_not_given_away_by_its_ratio() -> None:
    assert locate(np.full((1, 1), 2.0), np.full((1, 1), 0.5), ("row", "unit")) is None


def test_an_output_whose_axes_have_no_names_has_no_place() -> None:
    where = locator({3: AXES})

    assert where(2.0 * RIGHT, RIGHT, {}) == "every value is 2 times the expected one"
    assert where(2.0 * RIGHT[0], RIGHT[0], {}) is None
