"""What an assignment says of a function that questions are asked about: how to call it, and words.

An assignment's stand in grader/viva.py. Nothing there says what is right: a change is compared with
the student's own function.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tensormark.exercise import Call, Exercise, Tensors
from tensormark.folder import PACKAGE, AssignmentError, module

DTYPES = ("float64", "float64", "float32")  # of the calls in three sizes
SEEN = 1e-4  # of a difference
Poke = Callable[[Tensors], Tensors]
# differences, zero where something holds, from: the inputs, the poked ones, and their results
Differences = Callable[[Tensors, Tensors, np.ndarray, np.ndarray], np.ndarray]


@dataclasses.dataclass(frozen=True)
class Fact:
    """Whether results change where inputs do, and what is said of a change of that.

    Attributes:
        poke: changes the inputs of a call.
        differences: all zero where poking does not show.
        gained: what is said of a change that makes it show; lost: of one after which it no longer
            does. Empty: nothing is said. Sentences of about equal length; in them, {first_norm}
            becomes what the function calls this input or module.
    """

    poke: Poke
    differences: Differences
    gained: str = ""
    lost: str = ""


@dataclasses.dataclass(frozen=True)
class Situation:
    """A kind of call, such as one without padding.

    Attributes:
        says: what it is: "a batch without padding".
        inputs: makes its inputs from those of the usual call.
    """

    says: str
    inputs: Poke


@dataclasses.dataclass(frozen=True)
class Example:
    """A call with inputs that are easy to reckon with.

    Attributes:
        says: the inputs, in one or two sentences.
        call: that is made; its `draw` need not know it.
        inputs: of it.
        shown: which part of the result is asked for: what it is called, and how to get it.
    """

    says: str
    call: Call
    inputs: Callable[[], Tensors]
    shown: tuple[str, Callable[[np.ndarray], np.ndarray]]


@dataclasses.dataclass(frozen=True)
class Subject:
    """A function that questions are asked about.

    Attributes:
        exercise: of which it is the hole.
        worlds: calls of it in eval mode, with gradients, of three different sizes; all letters of
            one differ.
        usual: what the first situation is called.
        situations: further ones, and facts: what may be said of its results.
        training: the same call in training mode, with this rate of dropout everywhere; None if
            training is no different.
        sizes: of a world's call, by letter, for questions on shapes; {names} as in a fact's words.
        examples: for questions on numbers.
        note: what a sheet says of its calls, such as "`Layer.forward` is called without a mask."
        mistakes: ids of known ones that a single change makes, for questions on messages: of all
            the others it would be clear that no change is the answer.
    """

    exercise: str
    worlds: Sequence[Call]
    usual: str = "a usual batch"
    situations: Sequence[Situation] = ()
    facts: Sequence[Fact] = ()
    training: Callable[[Call, float], Call] | None = None
    sizes: Callable[[Call], Mapping[str, int]] = lambda call: {}
    examples: Sequence[Example] = ()
    note: str = ""
    mistakes: Sequence[str] = ()

    @classmethod
    def of(cls, exercise: Exercise, sizes: Sequence[Mapping[str, int]], **words: Any) -> "Subject":
        """Return an exercise that `toolkit.exercise` has made as a subject.

        Args:
            sizes: of the three calls.
            words: further fields.
        """
        assert exercise.sized is not None, f"{exercise.id} has no calls by sizes"
        worlds = [
            exercise.sized(one, dtype=dtype) for one, dtype in zip(sizes, DTYPES, strict=True)
        ]
        dropped = {name for call in exercise.calls if call.train for name in call.rates}

        def training(call: Call, rate: float) -> Call:
            return dataclasses.replace(call, train=True, rates=dict.fromkeys(dropped, rate))

        usual = {"training": training if dropped else None, "sizes": lambda call: call.config}
        return cls(exercise.id, worlds, **{**usual, **words})

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
        AssignmentError: the file cannot be imported, or says nothing.
    """
    path = folder / PACKAGE / "viva.py"
    if not path.is_file():
        return ()
    subjects: Sequence[Subject] | None = getattr(module(folder, "viva"), "SUBJECTS", None)
    if subjects is None:
        raise AssignmentError(f"{path} has no SUBJECTS = (...)")
    return subjects


def depends(places: Callable[[Tensors], Any] = lambda inputs: ...) -> Differences:
    """Look for a difference at some places of the result, such as those of one row.

    Args:
        places: an index of the result, from the inputs.
    """

    def differences(
        inputs: Tensors, poked: Tensors, before: np.ndarray, after: np.ndarray
    ) -> np.ndarray:
        where = places(inputs)
        return np.asarray(after[where] - before[where])

    return differences


def spread(changed: Callable[[np.ndarray], int], allowed: Callable[[Tensors], int]) -> Differences:
    """Look whether more of the result changes than what was poked, wherever that stands.

    Args:
        changed: counts, from which numbers change, the parts of the result that do.
        allowed: how many may, from the inputs.
    """

    def differences(
        inputs: Tensors, poked: Tensors, before: np.ndarray, after: np.ndarray
    ) -> np.ndarray:
        count = changed(np.abs(after - before) > SEEN)
        return np.array([max(0.0, float(count - allowed(inputs)))])

    return differences


def moved(move: Callable[[np.ndarray], np.ndarray]) -> Differences:
    """Look whether the result moves as the inputs do, such as to other places."""
    return lambda inputs, poked, before, after: after - move(before)
