"""The definition of this assignment.

exercises/     a file per exercise: how it is called, its inputs and its points
mistakes/      known mistakes; honest/ has correct code; students get neither
harness.py     runs beside a submission; it would have stand-ins
"""

from pathlib import Path

import grader.exercises
from tensormark.exercise import Assignment, collected

ASSIGNMENT = Assignment(
    name="Clusters",
    folder=Path(__file__).resolve().parents[1],
    editable=("clusters.py",),
    imports=("clusters",),
    exercises=collected(grader.exercises),
    harness=Path(__file__).with_name("harness.py"),
    engine="",
)
