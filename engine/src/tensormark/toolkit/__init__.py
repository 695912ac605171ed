"""What the exercises of many assignments need.

probes       `exercise`: the probes that most exercises have
optimizers   `optimizer`: those of an exercise on an optimizer
draws        random weights
statistics   random outputs, judged by a few shares
dropout      what dropout does in training
places       where an output is wrong, in the assignment's words
training     a task that trains: weights come back, and the solution predicts with them
measured     what such a task shows in reports
"""

from tensormark.toolkit.optimizers import optimizer
from tensormark.toolkit.places import locator
from tensormark.toolkit.probes import Further, Sizes, exercise

__all__ = ["Further", "Sizes", "exercise", "locator", "optimizer"]
