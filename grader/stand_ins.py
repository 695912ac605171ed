"""Stand-ins that play the part of upstream exercises. Runs in the worker.

They are smooth functions made up for the purpose: they let through everything that the function on
trial decides (which tensors, which modules, which mask, which order) and are none of the exercises'
solutions.

Dimension key: B batch, T tokens, D model width.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


def seen(attention_mask: Tensor, like: Tensor) -> Tensor:
    """Return (B, T): the share of heads and tokens that may look at each token."""
    B, T = like.shape[:2]
    visible = (attention_mask > -5000).to(like.dtype)  # any large negative number hides
    return visible.expand(B, -1, -1, T).mean((1, 2))


class StandIn(nn.Module):
    """A module of which nothing can be had but what a call returns."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"`{name}` of a part is used; call the part itself, as a module")


class AttentionStandIn(StandIn):
    """Takes the place of a BertSelfAttention: mixes neighbours, feels the mask."""

    def forward(self, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:
        """(B, T, D) and the additive mask in, (B, T, D) out."""
        weight = seen(attention_mask, hidden_states)[..., None]
        return torch.sin(hidden_states) + weight * torch.roll(hidden_states, 1, dims=1)


class OnesStandIn(StandIn):
    """Takes the place of a BertSelfAttention whose values are all ones."""

    def forward(self, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:
        """(B, T, D) and the additive mask in, ones (B, T, D) out."""
        return torch.ones_like(hidden_states)


class LayerStandIn(StandIn):
    """Takes the place of the encoder layer with this number: order and count of layers matter."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def forward(self, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:
        """(B, T, D) and the additive mask in, (B, T, D) out."""
        weight = seen(attention_mask, hidden_states)[..., None]
        moved = torch.roll(weight * hidden_states, 1, dims=1)  # what is hidden is not read
        return torch.sin(hidden_states + self.number + 1) + 0.5 * moved


def add_norm_stand_in(
    input: Tensor, output: Tensor, dense_layer: Any, dropout: Any, ln_layer: Any
) -> Tensor:
    """Take the place of add_norm: every argument leaves its mark."""
    scale: Tensor = ln_layer.weight + getattr(dropout, "p", 0.0)
    return torch.cos(input) * scale + torch.tanh(dense_layer(output)) - 0.5 * input


def put_stand_in(owner: Any, attribute: str, kind: str) -> None:
    """Replace a part of `owner` by the stand-in of that kind."""
    made: dict[str, Callable[[], Any]] = {
        "attention": AttentionStandIn,
        "ones": OnesStandIn,
        "add_norm": lambda: add_norm_stand_in,
        "layers": lambda: nn.ModuleList(
            LayerStandIn(number) for number in range(owner.config.num_hidden_layers)
        ),
        "embed": lambda: lambda ids, *_: torch.tanh(owner.word_embedding(ids)),
    }
    owner._modules.pop(attribute, None)
    setattr(owner, attribute, made[kind]())
