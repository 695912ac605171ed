"""Replace forbidden classes and functions by ones that raise. Runs in the worker.

Nothing is looked for under its names: what is forbidden is changed in place, so that every alias,
subclass and copy, and every reference from before, raises too. A Python function gets other code; a
class, in all functions of its own; a compiled function of torch, in torch's dispatcher, which every
way of calling it leads to. Importing or naming it costs nothing.

Covered: the library's code, however it is reached; and the same code that comes back, from its file
loaded again or its text executed. Not covered: a copy of that text in the submission, or one that
differs, executed; a method of an extension module's class that was kept before a call forbids it;
and code that looks for what puts back what is not forbidden for good. No process can be defended
against the code that runs in it.
"""

import contextlib
import ctypes
import functools
import importlib
import sys
import types
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch

# where torch's compiled functions run here
BACKENDS = ("CPU", "MkldnnCPU", "NestedTensorCPU", "QuantizedCPU", "SparseCPU", "SparseCsrCPU")
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


# --- code that comes back ---------------------------------------------------------------------

# names of functions and of their variables, to what messages call them
STOPPED: dict[tuple[str, tuple[str, ...]], str] = {}
FEWEST = 8  # variables; functions with fewer may have the same ones by chance
OWN: list[types.CodeType] = []  # of the submission's modules, which may define what they like
COPYING = ("exec", "function.__new__", "object.__setattr__")  # events by which code gets to run


def inside(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a code object and those of the functions and classes that it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from inside(constant)


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise where code is to run that looks as what was taken out of a function; an audit hook.

    Raises:
        NotAllowedError: it is, from a file that is loaded again or a text that is executed.
    """
    if event not in COPYING or not STOPPED:
        return
    code = arguments[-1]  # an attribute is set to it, or it is the only argument
    if isinstance(code, types.CodeType) and not any(code is own for own in OWN):
        for part in inside(code):
            if (name := STOPPED.get((part.co_name, part.co_varnames))) is not None:
                raise NotAllowedError(name)


@functools.cache
def watch() -> None:
    """Have Python call `refuse`, from now on and for good."""
    sys.addaudithook(refuse)


# --- what is forbidden ------------------------------------------------------------------------


def find(path: str) -> Any:
    """Return what has this full name, or None; its package is imported if need be."""
    names = path.split(".")
    if names[0] not in sys.modules:
        with contextlib.suppress(ImportError):  # what is not there cannot be used
            importlib.import_module(names[0])
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
    code = function.__code__
    undo.callback(setattr, function, "__code__", code)
    known_by = code.co_name, code.co_varnames
    if len(code.co_varnames) >= FEWEST and known_by not in STOPPED:
        STOPPED[known_by] = name
        undo.callback(STOPPED.pop, known_by, None)
    # the new code must fit the function's closure
    function.__code__ = code_for(name, code.co_freevars)


def stop_class(made: type, name: str, undo: contextlib.ExitStack) -> None:
    """Make every function of a class raise, its constructor included, but for static ones.

    Those need nothing of the class; where one is an exercise, it is forbidden by its own name.

    A class of an extension module can still be constructed, but nothing can be done with it: its
    constructor could not be put back.
    """
    for attribute, member in list(vars(made).items()):
        static = isinstance(member, staticmethod) and attribute != "__new__"
        for function in () if static else functions_of(member):
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
    """Forbid classes and functions.

    Args:
        names: full names to those in messages.
        for_good: nothing keeps the code that was there.

    Returns:
        What puts everything back when it is closed; nothing, for good.
    """
    watch()
    undo, operators = contextlib.ExitStack(), {}
    for path, name in names.items():
        thing = find(path)
        if isinstance(thing, type):
            stop_class(thing, name, undo)
        elif isinstance(thing, types.FunctionType):
            for function in functions_of(thing):
                stop_function(function, name, undo)
        elif isinstance(thing, COMPILED) and path.startswith("torch."):
            operators[f"aten::{path.rpartition('.')[2]}"] = name
        elif isinstance(thing, torch._ops.OpOverloadPacket):
            operators[thing._qualified_op_name] = name
    for library in stop_operators(operators):
        undo.callback(library.reset)
        if for_good:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))  # nobody holds it, and it stays
    return contextlib.ExitStack() if for_good else undo
