"""Traces that calls leave in the modules that a submission uses. Runs in the worker.

If several exercises share a process, an exercise may be right only because of state that another
one has left in a global, a class, a default value or torch. So if any of these has changed in the
end, only the first exercise's answers count.

Covered: names in the submission's modules and the contents of their values, if these are built-in
containers or the submission's own objects; replaced names in torch. Not covered: deliberately
hidden state, which gains nothing: the other exercise's own code could do the same.
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
from types import BuiltinFunctionType, CodeType, FunctionType, GetSetDescriptorType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

REPLACEABLE = (builtins, math, torch, nn, nn.functional, nn.init, nn.Module, Tensor)
CACHED: type = type(functools.cache(repr))
SCALARS = frozenset((bool, int, float, complex, str, bytes, type(None)))
OPAQUE = frozenset((ModuleType, CodeType, BuiltinFunctionType, GetSetDescriptorType))
PYTHONS_OWN = ("__builtins__", "__warningregistry__")  # in every module
# library objects that honest code keeps in a global: type to a function that returns the state
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


def _contents(value: Any, modules: frozenset[str]) -> Iterator[Any]:
    """Yield the contents of a container or of an object of the submission."""
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
    """Return something that differs once a value or its contents have changed.

    Args:
        modules: the names of the submission's modules.
        seen: the ids of values that were already visited.
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
    return id(value), [_fingerprint(part, modules, seen) for part in _contents(value, modules)]


class Traces:
    """A snapshot taken once the submission is imported, to detect changes made by calls."""

    def __init__(self, names: Iterable[str]) -> None:
        """Take the snapshot.

        Args:
            names: the names of the submission's modules and the given ones.
        """
        self.names = frozenset(names)
        self.before = self._state()

    def _state(self) -> list[Any]:
        """Return a snapshot, or an object unequal to any other if none can be taken."""
        try:
            return self._snapshot()
        except Exception:  # it inspects the student's objects
            return [object()]

    def _snapshot(self) -> list[Any]:
        """Return the present contents of the modules, torch and the environment."""
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
        """Return whether anything has changed since the snapshot."""
        return self._state() != self.before
