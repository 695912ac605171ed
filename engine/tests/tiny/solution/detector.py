"""A detector: which of several patterns is somewhere in a signal?

B signals, D channels, T steps, P patterns, K steps of a pattern, C classes; W = T - K + 1 windows.
"""

import torch
from torch import Tensor, nn


class Convolution(nn.Module):
    """Compares every window of a signal with every pattern."""

    def __init__(self, channels: int, patterns: int, width: int) -> None:
        super().__init__()
        scale = (channels * width) ** -0.5
        self.weight = nn.Parameter(scale * torch.randn(patterns, channels, width))
        self.bias = nn.Parameter(torch.zeros(patterns))

    def forward(self, signals: Tensor) -> Tensor:
        """Slide the patterns along the signals, without padding: (B, D, T) -> (B, P, W)."""
        # TODO(conv): multiply each window by each pattern, sum up, and add the pattern's bias.
        ### BEGIN SOLUTION conv
        windows = signals.unfold(-1, self.weight.shape[-1], 1)  # (B, D, W, K)
        return torch.einsum("bdwk,pdk->bpw", windows, self.weight) + self.bias[:, None]
        ### END SOLUTION conv


class Detector(nn.Module):
    """Gives each class a score for the patterns that are found, wherever they are."""

    def __init__(self, channels: int, patterns: int, width: int, *, classes: int) -> None:
        super().__init__()
        self.conv = Convolution(channels, patterns, width)
        self.head = nn.Linear(patterns, classes)

    def forward(self, signals: Tensor) -> Tensor:
        """Score signals: (B, D, T) -> (B, C)."""
        # TODO(detector): self.conv, ReLU, the largest value of each pattern, then self.head.
        ### BEGIN SOLUTION detector
        found = torch.relu(self.conv(signals)).amax(-1)  # (B, P)
        return self.head(found)
        ### END SOLUTION detector
