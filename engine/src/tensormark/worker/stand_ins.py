"""Stand-ins for a student's methods and functions, called exactly as those are.

Runs in the worker. A stand-in replaces one method of one object: the object, its class and its
other methods stay the student's, so that code that reaches past the method (to a part's own
modules, say) works as before. Or it replaces a function, under every name that the submission's
modules have for it. Not covered: a function that something else holds, such as a default value or a
list.

Where the original returns further values in a tuple, the caller may want them, or they may be a
mistake that is not the caller's, such as a comma behind `return`. So a stand-in answers as the
original does, and where that raises, the call is made again with what should be returned.
"""

import contextlib
import dis
import functools
import inspect
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from types import CodeType, ModuleType
from typing import Any, TypeVar

from tensormark.worker.outputs import StudentError

FUNCTION = ":"  # in the path of a stand-in for a function: "module:function"
PUBLISHED = ContextVar("whether stand-ins return what should be returned", default=False)
UNPACKING = frozenset(("UNPACK_SEQUENCE", "UNPACK_EX"))
RECENT = 5  # instructions: x.shape[:2] has so many
FURTHER = ContextVar("whether one has returned further values, as the original does", default=False)
Made = TypeVar("Made")


def once_more(call: Callable[[], Made]) -> Made:
    """Make a call, and if it raises, again with stand-ins that return no further values."""
    FURTHER.set(False)
    try:
        return call()
    except Exception:
        if not FURTHER.get():
            raise
    before = PUBLISHED.set(True)
    try:
        return call()
    finally:
        PUBLISHED.reset(before)


def _signature(method: Callable[..., Any] | None) -> inspect.Signature | None:
    """Return a method's signature, or None if Python cannot tell it."""
    with contextlib.suppress(TypeError, ValueError):
        return inspect.signature(method) if method is not None else None
    return None


def takes(function: Callable[..., Any], count: int) -> bool:
    """Say whether a function takes so many positional arguments."""
    signature = _signature(function)
    return signature is None or _bound_arguments(signature, (None,) * count, {}) is not None


def _bound_arguments(
    signature: inspect.Signature | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Return arguments in a signature's order, defaults included, or None if they do not fit it."""
    try:
        bound = signature.bind(*args, **kwargs) if signature is not None else None
    except TypeError:
        return None
    if bound is None:
        return None
    bound.apply_defaults()
    return bound.args, bound.kwargs


@functools.cache
def _tuple_length(code: CodeType | None) -> int | None:
    """Return the length of the tuple that a function returns, or None if it returns something else.

    The code is read, not run, as it may be wrong.
    """
    instructions = list(dis.get_instructions(code)) if code is not None else []
    lengths: dict[Any, int | None] = {}  # of the tuples that variables hold
    for instruction, following in itertools.pairwise(instructions):
        length = instruction.arg if instruction.opname == "BUILD_TUPLE" else None
        if instruction.opname == "LOAD_FAST":
            length = lengths.get(instruction.argval)
        if following.opname == "STORE_FAST":
            lengths[following.argval] = length
        elif following.opname == "RETURN_VALUE" and length is not None:
            return length
    return None


def takes_apart(code: CodeType) -> bool:
    """Say whether a function, or one inside it, unpacks a result or takes an item of it.

    A shape is no result, nor is what a loop is over; items have numbers, not slices.
    """
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    steps = list(dis.get_instructions(code))
    for place, (before, step) in enumerate(itertools.pairwise(steps)):
        unpacks = step.opname in UNPACKING and before.opname != "FOR_ITER"
        number = before.opname.startswith("LOAD_") and type(before.argval) is int
        indexes = step.opname == "BINARY_SUBSCR" or step.argrepr == "[]"
        recent = {earlier.argval for earlier in steps[max(0, place - RECENT) : place]}
        if (unpacks or (indexes and number)) and recent.isdisjoint(("shape", "size")):
            return True
    return any(map(takes_apart, inner))


def called_like(original: Callable[..., Any] | None, stand_in: Callable[..., Any]) -> Any:
    """Return a function with the original's parameters and the stand-in's result.

    The names, defaults and further parameters of the original count, so that a call is right or
    wrong whenever it would be without the stand-in; those that the assignment published count too.
    Where the original returns further values in a tuple, the result has as many, all None,
    unless PUBLISHED says otherwise.

    Args:
        original: the student's method, if there is one.
        stand_in: its parameters are those that the assignment published, in order.
    """
    own, published = _signature(original), inspect.signature(stand_in)
    name = getattr(original, "__qualname__", "the function")
    length = _tuple_length(getattr(original, "__code__", None))

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        bound = _bound_arguments(own, args, kwargs) or _bound_arguments(published, args, kwargs)
        if bound is None:
            if original is not None:
                original(*args, **kwargs)  # raises Python's own TypeError
            raise StudentError(f"{name}() is not called with {', '.join(published.parameters)}")
        positional, keywords = bound[0][: len(published.parameters)], bound[1]
        keywords = {key: value for key, value in keywords.items() if key in published.parameters}
        try:
            published.bind(*positional, **keywords)
        except TypeError as error:
            raise StudentError(f"{name}() cannot be given everything: {error}") from None
        result = stand_in(*positional, **keywords)
        if length is None or PUBLISHED.get():
            return result
        FURTHER.set(True)
        return (result, *[None] * (length - 1))

    return wrapper


def put_in_place(part: Any, method: str, stand_in: Callable[..., Any]) -> None:
    """Replace a method of one object.

    Args:
        stand_in: takes the object, then the method's arguments.
    """
    original = getattr(part, method, None)
    setattr(part, method, called_like(original, functools.partial(stand_in, part)))


def _modules_beside(home: ModuleType) -> Iterator[ModuleType]:
    """Yield a module of the submission, and the imported modules of the same folder."""
    folder = os.path.dirname(home.__file__ or "")
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if module is home or (isinstance(file, str) and os.path.dirname(file) == folder):
            yield module


@contextlib.contextmanager
def function_replaced(home: ModuleType, name: str, stand_in: Callable[..., Any]) -> Iterator[None]:
    """Replace a function while a call runs, in every module of the submission that has it.

    Args:
        home: the module that defines it.
        stand_in: takes the function's arguments.
    """
    original = vars(home).get(name)
    replacement = called_like(original, stand_in)
    holders = [(home, name)]
    for module in _modules_beside(home) if original is not None else ():
        names = [key for key, value in vars(module).items() if value is original]
        holders += [(module, key) for key in names]
    for module, attribute in holders:
        setattr(module, attribute, replacement)
    try:
        yield
    finally:
        for module, attribute in holders:
            if original is not None:
                setattr(module, attribute, original)
            elif attribute in vars(module):
                delattr(module, attribute)


@contextlib.contextmanager
def functions_replaced(
    stand_ins: Mapping[str, str], module: Callable[[str], ModuleType], harness: Any
) -> Iterator[None]:
    """Replace the functions that a call has stand-ins for, while it runs.

    Args:
        stand_ins: by path, the name of the harness's stand-in; methods' paths are passed over.
        module: returns a module of the submission by its name.
    """
    with contextlib.ExitStack() as stack:
        for path, kind in stand_ins.items():
            home, separator, name = path.partition(FUNCTION)
            if separator:
                stand_in = harness.STAND_INS[kind]
                stack.enter_context(function_replaced(module(home), name, stand_in))
        yield
