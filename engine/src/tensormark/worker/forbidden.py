"""Make forbidden library code raise when a submission calls it. Runs in the worker.

What can be changed in place is: a Python function gets new code, and so does every function of a
class; an operator of torch is replaced in torch's dispatcher, through which all its calls go. So
every alias, subclass, copy and earlier reference raises too, and so does library code that uses it.
Other compiled functions and classes have gates (gates.py), and calls to anything in a package are
watched (entered.py): these two only stop what the submission calls itself. Importing or mentioning
forbidden code costs nothing.

Covered: the library's code, however it is reached, even if its file is reloaded or its source is
executed. Not covered: a copy of that source in the submission, or modified source that it executes;
a method of an extension module's class that was saved before a call forbids it; and code that
searches for the objects that undo temporary bans. No process can be defended against the code that
runs in it.
"""

import contextlib
import ctypes
import functools
import importlib
import sys
import types
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from tensormark.worker import gates
from tensormark.worker.entered import WATCH, NotAllowedError, Package, modules_of

# where torch's compiled functions run here
BACKENDS = ("CPU", "MkldnnCPU", "NestedTensorCPU", "QuantizedCPU", "SparseCPU", "SparseCsrCPU")
COMPILED = (types.BuiltinFunctionType, types.MethodDescriptorType, types.ClassMethodDescriptorType)
IMMUTABLE = 1 << 8  # the flag of a class whose attributes cannot be set
MISSING = object()


# --- reloaded code ----------------------------------------------------------------------------

# (name, variables) of functions whose code was replaced, to their names in messages
REPLACED: dict[tuple[str, tuple[str, ...]], str] = {}
MIN_VARIABLES = 8  # functions with fewer may share their names by chance
SUBMISSION_CODE: list[types.CodeType] = []  # the submission's modules, which may define anything
ROOM = 100  # calls below the recursion limit at which a profiler may have failed
EVENTS = ("exec", "function.__new__", "object.__setattr__")  # raised before code can run


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a code object and those of the functions and classes that it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested(constant)


def _depth() -> int:
    """Count the calls that have not returned yet."""
    frame: types.FrameType | None = sys._getframe()
    depth = 0
    while frame is not None:
        frame = frame.f_back
        depth += 1
    return depth


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse to run code that looks like replaced code (an audit hook).

    Raises:
        NotAllowedError: it does, so its file was reloaded or its source is executed.
        RuntimeError: it would stop the watch on what the submission enters.
        RecursionError: Python would, as the stack is full.
    """
    if event == "sys.setprofile" and WATCH.guarded:
        if _depth() > sys.getrecursionlimit() - ROOM:
            raise RecursionError("maximum recursion depth exceeded")
        raise RuntimeError("no profiler can be used while an exercise is graded")
    if event not in EVENTS or not REPLACED:
        return
    code = arguments[-1]  # the value that an attribute is set to, or the only argument
    if isinstance(code, types.CodeType) and not any(code is own for own in SUBMISSION_CODE):
        for part in _nested(code):
            if (name := REPLACED.get((part.co_name, part.co_varnames))) is not None:
                raise NotAllowedError(name)


@functools.cache
def _install_hook() -> None:
    """Make Python call `_refuse` from now on; an audit hook cannot be removed."""
    sys.addaudithook(_refuse)


# --- forbidding -------------------------------------------------------------------------------


FOUND: dict[str, Any] = {}  # what names meant before a submission could replace it


def find(path: str) -> Any:
    """Return the object with this full name, or MISSING; import its modules if necessary."""
    return FOUND[path] if path in FOUND else _look_up(path)


def _look_up(path: str) -> Any:
    names = path.split(".")
    target: Any = None
    for count, name in enumerate(names, start=1):
        module = ".".join(names[:count])
        if isinstance(target, types.ModuleType | None) and not hasattr(target, name):
            with contextlib.suppress(Exception):  # whatever a module raises, it cannot be used
                importlib.import_module(module)
        target = sys.modules.get(module) or getattr(target, name, MISSING)
        if target is MISSING:
            return MISSING
    return gates.behind(target)


def _not_allowed(*_: Any, **__: Any) -> None:
    """Accept any arguments and raise; see `_raising_code`."""
    raise "error"  # type: ignore[misc]  # noqa: B016, to be replaced with an exception


@functools.cache
def _raising_code(name: str, free_variables: tuple[str, ...] = ()) -> types.CodeType:
    """Return the code of a function that accepts any arguments and raises NotAllowedError.

    The exception is a constant of the code, because a name would be looked up in the globals of the
    function that gets the code.
    """
    error = type("NotAllowedError", (NotAllowedError,), {"name": name})
    code = _not_allowed.__code__
    constants = tuple(error if value == "error" else value for value in code.co_consts)
    return code.replace(co_consts=constants, co_freevars=free_variables)


def _raising(name: str) -> types.FunctionType:
    """Return a function that accepts any arguments and raises NotAllowedError."""
    return types.FunctionType(_raising_code(name), globals())


def _functions(member: Any) -> Iterator[types.FunctionType]:
    """Yield the Python functions behind a member of a class or module, including wrapped ones."""
    if isinstance(member, property):
        members = [member.fget, member.fset, member.fdel]
    else:
        members = [getattr(member, "__func__", member)]  # of a static or class method
    for function in members:
        while isinstance(function, types.FunctionType):
            yield function
            function = getattr(function, "__wrapped__", None)


def _forbid_function(function: types.FunctionType, name: str, undo: contextlib.ExitStack) -> None:
    """Give a Python function code that raises."""
    code = function.__code__
    undo.callback(setattr, function, "__code__", code)
    signature = code.co_name, code.co_varnames
    if len(code.co_varnames) >= MIN_VARIABLES and signature not in REPLACED:
        REPLACED[signature] = name
        undo.callback(REPLACED.pop, signature, None)
    # the new code must fit the function's closure
    function.__code__ = _raising_code(name, code.co_freevars)


def _forbid_class(cls: type, name: str, undo: contextlib.ExitStack) -> None:
    """Make every function of a class raise, including its constructor but not static methods.

    Static methods do not depend on the class; if one is an exercise, it is forbidden by name.

    A class of an extension module can still be constructed, because its constructor could not be
    restored, but none of its methods can be called.
    """
    for attribute, member in list(vars(cls).items()):
        static = isinstance(member, staticmethod) and attribute != "__new__"
        for function in () if static else _functions(member):
            _forbid_function(function, name, undo)
        if isinstance(getattr(member, "__func__", member), COMPILED) and attribute != "__new__":
            undo.callback(setattr, cls, attribute, member)
            setattr(cls, attribute, staticmethod(_raising(name)))


def _overloads(operator: str) -> Iterator[tuple[str, str]]:
    """Yield the overloads of one of torch's operators, each with a backend that has its kernel.

    The other overloads call these; if no overload has a kernel, they call other operators, and each
    is yielded with every backend.
    """
    schemas = torch._C._jit_get_schemas_for_operator(operator)
    names = [f"{operator}.{schema.overload_name}".rstrip(".") for schema in schemas]
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    pairs = [(name, backend) for name in names for backend in BACKENDS]
    yield from [pair for pair in pairs if has_kernel(*pair)] or pairs


def _forbid_operators(operators: Mapping[str, str]) -> Iterator[Any]:
    """Make torch's operators with these names, such as aten::relu, raise in all their overloads.

    Yields a library for each namespace, which restores its operators when its method `reset` is
    called or when it is garbage-collected.
    """
    for namespace in sorted({operator.partition("::")[0] for operator in operators}):
        # torch.library.Library would work, but leaves traces by which it can be found and undone
        library: Any = torch._C._dispatch_library("IMPL", namespace, "", __file__, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # replacing a kernel is the intention
            for operator, name in operators.items():
                if operator.startswith(f"{namespace}::"):
                    for overload, backend in _overloads(operator):
                        library.impl(overload, backend, _raising(name), False)
        yield library


# --- names ------------------------------------------------------------------------------------


def _operator(target: Any) -> str | None:
    """Return the name of the operator that a function of torch is, such as aten::relu, or None."""
    if isinstance(target, torch._ops.OpOverload):
        return target._schema.name
    if isinstance(target, torch._ops.OpOverloadPacket):
        return target._qualified_op_name
    if not isinstance(target, COMPILED):
        return None
    operator = f"aten::{target.__name__}"
    schemas = torch._C._jit_get_schemas_for_operator(operator)
    names = [f"{operator}.{schema.overload_name}".rstrip(".") for schema in schemas]
    exists = any(map(torch._C._dispatch_has_kernel, names))
    return operator if exists and gates.home_of(target).startswith("torch") else None


def _needs_gate(target: Any) -> bool:
    """Say whether an object can be called, but not changed in place."""
    if isinstance(target, type):
        return bool(target.__flags__ & IMMUTABLE) and target.__module__ != "builtins"
    changed = (types.FunctionType, types.MethodType, types.ModuleType)
    return callable(target) and not isinstance(target, changed) and _operator(target) is None


def _fault(path: str) -> str | None:
    """Say why a name cannot be forbidden, or return None."""
    target = find(path)
    if target is MISSING:
        return "there is no such name"
    if isinstance(target, types.ModuleType):
        return None
    if not callable(target) and not isinstance(target, property):
        return f"it is no function, class or module, but of type {type(target).__name__}"
    if isinstance(target, type) and target.__module__ == "builtins":
        return "everything uses that type"
    if _needs_gate(target):
        owner = find(path.rpartition(".")[0])
        if not isinstance(owner, types.ModuleType):
            return "it is a method of a compiled class; name the class"
    return None


def unenforceable(paths: Mapping[str, str]) -> str | None:
    """Say which of an assignment's names cannot be forbidden, and why; None: all can be.

    Args:
        paths: full names to where they are listed.
    """
    for path, where in paths.items():
        if (fault := _fault(path)) is not None:
            return f"{where}: {path} cannot be forbidden: {fault}"
    return None


def _unseen(package: types.ModuleType) -> list[Any]:
    """Return a package's compiled objects whose calls the profiler does not show."""
    prefix, root = f"{package.__name__}.", package.__name__.partition(".")[0]
    members = [value for module in modules_of(package) for value in vars(module).values()]
    unseen = [value for value in members if not isinstance(value, types.BuiltinFunctionType)]
    return [
        value
        for value in map(gates.behind, unseen)
        if _needs_gate(value)
        and f"{gates.home_of(value)}.".lstrip("_").startswith(prefix)
        and (not isinstance(value, type) or root in sys.stdlib_module_names)
    ]


def prepare(paths: Iterable[str]) -> None:
    """Look names up, and put gates where they need some, before a submission is imported."""
    targets = list[Any]()
    for path in set(paths) - FOUND.keys():
        target = _look_up(path)
        if target is not MISSING:
            FOUND[path] = target
        if isinstance(target, types.ModuleType):
            targets += _unseen(target)
        elif _needs_gate(target):
            targets.append(target)
    if targets:
        gates.install(targets)


@functools.cache
def _package(module: types.ModuleType, name: str) -> tuple[Package, list[Any]]:
    return Package(module, name), _unseen(module)


def _forbid_package(module: types.ModuleType, name: str, undo: contextlib.ExitStack) -> None:
    """Have calls from the submission to anything in a package raise."""
    package, unseen = _package(module, name)
    WATCH.packages.append(package)
    undo.callback(WATCH.packages.remove, package)
    for target in unseen:
        gates.close(target, name, undo)


def forbid(names: Mapping[str, str], for_good: bool = False) -> contextlib.ExitStack:
    """Forbid classes and functions.

    Args:
        names: full names to the names in messages.
        for_good: drop the original code, so that nothing can restore it.

    Returns:
        A stack that restores everything when it is closed; an empty one if `for_good`.
    """
    _install_hook()
    undo = contextlib.ExitStack()
    operators: dict[str, str] = {}
    for path, name in names.items():
        target = find(path)
        if isinstance(target, types.ModuleType):
            _forbid_package(target, name, undo)
        elif _needs_gate(target):
            gates.close(target, name, undo)
        elif isinstance(target, type):
            _forbid_class(target, name, undo)
        elif (operator := _operator(target)) is not None:
            operators[operator] = name
        else:
            for function in _functions(target):
                _forbid_function(function, name, undo)
    for library in _forbid_operators(operators):
        undo.callback(library.reset)
        if for_good:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))  # it outlives its last reference
    return contextlib.ExitStack() if for_good else undo
