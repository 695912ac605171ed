"""The definition of this assignment.

sizes.py       sizes of the small calls that are compared
exercises/     a file per exercise: how it is called, its inputs and its points
task.py        the training, and the accuracy that it must reach
viva.py        facts about the two functions, for questions on students' own code
harness.py     runs with a submission in the worker: stand-ins, training, prediction
mistakes/      known mistakes; honest/ has correct code; students get neither
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
    engine="",
    policy=Policy(
        ("torch.nn.Conv1d", "torch.nn.functional.conv1d", "torch.convolution"), section="Rules"
    ),
    axes=AXES,
    locate=locator(AXES),
)
