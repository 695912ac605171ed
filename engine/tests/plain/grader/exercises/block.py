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
    order=2,
    file="blocks.py",
)
