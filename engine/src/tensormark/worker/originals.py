"""The classes of the files that students edit, as they were given. Runs in the worker.

The names of an object's modules are fixed, as weights, stand-ins and arguments are found by them. A
student who renames one should lose the exercise that uses it, and no others. So where an object has
no such module, the grader finds that of the given class. The student's own code does not: it gets
the AttributeError that it would get elsewhere.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from torch import nn

from tensormark.worker import state


def _missing(own: nn.Module, given: nn.Module, prefix: str = "") -> Iterator[tuple[str, nn.Module]]:
    """Yield the paths of modules that an object lacks, each with the given one.

    The items of a list have no names: a list that is too short is not a matter of names.
    """
    for name, module in given.named_children():
        path = f"{prefix}{name}"
        mine = own._modules.get(name)
        if mine is not None:
            yield from _missing(mine, module, f"{path}.")
        elif not name.isdigit():
            yield path, module


def _show_to_grader(part: nn.Module, name: str, module: nn.Module, hidden_from: Any) -> None:
    """Have a part return a module that it lacks, unless code of these files asks for it."""
    inherited = type(part).__getattr__

    def lookup(self: Any, attribute: str) -> Any:
        asks = sys._getframe(1).f_code.co_filename
        return (
            module if attribute == name and asks not in hidden_from else inherited(self, attribute)
        )

    own = type(type(part).__name__, (type(part),), {"__getattr__": lookup})
    object.__setattr__(part, "__class__", own)


class Originals:
    """The given modules, each executed when it is first needed."""

    def __init__(self, given: Mapping[str, str], program: Mapping[str, str]) -> None:
        """Take what was given of the files that students edit, and the whole program.

        Args:
            given, program: module name to text.
        """
        self.given, self.files = given, frozenset(f"{name}.py" for name in program)
        self.modules: dict[str, ModuleType] = {}

    def _module(self, name: str) -> ModuleType:
        """Return a given module, executed apart from the submission's own."""
        if name not in self.modules:
            module = ModuleType(name)
            exec(compile(self.given[name], f"{name}.py, as given", "exec"), vars(module))
            self.modules[name] = module
        return self.modules[name]

    def complete(
        self, owner: nn.Module, module: str, name: str, construct: Callable[[Any], nn.Module]
    ) -> dict[str, nn.Module]:
        """Show the grader the modules that an object lacks; return them by path.

        Args:
            module, name: where its class is.
            construct: constructs another object of a class.
        """
        if module not in self.given:
            return {}
        settings, generators = state.settings(), state.Generators()
        lacking: dict[str, nn.Module] = {}
        with contextlib.suppress(Exception):  # the given class may need what a student replaced
            lacking = dict(_missing(owner, construct(getattr(self._module(module), name))))
            for path, part in lacking.items():
                parent, _, last = path.rpartition(".")
                _show_to_grader(owner.get_submodule(parent), last, part, self.files)
        state.put_back(settings)
        generators.put_back()
        return lacking
