"""The detector assignment's parts for staff: known mistakes, honest variants, the threshold."""

import dataclasses
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tensormark.authoring.course import Course, Staff
from tensormark.authoring.honest import Honest
from tensormark.authoring.variants import mistakes
from tensormark.exercise import Assignment

import toy
from .assignment import ASSIGNMENT
from .task import ENTRY

SUM = 'torch.einsum("bdwk,pdk->bpw", windows, self.weight)'
VELOCITY = 'v.mul_(group["momentum"]).add_(p.grad)'
START = 'v = self.state[p].setdefault("velocity", torch.zeros_like(p))'


def of_template(path: str, name: str) -> Any:
    """Return a constant of the template, whose solution/detector.py this assignment shares."""
    return runpy.run_path(str(toy.TEMPLATE / path))[name]


VARIANTS = (
    *of_template("grader/mistakes/conv.py", "VARIANTS"),
    *of_template("grader/mistakes/detector.py", "VARIANTS"),
    *mistakes(
        "conv",
        "The windows",
        {
            "mean_over_channels": (
                "channels are averaged and not added up",
                *(SUM, f"{SUM} / signals.shape[1]"),
            ),
        },
    ),
    *mistakes(
        "detector",
        "The largest value",
        {
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
    *(
        dataclasses.replace(honest, module="detector")
        for honest in of_template("grader/honest/others.py", "HONEST")
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
