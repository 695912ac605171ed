"""What an assignment says of a function that questions are asked about: how to call it, and words.

Nothing here says what is right: a change is compared with the student's own function.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tensormark.exercise import Call, Exercise, Tensors

if TYPE_CHECKING:
    from collections.abc import Sequence

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
            does. Empty: nothing is said. Sentences of about equal length.
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
    shown: "tuple[str, Callable[[np.ndarray], np.ndarray]]"


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
        sizes: of a world's call, by letter, for questions on shapes.
        examples: for questions on numbers.
        inputs: draws those of a call; None: as the exercise does.
    """

    exercise: str
    worlds: "Sequence[Call]"
    usual: str = "a usual batch"
    situations: "Sequence[Situation]" = ()
    facts: "Sequence[Fact]" = ()
    training: Callable[[Call, float], Call] | None = None
    sizes: Callable[[Call], Mapping[str, int]] = lambda call: {}
    examples: "Sequence[Example]" = ()

    @property
    def target(self) -> str:
        """The function, such as "Layer.forward"."""
        return self.worlds[0].target

    @property
    def module(self) -> str:
        """The module that it is in."""
        return self.worlds[0].module


def from_exercise(exercise: Exercise) -> Subject:
    """Return what an exercise's own probes say: its calls by its own functions, and no words."""
    own = [probe.calls[0] for probe in exercise.probes if not probe.calls[0].train]
    gradients = [call for call in own if call.kind in ("method", "function")]
    return Subject(exercise.id, gradients[:3])


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


def moved(move: Callable[[np.ndarray], np.ndarray]) -> Differences:
    """Look whether the result moves as the inputs do, such as to other places."""
    return lambda inputs, poked, before, after: after - move(before)
