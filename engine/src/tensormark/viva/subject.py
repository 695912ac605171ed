"""What an assignment declares about a function that questions are on: how to call it, and wording.

It does so in grader/viva.py. Nothing there says what is right: a changed function is compared with
the student's own.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tensormark.exercise import Call, Exercise, Tensors
from tensormark.folder import PACKAGE, AssignmentError, module

VISIBLE = 1e-4  # the least difference that counts
Poke = Callable[[Tensors], Tensors]
# from the inputs, the poked inputs and both results: differences, zero where something holds
Differences = Callable[[Tensors, Tensors, np.ndarray, np.ndarray], np.ndarray]


@dataclasses.dataclass(frozen=True)
class Fact:
    """Whether a poke of the inputs shows in the result, and the words for gaining or losing that.

    Attributes:
        poke: changes the inputs of a call.
        differences: all zero if the poke does not show.
        gained: what is said of a change after which it shows; lost: of one after which it no longer
            does. Empty: nothing is said. Both are sentences of about equal length, in which
            {first_norm} becomes the function's own name for this input or module.
    """

    poke: Poke
    differences: Differences
    gained: str = ""
    lost: str = ""


@dataclasses.dataclass(frozen=True)
class Subject:
    """A function that questions are asked about.

    Attributes:
        exercise: the id of the exercise whose hole it is.
        worlds: calls of it in eval mode, with gradients, in three different sizes; within a call,
            all letters differ.
        special: change the inputs of these calls to others, such as a batch without padding; only
            what makes no difference there either is said to make none.
        facts: what questions may say about its results.
        training: returns a call in training mode, with a rate of dropout everywhere; None if
            training is no different.
        note: what a sheet says of its calls, such as "`Layer.forward` is called without a mask."
    """

    exercise: str
    worlds: Sequence[Call]
    special: Sequence[Poke] = ()
    facts: Sequence[Fact] = ()
    training: Callable[[Call, float], Call] | None = None
    note: str = ""

    @classmethod
    def of(cls, exercise: Exercise, sizes: Sequence[Mapping[str, int]], **words: Any) -> "Subject":
        """Return the subject of an exercise that `toolkit.exercise` has made.

        Args:
            sizes: of the three calls.
            words: further fields.
        """
        assert exercise.sized is not None, f"{exercise.id} has no calls by sizes"
        worlds = [exercise.sized(size, dtype="float64") for size in sizes]
        dropped = set().union(*(call.rates for call in exercise.calls if call.train))

        def training(call: Call, rate: float) -> Call:
            return dataclasses.replace(call, train=True, rates=dict.fromkeys(dropped, rate))

        return cls(exercise.id, worlds, **{"training": training if dropped else None, **words})

    @property
    def target(self) -> str:
        """The function, such as "Layer.forward"."""
        return self.worlds[0].target

    @property
    def module(self) -> str:
        """The module that it is in."""
        return self.worlds[0].module


def subjects_of(folder: Path) -> Sequence[Subject]:
    """Return the functions that questions are asked about: SUBJECTS in grader/viva.py, if any.

    Raises:
        AssignmentError: the file cannot be imported, or has no SUBJECTS.
    """
    path = folder / PACKAGE / "viva.py"
    if not path.is_file():
        return ()
    subjects: Sequence[Subject] | None = getattr(module(folder, "viva"), "SUBJECTS", None)
    if subjects is None:
        raise AssignmentError(f"{path} has no SUBJECTS = (...)")
    return subjects


# --- differences ----------------------------------------------------------------------------


def depends(places: Callable[[Tensors], Any] = lambda inputs: ...) -> Differences:
    """Look for a difference at some places of the result, such as one row.

    Args:
        places: returns an index of the result, from the inputs.
    """
    return lambda inputs, poked, before, after: np.asarray((after - before)[places(inputs)])


def spread(changed: Callable[[np.ndarray], int], allowed: Callable[[Tensors], int]) -> Differences:
    """Check whether more parts of the result change than were poked, wherever they are.

    Args:
        changed: counts the changed parts of the result, from a mask of its changed numbers.
        allowed: returns how many may change, from the inputs.
    """

    def differences(
        inputs: Tensors, poked: Tensors, before: np.ndarray, after: np.ndarray
    ) -> np.ndarray:
        count = changed(np.abs(after - before) > VISIBLE)
        return np.array([max(0.0, float(count - allowed(inputs)))])

    return differences


def moved(move: Callable[[np.ndarray], np.ndarray]) -> Differences:
    """Check whether the result moves with the inputs, such as to other positions."""
    return lambda inputs, poked, before, after: after - move(before)


# --- pokes ----------------------------------------------------------------------------------


def with_values(value: float, *names: str) -> Poke:
    """Fill some inputs with one number."""
    return lambda inputs: inputs | {name: np.full_like(inputs[name], value) for name in names}


def negated(*names: str) -> Poke:
    """Replace inputs x by 1 - x."""
    return at((...,), *names)


def at(index: tuple[object, ...], *names: str) -> Poke:
    """Replace inputs x by 1 - x at one index."""

    def poke(inputs: Tensors) -> Tensors:
        changed = {name: inputs[name].copy() for name in names}
        for value in changed.values():
            value[index] = 1.0 - value[index]  # type: ignore[index]
        return inputs | changed

    return poke


def rolled(axes: Mapping[str, int]) -> Poke:
    """Roll inputs by one position, the last one to the front, each along its axis."""
    return lambda inputs: (
        inputs | {name: np.roll(inputs[name], 1, axis) for name, axis in axes.items()}
    )
