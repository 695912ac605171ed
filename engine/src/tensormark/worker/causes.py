"""What draws random numbers in a call: new weights, dropout, or something else.

Runs in the worker. A call that drew random numbers is repeated with torch's dropout functions
replaced by ones that record their use; then they are restored. The cause only helps to name a
mistake: it is not found if a submission holds such a function under another name.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, TypeVar

import torch
from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook

Made = TypeVar("Made")
NEW_WEIGHTS, DROPOUT = "new weights", "dropout"
FUNCTIONS: tuple[tuple[ModuleType, str], ...] = (
    (torch, "dropout"),
    (nn.functional, "dropout"),
    (nn.functional, "dropout1d"),
    (nn.functional, "dropout2d"),
    (nn.functional, "alpha_dropout"),
)


def _noted(function: Callable[..., Any], causes: set[str]) -> Callable[..., Any]:
    """Return a dropout function that records when it drops."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        bound = dict(zip(("input", "p", "training"), args, strict=False)) | kwargs
        if bound.get("p", 0.5) and bound.get("training", bound.get("train", True)):
            causes.add(DROPOUT)
        return function(*args, **kwargs)

    return wrapper


def causes_of(call: Callable[[], Made]) -> tuple[list[str], Made | None]:
    """Make a call; return what drew random numbers in it, and its result or None if it raised."""
    result = None
    with _noting() as causes, contextlib.suppress(Exception):
        result = call()
    return sorted(causes), result


@contextlib.contextmanager
def _noting() -> Iterator[set[str]]:
    """Yield the set of causes, which grows as the submission's code runs."""
    causes: set[str] = set()

    def record_weights(*_: object) -> None:
        causes.add(NEW_WEIGHTS)

    originals = [(home, name, getattr(home, name)) for home, name in FUNCTIONS]
    hook = register_module_parameter_registration_hook(record_weights)
    try:
        for home, name, function in originals:
            setattr(home, name, _noted(function, causes))
        yield causes
    finally:
        hook.remove()
        for home, name, function in originals:
            setattr(home, name, function)
