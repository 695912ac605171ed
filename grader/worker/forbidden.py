"""Replace forbidden classes and functions by ones that raise. Runs in the worker.

Nothing is looked for under its names: what is forbidden is changed in place, so that every alias,
subclass and copy, and every reference from before, raises too. A Python function gets other code; a
class, in all functions of its own; a compiled function of torch, in torch's dispatcher, which every
way of calling it leads to. A module that is forbidden, or that defines what is, is not imported
again.

Covered: the library's code, however it is reached. Not covered: a copy of its source text, in the
submission or read from the installation and executed; and code that looks for what puts back what
is not forbidden for good. No process can be defended against the code that runs in it.
"""

import contextlib
import ctypes
import functools
import importlib.abc
import importlib.machinery
import sys
import types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

BACKENDS = ("CPU", "NestedTensorCPU", "QuantizedCPU")  # where torch's compiled functions run here
COMPILED = (types.BuiltinFunctionType, types.MethodDescriptorType, types.ClassMethodDescriptorType)


class NotAllowedError(Exception):
    """Forbidden library code was called.

    Attributes:
        name: what was called, as messages call it.
    """

    name = ""

    def __init__(self, name: str = "") -> None:
        self.name = name or self.name
        super().__init__(
            f"{self.name} is not allowed in this assignment: it is what you are asked to write"
        )


class Refusal(importlib.abc.MetaPathFinder):
    """Raises when a forbidden module is imported, or one that defines what is forbidden again."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # of modules to what messages call it

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find nothing, or refuse.

        Raises:
            NotAllowedError: the module may not be imported.
        """
        if fullname in self.names:
            raise NotAllowedError(self.names[fullname])
        return None


def let_in(refusal: Refusal) -> None:
    """Refuse nothing any more."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not refusal]


def find(path: str) -> Any:
    """Return what has this full name; None if there is none, or its module is not imported."""
    names = path.split(".")
    for split in range(len(names), 0, -1):
        thing: Any = sys.modules.get(".".join(names[:split]))
        if thing is not None:
            for name in names[split:]:
                thing = getattr(thing, name, None)
            return thing
    return None


def not_allowed(*_: Any, **__: Any) -> None:
    """Take anything and raise; see `code_for`."""
    raise "what"  # type: ignore[misc]  # noqa: B016, an error takes its place


@functools.cache
def code_for(name: str, closed_over: tuple[str, ...] = ()) -> types.CodeType:
    """Return the code of a function that takes anything and raises NotAllowedError.

    It is a constant of the code, because names are looked up in the globals of the function that
    gets it.
    """
    error = type("NotAllowedError", (NotAllowedError,), {"name": name})
    code = not_allowed.__code__
    constants = tuple(error if one == "what" else one for one in code.co_consts)
    return code.replace(co_consts=constants, co_freevars=closed_over)


def raising(name: str) -> types.FunctionType:
    """Return a function that takes anything and raises NotAllowedError."""
    return types.FunctionType(code_for(name), globals())


def functions_of(member: Any) -> Iterator[types.FunctionType]:
    """Yield the Python functions behind a member of a class or module, wrapped ones included."""
    if isinstance(member, property):
        members = [member.fget, member.fset, member.fdel]
    else:
        members = [getattr(member, "__func__", member)]  # of a static or class method
    for function in members:
        while isinstance(function, types.FunctionType):
            yield function
            function = getattr(function, "__wrapped__", None)


def stop_function(function: types.FunctionType, name: str, undo: contextlib.ExitStack) -> None:
    """Give a Python function code that raises."""
    undo.callback(setattr, function, "__code__", function.__code__)
    # the new code must fit the function's closure
    function.__code__ = code_for(name, function.__code__.co_freevars)


def stop_class(made: type, name: str, undo: contextlib.ExitStack) -> None:
    """Make every function of a class raise, its constructor included.

    A class of an extension module can still be constructed, but nothing can be done with it: its
    constructor could not be put back.
    """
    for attribute, member in list(vars(made).items()):
        for function in functions_of(member):
            stop_function(function, name, undo)
        if isinstance(getattr(member, "__func__", member), COMPILED) and attribute != "__new__":
            undo.callback(setattr, made, attribute, member)
            setattr(made, attribute, staticmethod(raising(name)))


def forms(operator: str) -> Iterator[tuple[str, str]]:
    """Yield the forms of one of torch's operators, each with a backend that it runs on.

    Forms without code of their own lead to others; where none has any, that is to other operators.
    """
    schemas = torch._C._jit_get_schemas_for_operator(operator)
    names = [f"{operator}.{one.overload_name}".rstrip(".") for one in schemas]
    has_own = torch._C._dispatch_has_kernel_for_dispatch_key
    own = [(form, on) for form in names for on in BACKENDS if has_own(form, on)]
    yield from own or [(form, on) for form in names for on in BACKENDS]


def stop_operators(operators: Mapping[str, str]) -> Iterator[Any]:
    """Make torch's operators of these names, such as aten::relu, raise in all of their forms.

    Yields what puts them back, by its method `reset` or as soon as nobody holds it: one for each
    of torch's libraries.
    """
    for namespace in sorted({operator.partition("::")[0] for operator in operators}):
        # torch.library.Library would do, but leaves traces by which it can be found and put back
        library: Any = torch._C._dispatch_library("IMPL", namespace, "", __file__, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that this replaces something is the intention
            for operator, name in operators.items():
                if operator.startswith(f"{namespace}::"):
                    for form, backend in forms(operator):
                        library.impl(form, backend, raising(name), False)
        yield library


def stop(names: Mapping[str, str], for_good: bool = False) -> contextlib.ExitStack:
    """Forbid classes, functions and modules.

    Args:
        names: full names to those in messages. What cannot be found is taken for a module that is
            not imported.
        for_good: nothing keeps the code that was there.

    Returns:
        What puts everything back when it is closed; nothing, for good.
    """
    undo, refusal, operators = contextlib.ExitStack(), Refusal(), {}
    for path, name in names.items():
        thing = find(path)
        refusal.names[getattr(thing, "__module__", None) or path] = name
        if isinstance(thing, type):
            stop_class(thing, name, undo)
        elif isinstance(thing, types.FunctionType):
            for function in functions_of(thing):
                stop_function(function, name, undo)
        elif isinstance(thing, COMPILED) and path.startswith("torch."):
            operators[f"aten::{path.rpartition('.')[2]}"] = name
        elif isinstance(thing, torch._ops.OpOverloadPacket):
            operators[thing._qualified_op_name] = name
    sys.meta_path.insert(0, refusal)
    undo.callback(let_in, refusal)
    for library in stop_operators(operators):
        undo.callback(library.reset)
        if for_good:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))  # nobody holds it, and it stays
    return contextlib.ExitStack() if for_good else undo
