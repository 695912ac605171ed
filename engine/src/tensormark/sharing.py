"""Decide which exercises' first calls may run in one process without revealing answers.

A shared process has the inputs of all its exercises. So no exercise's input may be another one's
answer, and all of them must forbid the same calls.
"""

from collections.abc import Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from tensormark.exercise import Exercise
from tensormark.references import Recording, References, ReferencesError

SAMPLES = 16  # values of each tensor that are compared
DIGITS = 4  # decimals of the largest of them
Samples = tuple[frozenset[bytes], frozenset[bytes]]  # of inputs and of answers
CACHE: WeakKeyDictionary[References, dict[tuple[str, str], Samples]] = WeakKeyDictionary()


def samples_of(tensors: Mapping[str, np.ndarray]) -> Iterator[bytes]:
    """Yield sampled values of each tensor of any shape and type, except constant tensors.

    They are rounded in proportion to the largest, so that small numbers are not all zero.
    """
    for tensor in tensors.values():
        flat = tensor.reshape(-1)
        if flat.size and (flat[0] != flat[-1] or (flat != flat[0]).any()):
            values = flat[np.linspace(0, flat.size - 1, SAMPLES).astype(int)].astype(complex)
            largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
            unit = 10.0 ** np.floor(np.log10(largest)) if largest else 1.0
            values = np.round(values / unit, DIGITS) + 0.0  # without minus zero
            yield flat.size.to_bytes(8) + np.float64(unit).tobytes() + values.tobytes()


def own_recordings(exercise: Exercise, references: References) -> list[Recording]:
    """Return the recordings of the calls of the student's own functions.

    Raises:
        ReferencesError: there are none.
    """
    recordings = references.recordings(exercise.id, exercise.digest)
    places = [place for probe in exercise.probes for place in range(len(probe.calls))]
    return [each for each, place in zip(recordings, places, strict=False) if place == 0]


def inputs_and_answers(exercise: Exercise, references: References) -> Samples:
    """Return samples of the inputs of an exercise's calls, and of the right answers."""
    cache = CACHE.setdefault(references, {})
    key = exercise.id, exercise.digest
    if key not in cache:
        own = own_recordings(exercise, references)
        inputs = (value for call in own for value in samples_of(call.inputs))
        answers = (value for call in own for value in samples_of(call.outputs | call.gradients))
        cache[key] = frozenset(inputs), frozenset(answers)
    return cache[key]


def may_share(first: Exercise, second: Exercise, references: References) -> bool:
    """Say whether the first calls of two exercises may run in one process."""
    alike = (first.file, first.forbidden) == (second.file, second.forbidden)
    if not alike or first.task is not None or second.task is not None:
        return False
    try:
        inputs, answers = inputs_and_answers(first, references)
        others, other_answers = inputs_and_answers(second, references)
    except ReferencesError:  # which grading reports
        return False
    return inputs.isdisjoint(other_answers) and others.isdisjoint(answers)


def groups(exercises: Sequence[Exercise], references: References) -> list[list[Exercise]]:
    """Divide exercises, in their order, into groups that may share a process."""
    divided: list[list[Exercise]] = []
    for exercise in exercises:
        if divided and all(may_share(other, exercise, references) for other in divided[-1]):
            divided[-1].append(exercise)
        else:
            divided.append([exercise])
    return divided
