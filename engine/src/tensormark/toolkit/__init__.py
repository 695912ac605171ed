"""Building blocks for the exercises of many assignments.

probes       `exercise`, and the probes that most exercises have
optimizers   `optimizer`: exercises on an optimizer
draws        random weights
statistics   judging random outputs by a few shares
dropout      measuring dropout in training
seeds        whether a function draws from the generator that it is given
places       where an output is wrong, in the assignment's words
training     a training task: it returns weights, and the solution predicts with them
"""

from tensormark.exercise import Call, Sizes, Tensors
from tensormark.toolkit.optimizers import optimizer, usual_steps
from tensormark.toolkit.places import locator
from tensormark.toolkit.probes import exercise, probe, refused, usual

__all__ = [
    "Call",
    "Sizes",
    "Tensors",
    "exercise",
    "locator",
    "optimizer",
    "probe",
    "refused",
    "usual",
    "usual_steps",
]
