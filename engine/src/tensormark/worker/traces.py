"""What calls leave behind in the modules that a submission uses. Runs in the worker.

Where several exercises share a process, an exercise may be right only because of what another one
has kept in a global, in a class, in a default value or in torch. So no further exercise runs there
once any of that has changed.

Covered: names of the submission's modules and what their values hold, as far as these are Python's
own containers or the submission's own objects; names of torch that are replaced. Not covered: what
is hidden on purpose, which gains nothing: another exercise's code could do the same.
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
SCALARS = frozenset((bool, int, float, complex, str, bytes, type(None)))
OPAQUE = frozenset((ModuleType, CodeType, BuiltinFunctionType, GetSetDescriptorType))
PYTHONS_OWN = ("__builtins__", "__warningregistry__")  # in every module
# of the libraries' objects that honest code keeps in a global: type to what tells their state
STATES: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    # _version counts changes in place
    (Tensor, lambda value: (value._version, value.data_ptr())),
    (np.ndarray, lambda value: zlib.crc32(np.ascontiguousarray(value).data)),
    (torch.Generator, lambda value: value.get_state().numpy().tobytes()),
    (random.Random, lambda value: value.getstate()),
    (np.random.Generator, lambda value: repr(value.bit_generator.state)),
    (np.random.RandomState, lambda value: repr(value.get_state(legacy=False))),
    (itertools.count, repr),
    (CACHED, lambda value: value.cache_info().currsize),
)


CONTAINERS = (dict, list, tuple, set, frozenset, deque, FunctionType, type)


def _held(value: Any, modules: frozenset[str]) -> Iterator[Any]:
    """Yield what a container, or an object of the submission, holds."""
    if isinstance(value, dict):
        yield from itertools.chain.from_iterable(value.items())
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from value
    elif isinstance(value, FunctionType) and value.__module__ in modules:
        yield from (value.__code__, value.__defaults__, value.__kwdefaults__)
        yield getattr(value, "__dict__", None)
        yield from (cell.cell_contents for cell in value.__closure__ or ())
    elif isinstance(value, nn.Module) or getattr(value, "__module__", None) in modules:
        yield from itertools.chain.from_iterable(getattr(value, "__dict__", {}).items())


def _fingerprint(value: Any, modules: frozenset[str], seen: set[int]) -> Any:
    """Return something that differs once a value, or what it holds, has changed.

    Args:
        modules: the names of the submission's modules.
        seen: the ids of values that need not be looked at again.
    """
    if type(value) in SCALARS:
        return value
    if type(value) in OPAQUE or id(value) in seen:
        return id(value)
    if not isinstance(value, CONTAINERS):
        for kind, state in STATES:
            if isinstance(value, kind):
                return id(value), state(value)
    seen.add(id(value))
    return id(value), [_fingerprint(part, modules, seen) for part in _held(value, modules)]


class Traces:
    """A snapshot taken once the submission is imported, to see whether calls have changed it."""

    def __init__(self, names: Iterable[str]) -> None:
        """Take the snapshot.

        Args:
            names: those of the submission's modules and the given ones.
        """
        self.names = frozenset(names)
        self.before = self._state()

    def _state(self) -> list[Any]:
        """Return a snapshot, or something that equals no other if none can be taken."""
        try:
            return self._snapshot()
        except Exception:  # what is looked at is a student's
            return [object()]

    def _snapshot(self) -> list[Any]:
        """Return what the modules, torch and the environment hold now."""
        seen: set[int] = set()
        loaded = [sys.modules[name] for name in sorted(self.names & sys.modules.keys())]
        return [
            [
                (name, _fingerprint(value, self.names, seen))
                for module in loaded
                for name, value in vars(module).items()
                if name not in PYTHONS_OWN
            ],
            [list(map(id, vars(home).values())) for home in REPLACEABLE],
            [name for name in sys.modules if not name.startswith("torch.")],
            dict(os.environ),
        ]

    def changed(self) -> bool:
        """Say whether anything is no longer as it was."""
        return self._state() != self.before
