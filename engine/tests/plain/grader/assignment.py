"""The assignment."""

from pathlib import Path

import grader.exercises
from tensormark.exercise import Assignment, collected

ASSIGNMENT = Assignment(
    name="Plain",
    folder=Path(__file__).resolve().parents[1],
    editable=("blocks.py", "norms.py", "momentum.py"),
    imports=("norms", "blocks", "momentum"),
    exercises=collected(grader.exercises),
    harness=Path(__file__).with_name("harness.py"),
)
