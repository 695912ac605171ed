"""Stand-ins for a student's methods and functions, called exactly as those are.

Runs in the worker. A stand-in replaces one method of one object: the object, its class and its
other methods stay the student's, so that code that reaches past the method (for example, to a
part's modules) works as before. Or it replaces a function, under every name that the submission's
modules have for it. Not covered: a function held elsewhere, such as in a default value or a list.

If the original wraps its tensor, for example in a tuple, the caller may rely on that, or it may be
a mistake that is not the caller's, such as a comma at the end of `return`. So a stand-in returns
the same form as the original, and if that raises, the call is repeated with the correct form.
"""

import ast
import contextlib
import copy
import dis
import enum
import functools
import inspect
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from types import CodeType, MethodType, ModuleType
from typing import Any, TypeVar

from tensormark.worker import state
from tensormark.worker.exceptions import parsed
from tensormark.worker.optional_torch import Tensor, nn, no_grad, untaped
from tensormark.worker.outputs import StudentError, description

# --- whether a caller unpacks results ---------------------------------------------------------


SIZES = frozenset(("size", "stride"))  # methods of a tensor that usually return a tuple


def _definition(tree: ast.AST, path: str) -> ast.AST | None:
    """Return the function or method at this path in a module, such as "Model.encode"."""
    node: ast.AST | None = tree
    for name in path.split("."):
        body = getattr(node, "body", [])
        matches = [statement for statement in body if getattr(statement, "name", None) == name]
        node = matches[-1] if matches else None
    return node


def _assignments(function: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each assignment's target and value."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets)
        elif isinstance(node, ast.NamedExpr | ast.AnnAssign) and node.value is not None:
            yield node.target, node.value


def _is_result(value: ast.expr) -> bool:
    """Return whether a value is the result of a call other than a tensor's size."""
    if not isinstance(value, ast.Call):
        return False
    return not (isinstance(value.func, ast.Attribute) and value.func.attr in SIZES)


def _is_key(index: ast.expr) -> bool:
    """Return whether an index is a literal number or key, not a slice."""
    index = index.operand if isinstance(index, ast.UnaryOp) else index
    return isinstance(index, ast.Constant) and type(index.value) in (int, str)


def _unpacks(function: ast.AST) -> bool:
    pairs = list(_assignments(function))
    results = {t.id for t, value in pairs if isinstance(t, ast.Name) and _is_result(value)}

    def is_result(value: ast.expr) -> bool:
        value = value.value if isinstance(value, ast.NamedExpr) else value
        return _is_result(value) or (isinstance(value, ast.Name) and value.id in results)

    def takes_part(node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):  # of a tuple with names
            return is_result(node.value) and not hasattr(Tensor, node.attr)
        return isinstance(node, ast.Subscript) and is_result(node.value) and _is_key(node.slice)

    unpacked = (value for target, value in pairs if isinstance(target, ast.Tuple | ast.List))
    return any(map(is_result, unpacked)) or any(map(takes_part, ast.walk(function)))


@functools.lru_cache(maxsize=64)
def _read(source: str, path: str) -> bool | None:
    """Read a module's source, which stays the same from call to call; see `takes_apart`."""
    definition = _definition(parsed(source), path)
    return None if definition is None else _unpacks(definition)


def takes_apart(module: ModuleType, path: str) -> bool | None:
    """Return whether a function unpacks the result of a call, or takes an item of it.

    For a method, its whole class is read, as another method may do that for it.

    Args:
        path: the function's path in the module, such as "Model.encode".

    Returns: None if the function's source is not available.
    """
    try:
        spec: Any = module.__spec__
        source = spec.loader.get_source(spec.name)  # linecache may have an earlier version
        return _read(source, path.rpartition(".")[0] or path)
    except Exception:  # a module's attributes may be the student's
        return None


# --- stand-ins --------------------------------------------------------------------------------


FUNCTION = ":"  # marks the path of a stand-in for a function: "module:function"


class Form(enum.Enum):
    """The form of what stand-ins return."""

    READ = "a tuple, if the original's code says that it returns one"
    OBSERVED = "the same, or what the original returns when it is called"
    PUBLISHED = "what should be returned"


MATCHED: set[str] = set()  # the paths of stand-ins at which the present call has replaced something
FORM = ContextVar("the form in which stand-ins answer", default=Form.READ)
COMPARED = ContextVar("whether originals are right, and stand-ins are like them", default=False)
ANSWERED = ContextVar("whether a stand-in has answered", default=False)
Made = TypeVar("Made")


def call_with_forms(call: Callable[[], Made], unpacks: bool = False, observe: bool = True) -> Made:
    """Make a call; if it raises, repeat it with stand-ins that return another form.

    Args:
        unpacks: the caller unpacks results, so it is worthwhile to call the originals.
        observe: the originals may be called: none is known to hang or to end the process.

    Raises:
        Exception: the call raises this even if stand-ins return the correct form.
    """
    forms = [Form.OBSERVED if unpacks else Form.READ, Form.PUBLISHED]
    if observe and not unpacks:
        forms.append(Form.OBSERVED)
    ANSWERED.set(False)
    raised: dict[Form, Exception] = {}
    for form in forms:
        before = FORM.set(form)
        try:
            return call()
        except Exception as error:
            if not ANSWERED.get():
                raise
            raised[form] = error
        finally:
            FORM.reset(before)
    raise raised[Form.PUBLISHED]


def _signature(called: Callable[..., Any] | None) -> inspect.Signature | None:
    """Return the signature of a function or a bound method, or None if it cannot be determined."""
    with contextlib.suppress(TypeError, ValueError):
        return inspect.signature(called)  # type: ignore[arg-type]  # None is no error here
    return None


def _bound_arguments(
    signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> inspect.BoundArguments | None:
    """Return arguments in a signature's order, with defaults, or None if they do not fit it."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    return bound


def accepts(function: Callable[..., Any], count: int, names: Sequence[str]) -> bool:
    """Return whether a function accepts this many positional arguments, and others by name."""
    signature = _signature(function)
    if signature is None:
        return True
    return _bound_arguments(signature, [None] * count, dict.fromkeys(names)) is not None


def _published_part(
    own: inspect.Signature, published: inspect.Signature, args: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return as many positional arguments as were published.

    Where an optional one was published, the original may have a parameter of its own instead, with
    another name. Its default says nothing about the published one.
    """
    parameters = list(own.parameters.values())
    places = zip(args, published.parameters.values(), strict=False)
    for place, (value, parameter) in enumerate(places):
        optional = parameter.default is not inspect.Parameter.empty
        other = place < len(parameters) and parameters[place].name != parameter.name
        if optional and other and value is parameters[place].default:
            return args[:place]
    return args[: len(published.parameters)]


@functools.cache
def _tuple_length(code: CodeType | None) -> int | None:
    """Return the length of the tuple that a function returns, or None if it returns something else.

    The code is inspected, not run, as it may be wrong.
    """
    instructions = list(dis.get_instructions(code)) if code is not None else []
    lengths: dict[Any, int | None] = {}  # variable to the length of its tuple
    for instruction, following in itertools.pairwise(instructions):
        length = instruction.arg if instruction.opname == "BUILD_TUPLE" else None
        if instruction.opname.startswith("LOAD_FAST"):  # or ..._BORROW, of Python 3.14
            length = lengths.get(instruction.argval)
        if following.opname == "STORE_FAST":
            lengths[following.argval] = length
        elif following.opname == "RETURN_VALUE" and length is not None:
            return length
    return None


def _copied(value: Any) -> Any:
    """Return a copy of an argument, so that a call cannot change the original."""
    return value.detach().clone() if isinstance(value, Tensor) else copy.deepcopy(value)


def _observed(original: Callable[..., Any] | None, args: Any, kwargs: Any) -> Any:
    """Return what a function returns, or None if it raises.

    It is called with copies, a method on a copy of its object; settings and random generators are
    restored.
    """
    if original is None:
        return None
    # it may be wrong in any way
    with untaped(), state.undone(), no_grad(), contextlib.suppress(BaseException):
        args = [_copied(arg) for arg in args]
        kwargs = {k: _copied(v) for k, v in kwargs.items()}
        return copy.deepcopy(original)(*args, **kwargs)
    return None


def _same_shape(value: Any, result: Any) -> bool:
    return isinstance(value, Tensor) and value.shape == getattr(result, "shape", None)


def _alike(value: Any) -> str:
    """Return what a stand-in must share with the original."""
    tensor = isinstance(value, Tensor)
    return f"{value.dtype} with {value.dim()} axes" if tensor else description(value)


def _substituted(original: Any, result: Any) -> Any:
    """Return a tuple, list or dictionary with a result put into it, or else the result itself.

    The result replaces the first tensor of its shape, or else the first value.
    """
    if not isinstance(original, tuple | list | dict) or not original:
        return result
    keys = list(original) if isinstance(original, dict) else list(range(len(original)))
    key = next((key for key in keys if _same_shape(original[key], result)), keys[0])
    if isinstance(original, tuple):
        values = [*original[:key], result, *original[key + 1 :]]
        return original._make(values) if hasattr(original, "_make") else tuple(values)
    changed = copy.copy(original)  # perhaps of a student's class
    changed[key] = result
    return changed


def with_signature_of(original: Callable[..., Any] | None, stand_in: Callable[..., Any]) -> Any:
    """Return a function with the original's parameters and the stand-in's result.

    It accepts the names, defaults and further parameters of the original, so that a call is right
    or wrong exactly when it would be without the stand-in; it also accepts the published ones. The
    result has the form that FORM says; if the original was not called, or raised, further values in
    a tuple are None.

    Args:
        original: the student's method, if there is one.
        stand_in: its parameters are those that the assignment published, in order.
    """
    published = _signature(stand_in)
    assert published is not None
    own = _signature(original) or published
    name = getattr(original, "__qualname__", "the function")
    length = _tuple_length(getattr(original, "__code__", None))

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        bound = _bound_arguments(own, args, kwargs) or _bound_arguments(published, args, kwargs)
        if bound is None:
            if original is not None:
                original(*args, **kwargs)  # raises Python's own TypeError
            raise StudentError(f"{name}() is not called with {', '.join(published.parameters)}")
        positional = _published_part(own, published, bound.args)
        keywords = {k: value for k, value in bound.kwargs.items() if k in published.parameters}
        try:
            published.bind(*positional, **keywords)
        except TypeError as error:
            raise StudentError(f"{name}() cannot be given everything: {error}") from None
        result = stand_in(*positional, **keywords)
        right = _observed(original, args, kwargs) if COMPARED.get() else None
        if isinstance(right, Tensor) and _alike(result) != _alike(right):
            raise StudentError(f"it returns {_alike(result)}; expected {_alike(right)}")
        form = FORM.get()
        ANSWERED.set(True)
        if form is Form.PUBLISHED:
            return result
        returned = _observed(original, args, kwargs) if form is Form.OBSERVED else None
        if returned is None and length is not None:
            returned = (None,) * length
        return _substituted(returned, result)

    return wrapper


def replace_method(part: Any, method: str, stand_in: Callable[..., Any]) -> bool:
    """Replace a method of one object.

    A module in the method's place stays and gets a new `forward`. If the attribute cannot be set,
    as with a property, the object gets its own class.

    Args:
        stand_in: takes the object, then the method's arguments.

    Returns: whether the object had the method.
    """
    original = None
    with contextlib.suppress(Exception):  # a property may raise anything
        original = getattr(part, method)
    bound = MethodType(stand_in, part)
    if isinstance(original, nn.Module):
        part = original
        method = "forward"
        original = original.forward
    replacement = with_signature_of(original, bound)
    with contextlib.suppress(Exception):
        setattr(part, method, replacement)
        if getattr(part, method) is replacement:
            return original is not None
    own = type(type(part).__name__, (type(part),), {method: staticmethod(replacement)})
    object.__setattr__(part, "__class__", own)
    return original is not None


@contextlib.contextmanager
def function_replaced(home: ModuleType, name: str, stand_in: Callable[..., Any]) -> Iterator[None]:
    """Replace a function during a call, in every imported module from its folder that has it.

    Args:
        home: the module that defines it.
        stand_in: takes the function's arguments.
    """
    original = vars(home).get(name)
    replacement = with_signature_of(original, stand_in)
    holders = [(home, name)]
    folder = os.path.dirname(home.__file__ or "")
    for module in list(sys.modules.values()) if original is not None else ():
        file = getattr(module, "__file__", None)
        if module is home or (isinstance(file, str) and os.path.dirname(file) == folder):
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
    """Replace the functions that a call has stand-ins for while it runs.

    Args:
        stand_ins: path to the name of the harness's stand-in; paths of methods are skipped.
        module: returns a module of the submission by name.
    """
    with contextlib.ExitStack() as stack:
        for path, kind in stand_ins.items():
            home, separator, name = path.partition(FUNCTION)
            if separator:
                stand_in = harness.STAND_INS[kind]
                if name in vars(module(home)):
                    MATCHED.add(path)
                stack.enter_context(function_replaced(module(home), name, stand_in))
        yield
