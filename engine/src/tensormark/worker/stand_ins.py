"""Stand-ins in the place of a student's methods and functions, called exactly as those are.

Runs in the worker. A stand-in replaces one method of one object: the object, its class and its
other methods stay the student's, so that code that reaches past the method (a part's own modules,
say) works as it did. Or it replaces a function, wherever the submission's modules have it by a
name. Not covered: a function that something else holds, such as a default value or a list.

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
APART = frozenset(("BINARY_SUBSCR", "BINARY_SLICE", "UNPACK_SEQUENCE", "UNPACK_EX"))
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


def signature_of(method: Callable[..., Any] | None) -> inspect.Signature | None:
    """Return a method's signature, if it has one that Python can tell."""
    with contextlib.suppress(TypeError, ValueError):
        return inspect.signature(method) if method is not None else None
    return None


def takes(function: Callable[..., Any], count: int) -> bool:
    """Say whether a function takes so many positional arguments."""
    signature = signature_of(function)
    return signature is None or values_of(signature, (None,) * count, {}) is not None


def values_of(
    signature: inspect.Signature | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Return arguments in the order of a signature, defaults included; None if it refuses them."""
    try:
        bound = signature.bind(*args, **kwargs) if signature is not None else None
    except TypeError:
        return None
    if bound is None:
        return None
    bound.apply_defaults()
    return bound.args, bound.kwargs


@functools.cache
def returned_by(code: CodeType | None) -> int | None:
    """Return how many values a function returns as a tuple; None: it returns something else.

    It is read, not run: what is wrong with it must not matter here.
    """
    steps = list(dis.get_instructions(code)) if code is not None else []
    named: dict[Any, int | None] = {}  # variables that hold a tuple, and its length
    for step, then in itertools.pairwise(steps):
        length = step.arg if step.opname == "BUILD_TUPLE" else None
        if step.opname == "LOAD_FAST":
            length = named.get(step.argval)
        if then.opname == "STORE_FAST":
            named[then.argval] = length
        elif then.opname == "RETURN_VALUE" and length is not None:
            return length
    return None


def takes_apart(code: CodeType) -> bool:
    """Say whether a function, or one inside it, takes an index or unpacks anything."""
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    steps = {step.opname for step in dis.get_instructions(code)}
    return not steps.isdisjoint(APART) or any(map(takes_apart, inner))


def called_as(original: Callable[..., Any] | None, stand_in: Callable[..., Any]) -> Any:
    """Return a function that is called as the original is, and answers as the stand-in does.

    The names, defaults and further parameters of the original count, so that a call is right or
    wrong whenever it would be without the stand-in; those that the assignment published count too.
    Where the original returns further values in a tuple, there are as many, all None, unless
    PUBLISHED says otherwise.

    Args:
        original: the student's method; None: there is none.
        stand_in: its parameters are those that the assignment published, in order.
    """
    own, published = signature_of(original), inspect.signature(stand_in)
    name = getattr(original, "__qualname__", "the function")
    number = returned_by(getattr(original, "__code__", None))

    def called(*args: Any, **kwargs: Any) -> Any:
        found = values_of(own, args, kwargs) or values_of(published, args, kwargs)
        if found is None:
            if original is not None:
                original(*args, **kwargs)  # raises what Python says of such a call
            raise StudentError(f"{name}() is not called with {', '.join(published.parameters)}")
        values, by_name = found[0][: len(published.parameters)], found[1]
        by_name = {key: value for key, value in by_name.items() if key in published.parameters}
        try:
            published.bind(*values, **by_name)
        except TypeError as error:
            raise StudentError(f"{name}() cannot be given everything: {error}") from None
        made = stand_in(*values, **by_name)
        if number is None or PUBLISHED.get():
            return made
        FURTHER.set(True)
        return (made, *[None] * (number - 1))

    return called


def put_in_place(part: Any, method: str, stand_in: Callable[..., Any]) -> None:
    """Replace a method of one object.

    Args:
        stand_in: takes the object, then the method's arguments.
    """
    original = getattr(part, method, None)
    setattr(part, method, called_as(original, functools.partial(stand_in, part)))


def beside(home: ModuleType) -> Iterator[ModuleType]:
    """Yield a module of the submission, and those that lie beside it and are imported."""
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
    played = called_as(original, stand_in)
    holders = [(home, name)]
    for module in beside(home) if original is not None else ():
        holders += [(module, each) for each, one in vars(module).items() if one is original]
    for module, each in holders:
        setattr(module, each, played)
    try:
        yield
    finally:
        for module, each in holders:
            if original is not None:
                setattr(module, each, original)
            elif each in vars(module):
                delattr(module, each)


@contextlib.contextmanager
def functions_replaced(
    stand_ins: Mapping[str, str], module: Callable[[str], ModuleType], harness: Any
) -> Iterator[None]:
    """Replace the functions among what a call has stand-ins for, while it runs.

    Args:
        stand_ins: paths to names of stand-ins of the harness.
        module: returns a module of the submission by its name.
    """
    with contextlib.ExitStack() as replaced:
        for path, kind in stand_ins.items():
            home, separator, name = path.partition(FUNCTION)
            if separator:
                stand_in = harness.STAND_INS[kind]
                replaced.enter_context(function_replaced(module(home), name, stand_in))
        yield
