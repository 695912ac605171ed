"""Make forbidden library code raise when a submission calls it. Runs in the worker.

Importing or mentioning forbidden code costs nothing. There are three ways to stop a call:

- What can be changed in place is: a Python function gets new code, and so does every function of a
  class; an operator of torch is replaced in torch's dispatcher, through which all its calls go. So
  every alias, subclass, copy and earlier reference raises too, and so does library code that uses
  it, even if its file is reloaded or its source is executed.
- Another compiled function or class, such as numpy.dot or itertools.permutations, cannot be changed
  in place. So, wherever a module has one, a gate is put there before a submission is imported.
  While it is closed, it raises if the submission calls it, or library code to which the submission
  passed it; what library code calls for its own ends goes through.
- Calls to anything in a forbidden package are stopped by a watch of what the submission's code
  enters: functions in other files and compiled functions, called by its code or by the harness, and
  library code that runs in place of its own, as an alias or an inherited method. A submission
  cannot stop Python's profiler, which shows them. What it enters is also reported, for staff.

Not covered: a copy of that source in the submission, or modified source that it executes; a method
of an extension module's class that was saved before a call forbids it; code that searches for the
objects that undo temporary bans; a compiled function in a new copy of its module, or what has been
taken from an object of a compiled class. The watch does not show what library code calls in its
turn; compiled functions that compiled code calls, as in `map(numpy.array, x)`; operators such as
`@`; compiled objects that the profiler does not show, if they are not behind a gate; other threads;
library code that a submission has given the name of a file of its own; and, unless a package is
forbidden, what comes late in a long call. No process can be defended against the code that runs in
it.
"""

import contextlib
import ctypes
import functools
import importlib
import inspect
import os
import re
import sys
import types
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import BuiltinFunctionType, FrameType, ModuleType
from typing import Any

import torch

# --- what a submission enters -----------------------------------------------------------------


WORKER = os.path.dirname(__file__) + os.sep
MAX_NAMES = 32  # of one call that are reported
MAX_OF_ROOT = 8  # of one package, so that many of one cannot hide another
MAX_NAME = 80  # characters
MAX_CALLS = 1_000  # within one call that are watched: some draw thousands of random numbers
MAX_SEEN = 1000  # names of one call that are kept
# modules through which methods of many classes are called, and the method that runs
DISPATCHERS = {"torch.nn.modules.module": "forward", "torch.optim.optimizer": "step"}
# what solves no exercise by itself: operations on tensors, layers, Python's own tools
PLAIN = tuple(
    "torch.nn. torch.functional. torch.random. torch.Size. torch._tensor. torch._jit_internal. "
    "torch.autograd.function. torch.autograd.grad_mode. torch.overrides. torch.utils._contextlib. "
    "torch.Tensor. torch._C.TensorBase. torch._C._nn. torch._C.Generator. numpy.ndarray. "
    "numpy._core. numpy.lib. typing.cast typing.Generic typing._ importlib._bootstrap".split()
)
ORDINARY = frozenset(
    "abc bisect cmath collections contextlib copy dataclasses decimal enum fractions functools "
    "heapq itertools math numbers operator random re statistics string textwrap time unicodedata "
    "warnings".split()
)
RUN_TEXT = ("exec", "eval", "compile", "open", "__import__")  # not plain, though built in


class NotAllowedError(Exception):
    """Forbidden library code was called.

    Attributes:
        name: the name of the called code in messages.
    """

    name = ""

    def __init__(self, name: str = "") -> None:
        self.name = name or self.name
        super().__init__(
            f"{self.name} is not allowed in this assignment: it is what you are asked to write"
        )


@functools.cache
def _is_plain(name: str) -> bool:
    root, _, rest = name.partition(".")
    if root == "builtins":
        return rest not in RUN_TEXT
    if root in ("torch", "numpy") and "." not in rest:
        return not rest.startswith("_")
    return root.lstrip("_") in ORDINARY or name.startswith(PLAIN)


@functools.cache
def _name_of_method(cls: type, name: str) -> str:
    """Return the full name of a compiled method, with the class that has it."""
    home = next((each for each in cls.__mro__ if name in vars(each)), cls)
    return f"{home.__module__}.{home.__qualname__}.{name}"


def _name_of_compiled(function: Any) -> str:
    """Return the full name of a compiled function or method."""
    owner = function.__self__
    kind = type(owner)
    if owner is None or kind is ModuleType:
        return f"{function.__module__}.{function.__name__}"
    cls: type = owner if issubclass(kind, type) else kind
    return _name_of_method(cls, function.__name__)


def _dispatched(frame: FrameType, method: str) -> tuple[str, str]:
    """Return the module and name of the method that a dispatcher runs."""
    values = frame.f_locals
    owner = values["self"] if "self" in values else values["args"][0]
    function = inspect.unwrap(getattr(type(owner), method))
    return function.__module__, function.__qualname__


def _name_of(frame: FrameType) -> str:
    """Return the full name of the function that a frame runs, as far as it can be known."""
    module = str(frame.f_globals.get("__name__"))
    name = frame.f_code.co_qualname
    with contextlib.suppress(Exception):  # an owner may be the student's, and raise
        if module in DISPATCHERS:
            module, name = _dispatched(frame, DISPATCHERS[module])
            if module in WATCH.modules:
                return ""  # the submission's own method
        elif module == "torch._ops":
            name = str(frame.f_locals["self"])
            module = "torch.ops"
    name = name.partition(".<locals>")[0].removesuffix(".__init__").removesuffix(".__call__")
    return f"{module}.{name}"


class Package:
    """A forbidden package or module: what is entered from the submission's code is refused."""

    def __init__(self, module: ModuleType, name: str) -> None:
        self.prefix = f"{module.__name__}."
        self.name = name
        file = getattr(module, "__file__", None) or ""
        self.files = os.path.dirname(file) + os.sep if hasattr(module, "__path__") else file
        # some say that they are from elsewhere, as torch.linalg.svd from torch._C._linalg
        root = module.__name__.partition(".")[0]
        self.compiled = {
            id(value)
            for part in modules_of(module)
            for value in vars(part).values()
            if type(value) is BuiltinFunctionType and str(value.__module__).startswith(root)
        }

    def has(self, name: str, file: str, function: Any) -> bool:
        """Say whether a called function is the package's."""
        borrowed = bool(self.files) and file.startswith(self.files)
        return name.startswith(self.prefix) or borrowed or id(function) in self.compiled


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    """Yield a module, and those inside of it that have been imported."""
    for name, module in [*sys.modules.items()]:
        if f"{name}.".startswith(f"{package.__name__}.") and isinstance(module, ModuleType):
            yield module


class Watch:
    """What the submission's code enters.

    Attributes:
        modules: the names of the submission's modules and the given ones.
        given: the names of the given files.
        harness: the path of the harness.
        packages: those that are forbidden now.
        wanted: whether it is reported what a call enters.
        names: what the call has entered, in order.
        refusal: the first refusal of the call, which the submission may have caught.
        calls: how many functions have been called in the call.
        paused: whether that was too many to go on.
        running: how many watched functions are running.
    """

    def __init__(self) -> None:
        self.packages: list[Package] = []
        self.running = 0
        self.begin(wanted=False)
        self.load((), (), "")

    def load(self, modules: Collection[str], given: Collection[str], harness: str) -> None:
        """Prepare for a submission; see the attributes."""
        self.modules = modules
        self.given = given
        self.harness = harness
        self.origins: dict[str, str] = {}

    def origin(self, file: str) -> str:
        """Say whose code with this file name is: own, given, library, grader, or made later."""
        if file not in self.origins:
            self.origins[file] = self._origin(file)
        return self.origins[file]

    def _origin(self, file: str) -> str:
        if file == self.harness or file.startswith(WORKER):
            return "grader"
        if os.path.isabs(file) or file.startswith("<frozen "):
            return "library"
        if file in self.given:
            return "given"
        return "own" if file.removesuffix(".py") in self.modules else "made"

    def counts(self, frame: FrameType) -> bool:
        """Say whether what a frame calls is called by the submission, or in its place."""
        code = frame.f_code
        origin = self.origins.get(code.co_filename) or self.origin(code.co_filename)
        if origin == "library":  # the usual case
            return False
        if origin == "made":  # perhaps by a library, such as the constructor of a dataclass
            return self._home(frame) in (None, *self.modules)
        return origin == "own" or code is WRAPPER or code.co_filename == self.harness

    def _home(self, frame: FrameType) -> str | None:
        """Return the module whose names a frame uses, or None if they are another dictionary."""
        name = frame.f_globals.get("__name__")
        module = sys.modules.get(name) if isinstance(name, str) else None
        return name if module is not None and vars(module) is frame.f_globals else None

    def begin(self, wanted: bool) -> None:
        """Forget an earlier call."""
        self.wanted = wanted
        self.names: dict[str, None] = {}
        self.refusal: NotAllowedError | None = None
        self.calls = 0
        self.paused = False

    @property
    def guarded(self) -> bool:
        """Whether nobody else may set a profiler."""
        return self.running > 0 and not self.paused and self.refusal is None

    def start(self) -> None:
        """Begin to watch."""
        if self.running == 0 and not self.paused:
            sys.setprofile(self.note)
        self.running += 1

    def stop(self) -> None:
        """Stop watching.

        Raises:
            NotAllowedError: something was refused; the submission may have caught that.
        """
        self.running -= 1
        if self.running == 0:
            sys.setprofile(None)
        if self.refusal is not None:
            raise self.refusal

    def note(self, frame: FrameType, event: str, argument: Any) -> None:
        """Take note of a call (a profile function)."""
        if event == "c_call":
            caller: FrameType | None = frame
        elif event == "call":
            caller = frame.f_back
        else:
            return
        self.calls += 1
        if self.calls > MAX_CALLS and not self.packages:
            self.paused = True
            sys.setprofile(None)
        if caller is None or not self.counts(caller):
            return
        if caller is frame:
            self.enter(_name_of_compiled(argument), frame, "", argument)
        else:
            file = frame.f_code.co_filename
            origin = self.origin(file)
            made_by_own = origin == "made" and self._home(frame) in self.modules
            if origin not in ("own", "grader") and not made_by_own:
                self.enter(_name_of(frame), caller, file, None)

    def enter(self, name: str, caller: FrameType, file: str, function: Any) -> None:
        """Take note of a called function.

        Args:
            name: its full name; empty for the submission's own method, called by a library.
            file: that has its code; empty for a compiled function.

        Raises:
            NotAllowedError: it is forbidden.
        """
        if not name:
            return
        for package in self.packages:
            if package.has(name, file, function):
                self.refusal = NotAllowedError(package.name)
                raise self.refusal
        if _is_plain(name) or not self.wanted or file in self.given:
            return
        if caller.f_code.co_filename != self.harness and len(self.names) < MAX_SEEN:
            self.names[re.sub(r"[^\w.]", "?", name)[:MAX_NAME]] = None

    def reported(self) -> list[str]:
        """Return what the call has entered, a few names of each package."""
        groups: dict[str, list[str]] = {}
        for name in self.names:
            groups.setdefault(name.partition(".")[0], []).append(name)
        few = [name for names in groups.values() for name in names[:MAX_OF_ROOT]]
        return few[:MAX_NAMES]


WATCH = Watch()


def watched(function: Callable[..., Any], building: bool = False) -> Callable[..., Any]:
    """Return a function of the submission that is watched when it is called.

    Args:
        building: it only makes an object, which is not worth reporting.
    """

    def called(*arguments: Any, **options: Any) -> Any:
        if not WATCH.packages and (building or not WATCH.wanted):
            return function(*arguments, **options)
        WATCH.start()
        try:
            return function(*arguments, **options)
        finally:
            WATCH.stop()

    return called


WRAPPER = watched(len).__code__


# --- gates ------------------------------------------------------------------------------------


GATES: dict[int, tuple[Any, Any]] = {}  # the id of a gate, to itself and what is behind it
CLOSED: dict[int, str] = {}  # the ids of objects that are forbidden now, to their names in messages


def home_of(target: Any) -> str:
    """Return the name of the module that a function or class is from, as far as it says so."""
    places = (target, getattr(target, "__objclass__", None), type(target))
    homes = (getattr(place, "__module__", None) for place in places)
    return next(home for home in homes if isinstance(home, str))


def behind(value: Any) -> Any:
    """Return what is behind a gate, or the value itself."""
    return GATES[id(value)][1] if id(value) in GATES else value


def close_gate(target: Any, name: str, undo: contextlib.ExitStack) -> None:
    """Close an object's gate, unless it is closed already."""
    if id(target) not in CLOSED:
        CLOSED[id(target)] = name
        undo.callback(CLOSED.pop, id(target))


def _is_for_submission(known_as: Iterable[str]) -> bool:
    """Say whether a gate was called by the submission, perhaps through library code.

    Library code that has one of the object's names calls it for its own ends.
    """
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if WATCH.counts(frame):
            return True
        used = (*code.co_names, *code.co_varnames, *code.co_freevars)
        if any(name in each for name in known_as for each in used):
            return False
        frame = frame.f_back
    return False


def _gate(target: Any, known_as: Iterable[str]) -> Any:
    """Return an object that is like a compiled function or class, but can be forbidden."""

    def check() -> None:
        if id(target) in CLOSED and _is_for_submission(known_as):
            raise NotAllowedError(CLOSED[id(target)])

    class Gate:
        __slots__ = ()
        __doc__ = target.__doc__
        __module__ = home_of(target)

        def __call__(self, *arguments: Any, **options: Any) -> Any:
            check()
            return target(*arguments, **options)

        def __getattr__(self, name: str) -> Any:
            return getattr(target, name)

        def __getitem__(self, item: Any) -> Any:
            return target[item]

        def __instancecheck__(self, value: Any) -> bool:
            return isinstance(value, target)

        def __subclasscheck__(self, cls: type) -> bool:
            return issubclass(cls, target)

        def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
            def new(cls: type, *arguments: Any, **options: Any) -> Any:
                check()
                return target.__new__(cls, *arguments, **options)

            return (type(target.__name__, (target,), {"__new__": new}),)

        def __repr__(self) -> str:
            return repr(target)

    return Gate()


def install_gates(targets: Iterable[Any]) -> None:
    """Put gates in place of compiled objects, wherever a module has them."""
    found: dict[int, list[tuple[dict[str, Any], str]]] = {id(target): [] for target in targets}
    for module in [*sys.modules.values()]:
        names = vars(module) if isinstance(module, types.ModuleType) else {}
        for name, value in names.items():
            if id(value) in found:
                found[id(value)].append((names, name))
    for places in filter(None, found.values()):
        names, name = places[0]
        target = names[name]
        gate = _gate(target, {name.strip("_") for _, name in places})
        GATES[id(gate)] = gate, target
        for names, name in places:
            names[name] = gate


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
PROFILER = "sys.setprofile"
EVENTS = frozenset((PROFILER, "exec", "function.__new__", "object.__setattr__"))


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
    if event not in EVENTS:  # nearly all, as reading a frame's code is an event
        return
    if event == PROFILER and WATCH.guarded:
        if _depth() > sys.getrecursionlimit() - ROOM:
            raise RecursionError("maximum recursion depth exceeded")
        raise RuntimeError("no profiler can be used while an exercise is graded")
    if event == PROFILER or not REPLACED:
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
    return behind(target)


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
    return operator if exists and home_of(target).startswith("torch") else None


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
        return "there is no such name in the packages that submissions can import"
    if isinstance(target, types.ModuleType):
        return None
    if not callable(target) and not isinstance(target, property):
        return f"it is of type {type(target).__name__}, not a function, class or module"
    if isinstance(target, type) and target.__module__ == "builtins":
        return "this type is used everywhere"
    if _needs_gate(target):
        owner = find(path.rpartition(".")[0])
        if not isinstance(owner, types.ModuleType):
            return "it is a method of a compiled class; name the class"
    return None


@functools.cache
def unenforceable(rules: tuple[tuple[str, str], ...]) -> str | None:
    """Say which of an assignment's names cannot be forbidden, and why; None: all can be.

    Args:
        rules: full names, with where they are listed.
    """
    for path, where in rules:
        fault = _fault(path)
        if fault is not None:
            return f"{where}: {path} cannot be forbidden: {fault}"
    return None


def _unseen(package: types.ModuleType) -> list[Any]:
    """Return a package's compiled objects whose calls the profiler does not show."""
    prefix = f"{package.__name__}."
    root = package.__name__.partition(".")[0]
    members = [value for module in modules_of(package) for value in vars(module).values()]
    unseen = [value for value in members if not isinstance(value, types.BuiltinFunctionType)]
    return [
        value
        for value in map(behind, unseen)
        if _needs_gate(value)
        and f"{home_of(value)}.".lstrip("_").startswith(prefix)
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
        install_gates(targets)


@functools.cache
def _package(module: types.ModuleType, name: str) -> tuple[Package, list[Any]]:
    return Package(module, name), _unseen(module)


def _forbid_package(module: types.ModuleType, name: str, undo: contextlib.ExitStack) -> None:
    """Have calls from the submission to anything in a package raise."""
    package, unseen = _package(module, name)
    WATCH.packages.append(package)
    undo.callback(WATCH.packages.remove, package)
    for target in unseen:
        close_gate(target, name, undo)


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
            close_gate(target, name, undo)
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
