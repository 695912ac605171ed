"""A student's objects: their attributes by fixed names, and modules that they lack.

Runs in the worker. The names of an object's modules are fixed, as weights, stand-ins and arguments
are found by them. A student who renames one should lose the exercise that uses it, and no others.
So where an object has no such module, the grader finds that of the given class. The student's own
code does not: it gets the AttributeError that it would get elsewhere.
"""

import contextlib
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from tensormark.worker import state
from tensormark.worker.imports import compiled
from tensormark.worker.optional_torch import Tensor, nn, no_grad
from tensormark.worker.outputs import StudentError

# --- attributes and weights -------------------------------------------------------------------


NUMBER = re.compile(r"\b\d+\b")  # of an item in a path
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


def has_modules(model: nn.Module, paths: Iterable[str]) -> bool:
    """Return whether a model has modules with these paths; an asterisk stands for any number."""
    names = {name for name, _ in model.named_modules()}
    return names.union(NUMBER.sub("*", name) for name in names).issuperset(paths)


def parameters_of(model: nn.Module, more: Mapping[str, nn.Module]) -> dict[str, nn.Parameter]:
    """Return the parameters of a model by name.

    Args:
        more: modules that it lacks, by path.
    """
    own = dict(model.named_parameters())
    for path, module in more.items():
        own |= {f"{path}.{name}": parameter for name, parameter in module.named_parameters()}
    return own


@no_grad()
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


def add_left_out(
    model: nn.Module, weights: Mapping[str, Tensor], stood_in: Collection[str]
) -> list[str]:
    """Add parameters that modules were made without, as by bias=False, where stand-ins need them.

    Args:
        stood_in: paths of the modules whose methods have stand-ins; see `parents_of`.

    Returns: the names of the others, which are not added.
    """
    left_out = []
    modules = dict(model.named_modules())
    for name, value in weights.items():
        path, _, last = name.rpartition(".")
        part = modules.get(path)
        if part is None or part._parameters.get(last, value) is not None:
            continue
        if any(NUMBER.sub("*", name).startswith(f"{each}.") for each in stood_in):
            setattr(part, last, nn.Parameter(value.detach().clone()))
        else:
            left_out.append(name)
    return left_out


def parents_of(owner: Any, path: str) -> list[tuple[Any, str]]:
    """Return the objects that own the last attribute of a path, each with its name.

    Args:
        path: such as "layers.*.forward"; an asterisk stands for every module of a list.
    """
    *names, last = path.split(".")
    parents = [owner]
    for name in names:
        children: list[Any] = []
        for part in parents:
            children += part.children() if name == "*" else [member(part, name, "module")]
        parents = children
    return [(parent, last) for parent in parents]


# --- the classes of the files that students edit, as they were given --------------------------


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

    def __init__(self, given: Mapping[str, str], files: Collection[str]) -> None:
        """Take what was given of the files that students edit, by module.

        Args:
            files: the names of all files of the program.
        """
        self.given = given
        self.files = frozenset(files)
        self.modules: dict[str, ModuleType] = {}

    def _module(self, name: str) -> ModuleType:
        """Return a given module, executed apart from the submission's own."""
        if name not in self.modules:
            module = ModuleType(name)
            exec(compiled(f"{name}.py, as given", self.given[name]), vars(module))
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
        lacking: dict[str, nn.Module] = {}
        # the given class may need what a student replaced
        with state.undone(), contextlib.suppress(Exception):
            lacking = dict(_missing(owner, construct(getattr(self._module(module), name))))
            for path, part in lacking.items():
                parent, _, last = path.rpartition(".")
                _show_to_grader(owner.get_submodule(parent), last, part, self.files)
        return lacking
