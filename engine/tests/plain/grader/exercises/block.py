"""A function that calls another one, which has a stand-in."""

from grader.exercises.scaled import MAIN, OTHER, draw
from tensormark.toolkit import exercise, usual

EXERCISE = exercise(
    "block",
    ("x",),
    draw,
    sizes=MAIN,
    probes=usual("block", OTHER),
    given={"scaled": {"norms:scaled": "scaled"}},
    id="block",
    order=2,
    title="a block",
    file="steps.py",
    points={"values": 3, "properties": 1},
)
