"""An optimizer."""

from tensormark.toolkit import optimizer, usual_steps

EXERCISE = optimizer(
    "Momentum.step",
    probes=usual_steps({}, {"lr": 0.5, "momentum": 0.3}),
    id="momentum",
    order=3,
    file="momentum.py",
)
