"""What draws random numbers in a call: new weights, dropout, or something else.

Runs in the worker. A call that drew is made once more, with torch's functions replaced by others
that tell; then they are put back. It only gives a wrong output a name: of a submission that holds
such a function by a name of its own, it says nothing.
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
    """Return a dropout that notes when it drops."""

    @functools.wraps(function)
    def noted(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(("input", "p", "training"), args, strict=False)) | kwargs
        if given.get("p", 0.5) and given.get("training", given.get("train", True)):
            causes.add(DROPOUT)
        return function(*args, **kwargs)

    return noted


def causes_of(call: Callable[[], Made]) -> tuple[list[str], Made | None]:
    """Make a call, and return what drew random numbers in it, and its result if it has one."""
    result = None
    with _noting() as causes, contextlib.suppress(Exception):
        result = call()
    return sorted(causes), result


@contextlib.contextmanager
def _noting() -> Iterator[set[str]]:
    """Yield the causes, which grow as the submission's code runs."""
    causes: set[str] = set()

    def made(*_: object) -> None:
        causes.add(NEW_WEIGHTS)

    originals = [(home, name, getattr(home, name)) for home, name in FUNCTIONS]
    hook = register_module_parameter_registration_hook(made)
    try:
        for home, name, function in originals:
            setattr(home, name, _noted(function, causes))
        yield causes
    finally:
        hook.remove()
        for home, name, function in originals:
            setattr(home, name, function)
