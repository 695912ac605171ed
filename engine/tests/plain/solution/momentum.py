"""Gradient descent with momentum."""

import torch
from torch.optim import Optimizer


class Momentum(Optimizer):
    """Moves each parameter by its velocity, a sum of gradients that fades."""

    def __init__(self, params, lr: float = 0.1, momentum: float = 0.9) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:
        """Take one step: v <- momentum * v + gradient, then p <- p - lr * v."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                # TODO(momentum): keep v in self.state[p]; it starts at 0.
                ### BEGIN SOLUTION momentum
                v = self.state[p].setdefault("velocity", torch.zeros_like(p))
                v.mul_(group["momentum"]).add_(p.grad)
                p.sub_(v, alpha=group["lr"])
                ### END SOLUTION momentum
