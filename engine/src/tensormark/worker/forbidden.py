"""Make forbidden library code raise. Runs in the worker.

Importing or mentioning forbidden code costs nothing. What stops a call is a guard, which is put in
place of what a name means:

- A Python function gets it as its code, and a class in each of its functions. So every alias,
  subclass, copy and earlier reference raises too, also where library code uses it.
- An operator of torch gets it in torch's dispatcher, through which all its calls go.
- Another compiled function or class, such as numpy.dot or itertools.permutations, cannot be
  changed. So, wherever a module has one, a gate is put there before a submission is imported. It
  raises if the submission's own code calls it, and lets library code through.
- In a module or package, all functions and classes are guarded, likewise from the submission only.

Not covered: a copy of the code, such as the library's file loaded or executed again; what a
submission passes to library code that is written in Python; methods and operators of objects of a
compiled class; a compiled class by a subclass, or by the type of an object; a compiled method that
was saved before a call forbids it; a search for what the guards have replaced. No process can be
defended against the code that runs in it.
"""

import contextlib
import functools
import importlib
import itertools
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType
from typing import Any

from tensormark.worker.optional_torch import torch
from tensormark.worker.protocol import NOT_ALLOWED


class NotAllowedError(Exception):
    """Forbidden library code was called.

    Attributes:
        name: the name of the called code in messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{NOT_ALLOWED.format(name)}: it is what you are asked to write")


# --- guards -----------------------------------------------------------------------------------

OWN: set[str] = set()  # names of the submission's modules, and the harness


def as_own(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the submission whose calls are its own, even if a library defines it."""

    def call(*arguments: Any, **options: Any) -> Any:
        return function(*arguments, **options)

    return call


AS_OWN = as_own(len).__code__


def _is_own(frame: FrameType) -> bool:
    """Return whether a frame runs the submission's code, or code that it has made."""
    name = str(frame.f_globals.get("__name__"))
    if frame.f_code is AS_OWN or name in OWN:
        return True
    module = sys.modules.get(name)
    in_library = module is not None and vars(module) is frame.f_globals
    return not (in_library or os.path.isabs(frame.f_code.co_filename))


def _guard(name: str, original: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Return a function that raises NotAllowedError.

    Args:
        name: what is forbidden, in messages.
        original: what library code calls instead; None: library code may not call it either.
    """

    def guard(*arguments: Any, **options: Any) -> Any:
        # the frame between is what the guard was put into
        if original is None or _is_own(sys._getframe(2)):
            raise NotAllowedError(name)
        return original(*arguments, **options)

    return guard


class Gate:
    """Stands for a compiled function or class wherever a module has it.

    Attributes:
        behind: that function or class.
        name: its name in messages while it is forbidden, else empty.
    """

    def __init__(self, behind: Any, name: str = "") -> None:
        self.behind = behind
        self.name = name
        self.__module__ = home_of(behind)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The class of what is behind, for those who ask what this is."""
        return type(self.behind)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call what is behind, unless it is forbidden and the submission calls."""
        if self.name and _is_own(sys._getframe(1)):
            raise NotAllowedError(self.name)
        return self.behind(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of what is behind; what can be called is forbidden with it."""
        value = getattr(self.behind, name)
        return Gate(value, self.name) if self.name and callable(value) else value

    def __getitem__(self, item: Any) -> Any:
        """Return a type, as in `deque[int]`."""
        return self.behind[item]

    def __or__(self, other: Any) -> Any:
        """Return a type, as in `deque | None`."""
        return self.behind | other

    def __ror__(self, other: Any) -> Any:
        """Return a type, as in `None | deque`."""
        return other | self.behind

    def __instancecheck__(self, value: Any) -> bool:
        """Return whether an object is of the class behind."""
        return isinstance(value, self.behind)

    def __subclasscheck__(self, cls: type) -> bool:
        """Return whether a class inherits from the class behind."""
        return issubclass(cls, self.behind)

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        """Let a class inherit from the class behind."""
        return (self.behind,)

    def __reduce__(self) -> str:
        """Let this be its own copy, as functions and classes are."""
        return str(self.behind.__name__)


# --- where guards are put ---------------------------------------------------------------------

Place = Callable[[str, contextlib.ExitStack], None]  # takes the name in messages, and how to undo


def _any_function(*arguments: Any, **options: Any) -> Any:
    guard: Any = "guard"  # to be replaced: a name would be looked up in another module
    return guard(*arguments, **options)


def _in_function(
    function: FunctionType, anyone: bool, name: str, undo: contextlib.ExitStack
) -> None:
    """Put a guard into a Python function."""
    code = function.__code__
    original = None
    if not anyone:
        about = function.__globals__, code.co_name, function.__defaults__, function.__closure__
        original = FunctionType(code, *about)
        original.__kwdefaults__ = function.__kwdefaults__
    guard = _guard(name, original)
    made = _any_function.__code__
    constants = tuple(guard if value == "guard" else value for value in made.co_consts)
    undo.callback(setattr, function, "__code__", code)
    # the new code must fit the function's closure
    function.__code__ = made.replace(co_consts=constants, co_freevars=code.co_freevars)


def _in_class(cls: type, method: str, name: str, undo: contextlib.ExitStack) -> None:
    """Put a guard in place of a compiled method."""
    undo.callback(setattr, cls, method, vars(cls)[method])
    setattr(cls, method, staticmethod(_guard(name)))


def _in_dispatcher(
    kernels: Sequence[tuple[str, str]], name: str, undo: contextlib.ExitStack
) -> None:
    """Put a guard in place of an operator of torch, until `undo` is closed or collected."""
    # torch.library.Library refuses to replace what another one has replaced
    namespace = kernels[0][0].partition("::")[0]
    library: Any = torch._C._dispatch_library("IMPL", namespace, "", __file__, 1)
    undo.callback(library.reset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # replacing a kernel is the intention
        for overload, backend in kernels:
            library.impl(overload, backend, _guard(name), False)


def _in_gate(gate: Gate, name: str, undo: contextlib.ExitStack) -> None:
    """Put a guard into a gate."""
    undo.callback(setattr, gate, "name", gate.name)
    gate.name = name


def _gates(targets: Iterable[Any]) -> list[Place]:
    """Put gates in place of compiled objects, unless there are some, wherever a module has them."""
    gates = {id(each): each if isinstance(each, Gate) else Gate(each) for each in targets}
    for module in [*sys.modules.values()] if gates else ():
        names = vars(module) if isinstance(module, ModuleType) else {}
        names.update({name: gates[id(at)] for name, at in names.items() if id(at) in gates})
    return [functools.partial(_in_gate, gate) for gate in gates.values()]


# --- what a name means ------------------------------------------------------------------------


# where torch's compiled functions run here
BACKENDS = ("CPU", "MkldnnCPU", "NestedTensorCPU", "QuantizedCPU", "SparseCPU", "SparseCsrCPU")
COMPILED = (BuiltinFunctionType, types.MethodDescriptorType, types.ClassMethodDescriptorType)
IMMUTABLE = 1 << 8  # the flag of a class whose attributes cannot be set
# modules of classes that a submission's own inherit from
BASES = ("torch.nn.modules.module", "torch.optim.optimizer")
MISSING = object()


def home_of(target: Any) -> str:
    """Return the name of the module that a function or class is from, as far as it says so."""
    owner = type(getattr(target, "__self__", target))
    places = (target, getattr(target, "__objclass__", None), owner)
    homes = (getattr(place, "__module__", None) for place in places)
    return next(home for home in homes if isinstance(home, str))


def find(path: str) -> Any:
    """Return the object with this full name, or MISSING; import its modules if necessary."""
    names = path.split(".")
    target: Any = None
    for count, name in enumerate(names, start=1):
        module = ".".join(names[:count])
        if isinstance(target, ModuleType | None) and not hasattr(target, name):
            with contextlib.suppress(Exception):  # whatever a module raises, it cannot be used
                importlib.import_module(module)
        target = sys.modules.get(module) or getattr(target, name, MISSING)
        if target is MISSING:
            return MISSING
    return target


def _operator(target: Any) -> str:
    """Return the name of the operator that a function of torch may be, such as aten::relu."""
    if isinstance(target, COMPILED) and home_of(target).startswith("torch"):
        return f"aten::{target.__name__}"
    packet = getattr(target, "_overloadpacket", target)  # torch.ops.aten.relu of ...relu.default
    return getattr(packet, "_qualified_op_name", "")


def _kernels(target: Any) -> list[tuple[str, str]]:
    """Return the overloads of an operator of torch, each with the backends that have its kernel.

    One without a kernel for ordinary tensors calls other operators, and gets every backend. Those
    that only TorchScript has, as for numbers, are left out.

    Returns: nothing for another object.
    """
    operator = _operator(target) if torch else ""
    if not operator:
        return []
    schemas = torch._C._jit_get_schemas_for_operator(operator)
    names = [f"{operator}.{schema.overload_name}".rstrip(".") for schema in schemas]
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return [
        (name, backend)
        for name in filter(torch._C._dispatch_has_kernel, names)
        for backend in BACKENDS
        if has_kernel(name, backend) or not has_kernel(name, BACKENDS[0])
    ]


def _functions(member: Any) -> Iterator[FunctionType]:
    """Yield the Python functions behind a member of a class or module, including wrapped ones."""
    if isinstance(member, property):
        members = [member.fget, member.fset, member.fdel]
    else:
        members = [getattr(member, "__func__", member)]  # of a static or class method
    for function in members:
        while isinstance(function, FunctionType):
            yield function
            function = getattr(function, "__wrapped__", None)


def _is_fixed(target: Any) -> bool:
    """Return whether an object can be called, but not changed in place."""
    if isinstance(target, type):
        return bool(target.__flags__ & IMMUTABLE) and target.__module__ != "builtins"
    python = isinstance(getattr(target, "__func__", target), FunctionType | ModuleType)
    return callable(target) and not python


def _members(module: ModuleType) -> Iterator[Any]:
    """Yield a module's functions and classes, and those of the modules inside of it.

    Classes that may be used as types everywhere, such as numpy.ndarray, are left out.
    """
    prefix = f"{module.__name__}."
    root = prefix.partition(".")[0]
    for name, each in [*sys.modules.items()]:
        if not f"{name}.".startswith(prefix) or name in BASES or not isinstance(each, ModuleType):
            continue
        for value in vars(each).values():
            home = home_of(value)
            own = f"{home}.".lstrip("_").startswith(prefix) and home not in BASES
            if isinstance(value, type):
                own = own and (not _is_fixed(value) or root in sys.stdlib_module_names)
            elif _is_fixed(value):  # torch.linalg.svd says that it is from torch._C._linalg
                own = own or home.startswith(f"{root}._")
            if own:
                yield value


def _places(target: Any, anyone: bool = True) -> list[Place]:
    """Return where guards are put for what `find` has found.

    A static method does not depend on its class, so it is forbidden by its own name only. A class
    of an extension module can still be constructed, but no method of it can be called.

    Args:
        anyone: guard against the calls of libraries, too.
    """
    if isinstance(target, ModuleType):
        inside = {id(each): each for each in _members(target)}.values()
        others = itertools.filterfalse(_is_fixed, inside)
        guarded = [place for each in others for place in _places(each, anyone=False)]
        return _gates(filter(_is_fixed, inside)) + guarded
    if kernels := _kernels(target):
        return [functools.partial(_in_dispatcher, kernels)]
    if _is_fixed(target):
        return _gates([target])
    places: list[Place] = []
    for name, member in (vars(target) if isinstance(target, type) else {"": target}).items():
        if name == "__new__" or not isinstance(member, staticmethod):
            places += [functools.partial(_in_function, each, anyone) for each in _functions(member)]
        if name != "__new__" and isinstance(getattr(member, "__func__", member), COMPILED):
            places.append(functools.partial(_in_class, target, name))
    return places


# --- forbidding -------------------------------------------------------------------------------

PLACES: dict[str, list[Place]] = {}  # by full name, before a submission could replace it


def _fault(path: str, target: Any) -> str | None:
    """Return why a name cannot be forbidden, or None if it can."""
    if target is MISSING:
        return "there is no such name in the packages that submissions can import"
    if isinstance(target, ModuleType):
        return None
    if not callable(target) and not isinstance(target, property):
        return f"it is of type {type(target).__name__}, not a function, class or module"
    if isinstance(target, type) and target.__module__ == "builtins":
        return "this type is used everywhere"
    in_module = isinstance(find(path.rpartition(".")[0]), ModuleType)
    if _is_fixed(target) and not _kernels(target) and not in_module:
        return "it is a method of a compiled class; name the class"
    return None


def prepare(rules: Mapping[str, str]) -> str | None:
    """Look names up, and put gates where they need some, before a submission is imported.

    Args:
        rules: full names, with where they are listed.

    Returns: which of them cannot be forbidden, and why; None: all can be.
    """
    for path, where in rules.items():
        if path not in PLACES:
            target = find(path)
            fault = _fault(path, target)
            if fault is not None:
                return f"{where}: {path} cannot be forbidden: {fault}"
            PLACES[path] = _places(target)
    return None


def forbid(names: Mapping[str, str]) -> contextlib.ExitStack:
    """Forbid functions, classes and modules.

    Args:
        names: full names to the names in messages.

    Returns: a stack that restores everything when it is closed.
    """
    undo = contextlib.ExitStack()
    for path, name in names.items():
        for place in PLACES[path] if path in PLACES else _places(find(path)):
            place(name, undo)
    return undo
