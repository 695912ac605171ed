"""Mistakes in the optimizer, and right code that looks different."""

from tensormark.authoring.variants import Honest, mistakes

VARIANTS = mistakes(
    "momentum",
    """
## The velocity

velocity_forgotten: the velocity forgets earlier steps
    - v.mul_(group["momentum"]).add_(p.grad)
    + v = p.grad
velocity_is_gradient: the first gradient itself becomes the velocity, and is changed with it
    - v = self.state[p].setdefault("velocity", torch.zeros_like(p))
    + v = self.state[p].get("velocity")
    - v.mul_(group["momentum"]).add_(p.grad)
    + v = p.grad if v is None else v.mul_(group["momentum"]).add_(p.grad)
    - p.sub_
    + self.state[p]["velocity"] = v
    +                 p.sub_
""",
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
    ),
)
