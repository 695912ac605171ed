"""What calls leave behind in the modules that a submission uses. Runs in the worker.

Where several exercises share a process, an exercise may be right only because of what another one
has kept in a global, in a class, in a default value or in torch. So the next one does not run there
once that has changed.

Covered: names of the submission's modules and what their values hold, as far as these are Python's
own containers or of the submission's own making; names of torch that are replaced. Not covered:
what is hidden, which gains nothing: what one exercise's code does, another's could do as well.
"""

import builtins
import functools
import itertools
import math
import os
import random
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    ModuleType,
)
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

REPLACEABLE = (builtins, math, torch, nn, nn.functional, nn.init, nn.Module, Tensor)
CACHED: type = type(functools.cache(repr))
PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None)))
OPAQUE = frozenset((ModuleType, CodeType, BuiltinFunctionType, GetSetDescriptorType))
PYTHONS_OWN = ("__builtins__", "__warningregistry__")  # in every module
# of what libraries make, what honest code keeps in a global
STATES: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (Tensor, lambda kept: (kept._version, kept.data_ptr())),  # the former counts changes in place
    (np.ndarray, lambda kept: zlib.crc32(np.ascontiguousarray(kept).data)),
    (torch.Generator, lambda kept: kept.get_state().numpy().tobytes()),
    (random.Random, lambda kept: kept.getstate()),
    (np.random.Generator, lambda kept: repr(kept.bit_generator.state)),
    (np.random.RandomState, lambda kept: repr(kept.get_state(legacy=False))),
    (itertools.count, repr),
    (CACHED, lambda kept: kept.cache_info().currsize),
)


CONTAINERS = (dict, list, tuple, set, frozenset, deque, FunctionType, type)


def inside(value: Any, own: frozenset[str]) -> Iterator[Any]:
    """Yield what a container, or what the submission has made, holds."""
    if isinstance(value, dict):
        yield from itertools.chain.from_iterable(value.items())
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from value
    elif isinstance(value, FunctionType) and value.__module__ in own:
        yield from (value.__code__, value.__defaults__, value.__kwdefaults__)
        yield getattr(value, "__dict__", None)
        yield from (cell.cell_contents for cell in value.__closure__ or ())
    elif isinstance(value, nn.Module) or getattr(value, "__module__", None) in own:
        yield from itertools.chain.from_iterable(getattr(value, "__dict__", {}).items())


def mark(value: Any, own: frozenset[str], seen: set[int]) -> Any:
    """Return something that differs once a value, or what it holds, has changed.

    Args:
        own: the names of the submission's modules.
        seen: the values that need not be looked at again.
    """
    if type(value) in PLAIN:
        return value
    if type(value) in OPAQUE or id(value) in seen:
        return id(value)
    if not isinstance(value, CONTAINERS):
        for kind, state in STATES:
            if isinstance(value, kind):
                return id(value), state(value)
    seen.add(id(value))
    return id(value), [mark(part, own, seen) for part in inside(value, own)]


class Traces:
    """What there is once the submission is imported, to see what calls have changed."""

    def __init__(self, names: Iterable[str]) -> None:
        """Note what there is.

        Args:
            names: those of the submission's modules and the given ones.
        """
        self.names = frozenset(names)
        self.before = self.state()

    def state(self) -> list[Any]:
        """Return what there is now; nothing that compares equal, if that cannot be told."""
        try:
            return self.found()
        except Exception:  # what is looked at is a student's
            return [object()]

    def found(self) -> list[Any]:
        """Return what there is now."""
        seen: set[int] = set()
        loaded = [sys.modules[name] for name in sorted(self.names & sys.modules.keys())]
        return [
            [
                (name, mark(value, self.names, seen))
                for module in loaded
                for name, value in vars(module).items()
                if name not in PYTHONS_OWN
            ],
            [list(map(id, vars(home).values())) for home in REPLACEABLE],
            [name for name in sys.modules if not name.startswith("torch.")],
            dict(os.environ),
        ]

    def changed(self) -> bool:
        """Say whether that is no longer so."""
        return self.state() != self.before
