"""Name the mistake: match what a student's code gave with what known wrong variants gave.

A variant is recognised when it explains everything that was seen: each tensor of each call equals
the variant's, and at least one of them differs from the reference. Several that explain it equally
are all named; none that fits means silence.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from grader.compare import Tolerance

RAISED = "raised"  # stands in a variant's tensors for a call that it does not survive


@dataclasses.dataclass(frozen=True)
class Sighting:
    """What one call gave, and what it would have given.

    Attributes:
        got: the student's tensors, None where the call raised.
        expected: the reference's.
        wrong: by variant, the tensors in which it differs from the reference.
        tolerance: for all of them.
    """

    got: Mapping[str, np.ndarray] | None
    expected: Mapping[str, np.ndarray]
    wrong: Mapping[str, Mapping[str, np.ndarray]]
    tolerance: Tolerance


def same(got: np.ndarray | None, expected: np.ndarray | None, tolerance: Tolerance) -> bool:
    """Say whether two arrays agree within a tolerance, NaN being equal to NaN here."""
    if got is None or expected is None:
        return got is expected
    if got.shape != expected.shape:
        return False
    with np.errstate(invalid="ignore"):
        error = np.abs(got.astype(np.float64) - expected)
    allowed = tolerance.atol + tolerance.rtol * np.abs(expected)
    return bool(((error <= allowed) | (np.isnan(got) & np.isnan(expected))).all())


def explains(variant: str, sighting: Sighting) -> bool:
    """Say whether a variant would have given what was seen in one call."""
    wrong = sighting.wrong.get(variant, {})
    if sighting.got is None or RAISED in wrong:
        return sighting.got is None and RAISED in wrong
    names = sighting.expected.keys() | wrong.keys()
    return all(
        same(
            sighting.got.get(name), wrong.get(name, sighting.expected.get(name)), sighting.tolerance
        )
        for name in names
    )


def recognise(sightings: Sequence[Sighting]) -> list[str]:
    """Return the ids of the variants that explain all that was seen, in alphabetical order."""
    variants = {variant for sighting in sightings for variant in sighting.wrong}
    return sorted(
        variant
        for variant in variants
        if all(explains(variant, sighting) for sighting in sightings)
    )
