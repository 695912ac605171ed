"""Look up attributes of a student's modules and objects by fixed names. Runs in the worker."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from tensormark.worker.outputs import StudentError

NO_MODULES: Mapping[str, nn.Module] = {}


def member(owner: Any, name: str, kind: str) -> Any:
    """Return an attribute of the student's module or object, or report that it is missing."""
    try:
        return getattr(owner, name)
    except AttributeError:
        owner_name = getattr(owner, "__name__", type(owner).__name__)
        if isinstance(owner, ModuleType):
            owner_name = f"{owner_name}.py"  # a submission may have set it to anything
        raise StudentError(f"{owner_name} has no {kind} {name}; its names are fixed") from None


def _modules_at(model: nn.Module, names: Sequence[str]) -> Iterator[nn.Module]:
    """Yield the modules with this path; an asterisk stands for every module of a list."""
    if not names:
        yield model
        return
    parts = model._modules
    for part in parts.values() if names[0] == "*" else [parts.get(names[0])]:
        if part is not None:
            yield from _modules_at(part, names[1:])


def has_modules(model: nn.Module, paths: Iterable[str]) -> bool:
    """Return whether a model has modules with all these paths."""
    return all(any(True for _ in _modules_at(model, path.split("."))) for path in paths)


def parameters_of(model: nn.Module, more: Mapping[str, nn.Module]) -> dict[str, nn.Parameter]:
    """Return the parameters of a model by name.

    Args:
        more: modules that it lacks, by path.
    """
    own = dict(model.named_parameters())
    for path, module in more.items():
        own |= {f"{path}.{name}": parameter for name, parameter in module.named_parameters()}
    return own


@torch.no_grad()
def load_by_name(
    model: nn.Module, weights: Mapping[str, Tensor], more: Mapping[str, nn.Module] = NO_MODULES
) -> None:
    """Copy weights into the parameters with these names; other parameters are unchanged.

    Args:
        more: modules that the model lacks, by path.
    """
    own = parameters_of(model, more)
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
    parents = [owner]
    for name in names:
        children = [
            part.children() if name == "*" else [member(part, name, "module")] for part in parents
        ]
        parents = [child for group in children for child in group]
    return [(parent, last) for parent in parents]
