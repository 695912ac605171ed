"""Which exercises share a process at first."""

import dataclasses

import numpy as np
import pytest

from tensormark.exercise import Call, Exercise, Probe
from tensormark.references import Recording
from tensormark.sharing import groups


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
