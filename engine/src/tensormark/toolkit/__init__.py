"""Building blocks for the exercises of many assignments.

probes       `exercise`: the probes that most exercises have
optimizers   `optimizer`: the probes of an exercise on an optimizer
draws        random weights
statistics   judging random outputs by a few shares
dropout      measuring dropout in training
places       where an output is wrong, in the assignment's words
training     a training task: it returns weights, and the solution predicts with them
measured     what such a task shows in reports
"""

from tensormark.toolkit.optimizers import optimizer
from tensormark.toolkit.places import locator
from tensormark.toolkit.probes import Further, Sizes, exercise

__all__ = ["Further", "Sizes", "exercise", "locator", "optimizer"]
