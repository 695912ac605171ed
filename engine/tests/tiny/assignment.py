"""The detector assignment: its exercises, how each is called, and how many points it is worth.

B signals, D channels, T steps, P patterns, K steps of a pattern, C classes; W = T - K + 1 windows.
"""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tensormark.exercise import Assignment, Call, Exercise, Probe, Tensors
from tensormark.policy import Policy

from .task import Detection

# all sizes differ, W included, so that axes cannot be confused
SIZES = {"B": 4, "D": 2, "T": 9, "P": 5, "K": 3, "C": 6}
OTHER_SIZES = {"B": 1, "D": 3, "T": 7, "P": 4, "K": 2, "C": 5}
STEPS = 4  # of the optimizer

# --- calls ------------------------------------------------------------------------------------

conv = functools.partial(Call, "Convolution.forward", ("signals",), module="detector", config=SIZES)


def detector(config: Mapping[str, int] = SIZES, **more: Any) -> tuple[Call, ...]:
    """Return the detector's own call, then the one in which its convolution is given."""
    own = functools.partial(
        Call,
        "Detector.forward",
        ("signals",),
        module="detector",
        config=config,
        options={"classes": config["C"]},
        **more,
    )
    return own(), own(given=("conv",), stand_ins={"conv.forward": "convolution"})


def momentum(*groups: dict[str, Any], **more: Any) -> tuple[Call, ...]:
    """Return a call in which the optimizer takes steps."""
    literals = {"groups": groups, "steps": STEPS}
    return (Call("Momentum.step", (), "momentum", kind="optimizer", literals=literals, **more),)


# --- inputs -----------------------------------------------------------------------------------


def convolution(rng: np.random.Generator, sizes: Mapping[str, int], prefix: str) -> Tensors:
    """Draw a convolution's weights; the lowest bias hides its pattern from a ReLU."""
    return {
        f"weights/{prefix}weight": rng.standard_normal([sizes[name] for name in "PDK"]),
        f"weights/{prefix}bias": np.linspace(-9.0, 2.0, sizes["P"]),
    }


def draw_conv(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw signals, weights, and the factors of the output for its gradient."""
    B, D, T, P, K = (call.config[name] for name in "BDTPK")
    return {
        "signals": rng.standard_normal((B, D, T)),
        "cotangent/output": rng.standard_normal((B, P, T - K + 1)),
        **convolution(rng, call.config, ""),
    }


def draw_detector(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw signals, the weights of both parts, and the factors of the output."""
    B, D, T, P, C = (call.config[name] for name in "BDTPC")
    return {
        "signals": rng.standard_normal((B, D, T)),
        "cotangent/output": rng.standard_normal((B, C)),
        **convolution(rng, call.config, "conv."),
        "weights/head.weight": rng.standard_normal((C, P)),
        "weights/head.bias": rng.standard_normal(C),
    }


def draw_momentum(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw parameters, and gradients for each step; c has none."""
    sizes = {"a": 5, "b": 3, "c": 2}
    start = {f"start/{name}": rng.standard_normal(size) for name, size in sizes.items()}
    steps = {f"gradients/{name}": rng.standard_normal((STEPS, sizes[name])) for name in "ab"}
    return start | steps


# --- exercises --------------------------------------------------------------------------------

CONV = Exercise(
    id="conv",
    order=1,
    title="a convolution",
    file="detector.py",
    points={"values": 8, "properties": 2},
    draw=draw_conv,
    probes=(
        Probe("output", "values", "the convolution gives a wrong output", (conv(gradients=True),)),
        Probe(
            "other sizes",
            "properties",
            "the convolution is wrong for other sizes or in float64",
            (conv(inputs="other", config=OTHER_SIZES, dtype="float64"),),
        ),
    ),
)
DETECTOR = Exercise(
    id="detector",
    order=2,
    title="a detector",
    file="detector.py",
    points={"values": 8, "properties": 2},
    upstream=("conv",),
    draw=draw_detector,
    probes=(
        Probe("output", "values", "the detector gives wrong scores", detector(gradients=True)),
        Probe(
            "other sizes",
            "properties",
            "the detector is wrong for other sizes or in float64",
            detector(OTHER_SIZES, inputs="other", dtype="float64"),
        ),
    ),
)
MOMENTUM = Exercise(
    id="momentum",
    order=3,
    title="gradient descent with momentum",
    file="momentum.py",
    points={"values": 8, "properties": 2},
    draw=draw_momentum,
    probes=(
        Probe("steps", "values", "the steps are wrong", momentum({"params": ["a", "b", "c"]})),
        Probe(
            "groups",
            "properties",
            "steps are wrong with values of a group's own or in float64",
            momentum(
                {"params": ["a"], "lr": 0.5},
                {"params": ["b"], "momentum": 0.3},
                dtype="float64",
            ),
        ),
    ),
)
DETECTION = Exercise(
    id="detection",
    order=4,
    title="training a detector",
    file="detector.py",
    points={"values": 10},
    upstream=("conv", "detector", "momentum"),
    task=Detection(),
)

# --- the assignment ---------------------------------------------------------------------------


def locate(got: np.ndarray, expected: np.ndarray, inputs: Tensors) -> str | None:
    """Return which window of a convolution's output (B, P, W) is wrong, if only one is."""
    if got.ndim != 3 or got.shape != expected.shape:
        return None
    wrong = ~np.isclose(got, expected, rtol=1e-3, atol=1e-4).all((0, 1))
    return f"only window {int(np.argmax(wrong))} is wrong" if wrong.sum() == 1 else None


ASSIGNMENT = Assignment(
    name="Detector",
    folder=Path(__file__).parent,
    editable=("detector.py", "momentum.py"),
    imports=("detector",),
    exercises=(CONV, DETECTOR, MOMENTUM, DETECTION),
    harness=Path(__file__).with_name("harness.py"),
    policy=Policy(("torch.nn.Conv1d", "torch.nn.functional.conv1d", "torch.optim.SGD")),
    axes={3: ("signal", "pattern", "window")},
    locate=locate,
)
