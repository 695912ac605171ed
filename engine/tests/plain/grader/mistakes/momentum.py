"""Mistakes in the optimizer, and right code that looks different."""

from tensormark.authoring.honest import Honest
from tensormark.authoring.variants import mistakes

VELOCITY = 'v.mul_(group["momentum"]).add_(p.grad)'
START = 'v = self.state[p].setdefault("velocity", torch.zeros_like(p))'
VARIANTS = mistakes(
    "momentum",
    "The velocity",
    {
        "velocity_forgotten": ("the velocity forgets earlier steps", VELOCITY, "v = p.grad"),
        "gradient_weighted": (
            "the gradient is weighted as in a running mean",
            *("add_(p.grad)", 'add_(p.grad, alpha=1 - group["momentum"])'),
        ),
        "uphill": ("the step goes uphill", "p.sub_", "p.add_"),
        "velocity_is_gradient": (
            "the first gradient itself becomes the velocity, and is changed with it",
            *(START, 'v = self.state[p].get("velocity")'),
            *(VELOCITY, f"v = p.grad if v is None else {VELOCITY}"),
            *("p.sub_", 'self.state[p]["velocity"] = v\n                p.sub_'),
        ),
    },
)
HONEST = (
    Honest(
        "rate_in_the_velocity",
        bodies={
            "momentum": """
            before = self.state[p].get("velocity", 0.0)
            self.state[p]["velocity"] = group["momentum"] * before + group["lr"] * p.grad
            p -= self.state[p]["velocity"]
            """
        },
        module="momentum",
    ),
)
