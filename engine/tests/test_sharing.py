"""Which exercises share a process at first, and how a change that one leaves is noticed."""

import dataclasses
import sys
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest
import torch

from tensormark.exercise import Call, Exercise, Probe
from tensormark.references import Recording
from tensormark.sharing import groups
from tensormark.worker.state import Traces

SOURCE = """
import functools, itertools, random
import numpy as np
import torch
from torch import nn

number, kept, numbers = 0, [], itertools.count()
drawn, generator, dice = np.random.default_rng(0), torch.Generator(), random.Random(0)
weights, array, linear = torch.zeros(2), np.zeros(2), nn.Linear(2, 2)

class Part:
    calls = 0
    def __init__(self): self.inside = {}

part = Part()

@functools.cache
def cached(x): return x

def function(x, seen=[]): return x

def closed():
    inner = []
    return lambda: inner.append(1)

add = closed()
"""
CHANGES = [
    "next(m.numbers)",
    "m.drawn.random()",
    "torch.rand(1, generator=m.generator)",
    "m.weights.add_(1)",
    "m.array[0] = 1",
    "m.linear.weight.data = torch.ones(2, 2)",
    "m.part.inside['x'] = 1",
    "m.cached(1)",
    "m.function.__defaults__[0].append(1)",
    "m.function.mask = 1",
    "m.add()",
    "m.new = 1",
    "torch.nn.functional.softmax = m.function",
    "torch.Tensor.more = 1",
]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    example = ModuleType("shared_example")
    exec(SOURCE, vars(example))
    monkeypatch.setitem(sys.modules, example.__name__, example)
    softmax = torch.nn.functional.softmax
    yield example
    torch.nn.functional.softmax = softmax
    if hasattr(torch.Tensor, "more"):
        del torch.Tensor.more


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_call_leaves_behind_is_noticed(module: ModuleType, change: str) -> None:
    traces = Traces([module.__name__])
    module.linear(module.weights)
    torch.nn.functional.softmax(torch.rand(3), 0)
    untouched = traces.changed()

    exec(change, {"m": module, "torch": torch})

    assert not untouched
    assert traces.changed()


def exercise(name: str, **more: object) -> Exercise:
    probe = Probe("own", "values", "wrong", (Call("f", ("x",), "main"),))
    points = {"values": 1, "properties": 1}
    plain = Exercise(name, 0, name, "main.py", points, probes=(probe,))
    return dataclasses.replace(plain, **more)


class Recorded:
    """References of exercises whose input and answer are numbers."""

    def __init__(self, **pairs: tuple[float, float]) -> None:
        self.pairs = pairs

    def recordings(self, name: str, _: str) -> list[Recording]:
        value, answer = (np.array([0.0, n]) for n in self.pairs[name])
        return [Recording({"x": value}, {"output": answer}, {}, np.zeros(0))]


A = exercise("a")
B = exercise("b")


@pytest.mark.parametrize(
    ("others", "pairs", "grouped"),
    [
        (
            [B, exercise("c", file="other.py")],
            {"a": (1, 2), "b": (3, 4), "c": (5, 6)},
            ["a b", "c"],
        ),
        ([exercise("b", forbidden=("torch.relu",))], {"a": (1, 2), "b": (3, 4)}, ["a", "b"]),
        # an input that is the answer of another exercise is kept from it
        ([B], {"a": (1, 2), "b": (2, 3)}, ["a", "b"]),
        ([B], {"a": (3, 4), "b": (1, 3)}, ["a", "b"]),
        # small numbers are told apart
        ([B], {"a": (2e-6, 1), "b": (1e-6, 2e-6)}, ["a", "b"]),
        ([B], {"a": (2e-6, 1), "b": (1e-6, 3e-6)}, ["a b"]),
    ],
)
def test_exercises_share_a_process_if_none_reveals_an_answer(
    others: list[Exercise], pairs: dict[str, tuple[float, float]], grouped: list[str]
) -> None:
    found = groups([A, *others], Recorded(**pairs))

    assert [" ".join(member.id for member in group) for group in found] == grouped
