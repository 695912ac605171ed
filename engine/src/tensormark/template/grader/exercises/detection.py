"""The training, which needs both parts."""

from grader.task import Detection
from tensormark.exercise import Exercise

EXERCISE = Exercise(
    id="detection",
    order=30,
    title="training a detector",
    file="detector.py",
    points={"values": 20},
    upstream=("conv", "detector"),
    task=Detection(),
)
