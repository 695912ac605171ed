"""Look up attributes of a student's modules and objects by fixed names. Runs in the worker."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from tensormark.worker.outputs import StudentError


def member(owner: Any, name: str, kind: str) -> Any:
    """Return an attribute of the student's module or object, or report that it is missing."""
    try:
        return getattr(owner, name)
    except AttributeError:
        called = getattr(owner, "__name__", type(owner).__name__)
        called = f"{called}.py" if isinstance(owner, ModuleType) else called
        raise StudentError(f"{called} has no {kind} {name}; its names are fixed") from None


@torch.no_grad()
def load_by_name(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy weights into the parameters with these names; other parameters are unchanged."""
    own = dict(model.named_parameters())
    for name, value in sorted(weights.items()):
        if name not in own:
            raise StudentError(
                f"{type(model).__name__} has no parameter {name}; its names are fixed"
            )
        if own[name].shape != value.shape:
            shapes = f"{tuple(own[name].shape)} and should be {tuple(value.shape)}"
            raise StudentError(f"parameter {name} of {type(model).__name__} is {shapes}")
        own[name].copy_(value)


def parents_of(owner: Any, path: str) -> list[tuple[Any, str]]:
    """Return the objects that own the last attribute of a path, each with its name.

    Args:
        path: such as "layers.*.forward"; an asterisk stands for every module of a list.
    """
    *names, last = path.split(".")
    found = [owner]
    for name in names:
        inner = [
            made.children() if name == "*" else [member(made, name, "module")] for made in found
        ]
        found = [one for some in inner for one in some]
    return [(one, last) for one in found]
