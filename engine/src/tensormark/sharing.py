"""Which exercises' first calls may run in one process: what an exercise must not see stays away.

The process of several exercises has the inputs of all of them. So no input of one may be what
another one is to answer; and what one exercise forbids, no other one next to it may use.
"""

from collections.abc import Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from tensormark.exercise import Exercise
from tensormark.references import Recording, References, ReferencesError

SAMPLES, DIGITS = 16, 4  # values of a tensor that are looked at; tensors that agree in them are one
Seen = tuple[frozenset[bytes], frozenset[bytes]]
SEEN: WeakKeyDictionary[References, dict[tuple[str, str], Seen]] = WeakKeyDictionary()


def values_of(tensors: Mapping[str, np.ndarray]) -> Iterator[bytes]:
    """Yield some values of each tensor, whatever its shape and type; none if all are the same."""
    for tensor in tensors.values():
        flat = tensor.reshape(-1)
        if flat.size and (flat[0] != flat[-1] or (flat != flat[0]).any()):
            places = np.linspace(0, flat.size - 1, SAMPLES).astype(int)
            some = np.round(flat[places].astype(complex), DIGITS) + 0.0  # without minus zero
            yield flat.size.to_bytes(8) + some.tobytes()


def own_recordings(exercise: Exercise, references: References) -> list[Recording]:
    """Return the recordings of the calls of the student's own functions.

    Raises:
        ReferencesError: there are none.
    """
    recordings = references.recordings(exercise.id, exercise.digest)
    places = [place for probe in exercise.probes for place in range(len(probe.calls))]
    return [one for one, place in zip(recordings, places, strict=False) if place == 0]


def inputs_and_answers(exercise: Exercise, references: References) -> Seen:
    """Return what the calls of an exercise are given, and what they should answer."""
    known = SEEN.setdefault(references, {})
    key = exercise.id, exercise.digest
    if key not in known:
        own = own_recordings(exercise, references)
        inputs = (value for one in own for value in values_of(one.inputs))
        answers = (value for one in own for value in values_of({**one.outputs, **one.gradients}))
        known[key] = frozenset(inputs), frozenset(answers)
    return known[key]


def may_share(first: Exercise, second: Exercise, references: References) -> bool:
    """Say whether the first calls of two exercises may run in one process."""
    alike = (first.file, first.forbidden) == (second.file, second.forbidden)
    if not alike or first.task is not None or second.task is not None:
        return False
    try:
        inputs, answers = inputs_and_answers(first, references)
        others, other_answers = inputs_and_answers(second, references)
    except ReferencesError:  # which is said where it is graded
        return False
    return inputs.isdisjoint(other_answers) and others.isdisjoint(answers)


def groups(exercises: Sequence[Exercise], references: References) -> list[list[Exercise]]:
    """Divide exercises, in their order, into groups that may share a process."""
    found: list[list[Exercise]] = []
    for exercise in exercises:
        if found and all(may_share(other, exercise, references) for other in found[-1]):
            found[-1].append(exercise)
        else:
            found.append([exercise])
    return found
