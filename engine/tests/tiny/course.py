"""The detector assignment's parts for staff: known mistakes, honest variants, the threshold."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tensormark.authoring.course import Course, Staff
from tensormark.authoring.honest import Honest
from tensormark.authoring.variants import mistakes
from tensormark.exercise import Assignment

from .assignment import ASSIGNMENT
from .task import ENTRY

SUM = 'torch.einsum("bdwk,pdk->bpw", windows, self.weight)'
VELOCITY = 'v.mul_(group["momentum"]).add_(p.grad)'
START = 'v = self.state[p].setdefault("velocity", torch.zeros_like(p))'

VARIANTS = (
    *mistakes(
        "conv",
        "The windows",
        {
            "last_window_missing": (
                "the last window is missing",
                *("signals.unfold", "signals[..., :-1].unfold"),
            ),
            "patterns_reversed": ("the patterns are reversed", "windows,", "windows.flip(-1),"),
            "mean_over_channels": (
                "channels are averaged and not added up",
                *(SUM, f"{SUM} / signals.shape[1]"),
            ),
            "bias_forgotten": ("the bias is forgotten", " + self.bias[:, None]", ""),
        },
    ),
    *mistakes(
        "detector",
        "The largest value",
        {
            "mean_over_windows": ("windows are averaged", "amax", "mean"),
            "relu_missing": (
                "there is no ReLU",
                *("torch.relu(self.conv(signals))", "self.conv(signals)"),
            ),
            "relu_after_head": (
                "the ReLU is after the head",
                *("torch.relu(self.conv(signals))", "self.conv(signals)"),
                *("self.head(found)", "torch.relu(self.head(found))"),
            ),
        },
    ),
    *mistakes(
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
    ),
)
HONEST = (
    Honest(
        "one_window_at_a_time",
        bodies={
            "conv": """
            K = self.weight.shape[-1]
            flat = self.weight.flatten(1).T
            windows = range(signals.shape[-1] - K + 1)
            outputs = [signals[..., w : w + K].flatten(1) @ flat + self.bias for w in windows]
            return torch.stack(outputs, -1)
            """,
            "detector": "return self.head(self.conv(signals).max(-1).values.clamp(min=0))",
        },
        module="detector",
    ),
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


def threshold(assignment: Assignment, checkpoint: Mapping[str, str]) -> dict[str, Any]:
    """Return the task's entry for the manifest; the solution reaches 0.96 to 1 with 20 seeds."""
    return {ENTRY: {"threshold": 0.9, "seed": 0}}


def course(folder: Path) -> Course:
    """Return the course with its solution/ and starter/ in a folder."""
    return Course(
        assignment=dataclasses.replace(ASSIGNMENT, folder=folder),
        variants=VARIANTS,
        honest=HONEST,
        staff=Staff(measured=threshold),
    )
