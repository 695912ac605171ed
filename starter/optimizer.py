"""AdamW: Adam [1] with decoupled weight decay [2].

[1] Kingma and Ba, "Adam: A Method for Stochastic Optimization", arXiv:1412.6980
[2] Loshchilov and Hutter, "Decoupled Weight Decay Regularization", arXiv:1711.05101
"""

import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor
from torch.optim import Optimizer


class AdamW(Optimizer):
    """Adam with decoupled weight decay; the interface is that of the published minBERT scaffold."""

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        correct_bias: bool = True,
    ) -> None:
        if lr < 0.0:
            raise ValueError(f"lr must not be negative: {lr}")
        if not all(0.0 <= beta < 1.0 for beta in betas):
            raise ValueError(f"betas must be in [0, 1): {betas}")
        if eps < 0.0:
            raise ValueError(f"eps must not be negative: {eps}")
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults | {"correct_bias": correct_bias})

    @torch.no_grad()
    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Update every parameter that has a gradient, in place.

        Algorithm 1 of [1], with the decoupled weight decay of Algorithm 2 of [2]. With m and v the
        running means of the gradient g and of its square, and t the number of steps:

            p <- p - lr * weight_decay * p
                   - lr * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)

        Without `correct_bias` both divisors (1 - beta^t) are 1.

        Args:
            closure: recomputes the loss, with gradients; None: use the existing gradients.

        Returns: the closure's result, or None.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self.update(parameter, parameter.grad, self.state[parameter], group)
        return loss

    def update(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        """Update one parameter `p`, as `step` says.

        Args:
            p, grad: the parameter and its gradient, of the same shape.
            state: what is kept for the parameter between steps; empty before the first one.
            group: lr, betas, eps, weight_decay and correct_bias.
        """
        if not state:
            state.update(step=0, exp_avg=torch.zeros_like(p), exp_avg_sq=torch.zeros_like(p))
        # TODO(adamw): count the step, update both running means in place (state["exp_avg"] is m,
        # state["exp_avg_sq"] is v), decay p, move p. See handout/extensions.md, Problem (adamw).
        raise NotImplementedError("adamw")
