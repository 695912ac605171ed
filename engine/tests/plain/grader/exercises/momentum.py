"""An optimizer."""

from tensormark.toolkit import optimizer

EXERCISE = optimizer(
    "Momentum.step",
    plain={},
    other={"lr": 0.5, "momentum": 0.3},
    id="momentum",
    order=6,
    title="gradient descent with momentum",
    file="momentum.py",
    points={"values": 3, "properties": 1},
)
