"""What this assignment is.

sizes.py       sizes of the small calls that are compared
exercises/     a file per exercise: how it is called, with what inputs, for how many points
task.py        the training, and when it is good enough
viva.py        what questions on one's own code say of the two functions
harness.py     runs beside a submission: plays exercises upstream, trains, predicts
mistakes/      known mistakes, and honest/ right code; students do not get these
"""

from pathlib import Path

import grader.exercises
from grader.sizes import AXES
from tensormark.exercise import Assignment, collected
from tensormark.policy import Policy
from tensormark.toolkit import locator

ASSIGNMENT = Assignment(
    name="Detector",
    folder=Path(__file__).resolve().parents[1],
    editable=("detector.py",),
    imports=("detector",),
    exercises=collected(grader.exercises),
    harness=Path(__file__).with_name("harness.py"),
    policy=Policy(
        ("torch.nn.Conv1d", "torch.nn.functional.conv1d", "torch.convolution"), section="Rules"
    ),
    axes=AXES,
    locate=locator(AXES),
)
