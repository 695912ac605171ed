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

Not covered: a copy of that source in the submission, or source that it executes with changes beyond
other names; code that is run through ctypes; a method
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
import traceback
import types
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

from tensormark.worker.optional_torch import torch

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
    """A module or package whose code calls from the submission's code can be kept out of."""

    def __init__(self, module: ModuleType) -> None:
        self.prefix = f"{module.__name__}."
        file = getattr(module, "__file__", None) or ""
        self.files = os.path.dirname(file) + os.sep if hasattr(module, "__path__") else file
        # some say that they are from elsewhere, as torch.linalg.svd from torch._C._linalg
        root = self.prefix.partition(".")[0]
        self.compiled = {
            id(value)
            for value in members_of(module)
            if type(value) is BuiltinFunctionType and str(value.__module__).startswith(root)
        }

    def has(self, name: str, file: str, function: Any) -> bool:
        """Say whether a called function is the package's."""
        borrowed = bool(self.files) and file.startswith(self.files)
        return name.startswith(self.prefix) or borrowed or id(function) in self.compiled


def members_of(package: ModuleType) -> Iterator[Any]:
    """Yield what is in a module, and in those inside of it that have been imported."""
    for name, module in [*sys.modules.items()]:
        if f"{name}.".startswith(f"{package.__name__}.") and isinstance(module, ModuleType):
            yield from vars(module).values()


class Watch:
    """What the submission's code enters.

    Attributes:
        modules: the names of the submission's modules and the given ones.
        given: the names of the given files.
        harness: the path of the harness.
        packages: those that are forbidden now, with their names in messages.
        wanted: whether it is reported what a call enters.
        names: what the call has entered, in order.
        refusal: the first refusal of the call, which the submission may have caught.
        calls: how many functions have been called in the call.
        paused: whether that was too many to go on.
        running: how many watched functions are running.
    """

    def __init__(self) -> None:
        self.packages: dict[Package, str] = {}
        self.running = 0
        self.begin(wanted=False)
        self.load((), (), "")

    def load(self, modules: Collection[str], given: Collection[str], harness: str) -> None:
        """Prepare for a submission; see the attributes."""
        self.modules = modules
        self.given = given
        self.harness = harness
        self.origin = functools.cache(self._origin)

    def _origin(self, file: str) -> str:
        """Say whose code with this file name is: own, given, library, grader, or made later."""
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
        origin = self.origin(code.co_filename)
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
        for package, called in self.packages.items():
            if package.has(name, file, function):
                self.refusal = NotAllowedError(called)
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


def _is_for_submission(known_as: Iterable[str]) -> bool:
    """Say whether a gate was called by the submission, perhaps through library code.

    Library code that has one of the object's names calls it for its own ends.
    """
    frame: FrameType | None = sys._getframe(2)
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
        names = vars(module) if isinstance(module, ModuleType) else {}
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


# --- reloaded code ----------------------------------------------------------------------------

REPLACED: dict[frozenset[Any], str] = {}  # marks of code that was replaced, to names in messages
MIN_MARKS = 12  # with fewer, functions may share them by chance
SAME = 0.9  # share of marks that code has in common with what it was made from
SUBMISSION_CODE: list[CodeType] = []  # the submission's modules, which may define anything
ROOM = 100  # calls below the recursion limit at which a profiler may have failed
PROFILER = "sys.setprofile"
EVENTS = frozenset((PROFILER, "exec", "function.__new__", "object.__setattr__"))


def _nested(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those of the functions and classes that it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _marks(code: CodeType) -> frozenset[Any]:
    """Return what stays the same of a code object, whatever its name and those of its variables.

    That is what it uses by name, and its constants; some are missing if assertions are left out.
    """
    constants = (value for value in code.co_consts if isinstance(value, str | int | float))
    return frozenset((*code.co_names, *constants))


def _replaced(code: CodeType) -> str | None:
    """Return the name of the replaced function that a code object is from, or None."""
    marks = _marks(code)
    if len(marks) >= SAME * MIN_MARKS:
        for known, name in REPLACED.items():
            if len(marks & known) >= SAME * max(len(marks), len(known)):
                return name
    return None


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
        depth = sum(1 for _ in traceback.walk_stack(sys._getframe()))
        if depth > sys.getrecursionlimit() - ROOM:
            raise RecursionError("maximum recursion depth exceeded")
        raise RuntimeError("no profiler can be used while an exercise is graded")
    if event == PROFILER or not REPLACED:
        return
    code = arguments[-1]  # the value that an attribute is set to, or the only argument
    if isinstance(code, CodeType) and not any(code is own for own in SUBMISSION_CODE):
        for part in _nested(code):
            if (name := _replaced(part)) is not None:
                raise NotAllowedError(name)


@functools.cache
def _install_hook() -> None:
    """Make Python call `_refuse` from now on; an audit hook cannot be removed."""
    sys.addaudithook(_refuse)


# --- what a name means ------------------------------------------------------------------------


# where torch's compiled functions run here
BACKENDS = ("CPU", "MkldnnCPU", "NestedTensorCPU", "QuantizedCPU", "SparseCPU", "SparseCsrCPU")
COMPILED = (BuiltinFunctionType, types.MethodDescriptorType, types.ClassMethodDescriptorType)
IMMUTABLE = 1 << 8  # the flag of a class whose attributes cannot be set
MISSING = object()


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
    return behind(target)


def _overloads(operator: str) -> list[str]:
    """Return the full names of the overloads of an operator of torch, such as aten::relu.

    Those that only TorchScript has, as for numbers, are left out.
    """
    schemas = torch._C._jit_get_schemas_for_operator(operator)
    names = [f"{operator}.{schema.overload_name}".rstrip(".") for schema in schemas]
    return [*filter(torch._C._dispatch_has_kernel, names)]


def _operator(target: Any) -> str | None:
    """Return the name of the operator that a function of torch is, such as aten::relu, or None."""
    if torch is None:
        return None
    if isinstance(target, torch._ops.OpOverload):
        return target._schema.name
    if isinstance(target, torch._ops.OpOverloadPacket):
        return target._qualified_op_name
    if not isinstance(target, COMPILED):
        return None
    operator = f"aten::{target.__name__}"
    return operator if home_of(target).startswith("torch") and _overloads(operator) else None


def _kernels(operator: str) -> list[tuple[str, str]]:
    """Return the overloads of an operator, each with the backends that have its kernel.

    One without a kernel for ordinary tensors calls other operators, and gets every backend.
    """
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return [
        (name, backend)
        for name in _overloads(operator)
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


def _needs_gate(target: Any) -> bool:
    """Say whether an object can be called, but not changed in place."""
    if isinstance(target, type):
        return bool(target.__flags__ & IMMUTABLE) and target.__module__ != "builtins"
    changed = (FunctionType, types.MethodType, ModuleType)
    return callable(target) and not isinstance(target, changed) and _operator(target) is None


def _unseen(package: ModuleType) -> list[Any]:
    """Return a package's compiled objects whose calls the profiler does not show."""
    prefix = f"{package.__name__}."
    root = prefix.partition(".")[0]
    unseen = [value for value in members_of(package) if not isinstance(value, BuiltinFunctionType)]
    return [
        value
        for value in map(behind, unseen)
        if _needs_gate(value)
        and f"{home_of(value)}.".lstrip("_").startswith(prefix)
        and (not isinstance(value, type) or root in sys.stdlib_module_names)
    ]


class Target(NamedTuple):
    """What a name means, by how calls to it are stopped.

    Attributes:
        functions: get other code.
        methods: compiled methods, each the class and the name, where another function is put.
        kernels: of one of torch's operators, each the overload and the backend, likewise.
        gated: what is behind a gate.
        package: what is kept out of; see `Watch`.
    """

    functions: Sequence[FunctionType] = ()
    methods: Sequence[tuple[type, str]] = ()
    kernels: Sequence[tuple[str, str]] = ()
    gated: Sequence[Any] = ()
    package: Package | None = None


def _target_of(value: Any) -> Target:
    """Return how calls to what `find` has found are stopped."""
    if isinstance(value, ModuleType):
        return Target(gated=_unseen(value), package=Package(value))
    if _needs_gate(value):
        return Target(gated=[value])
    if isinstance(value, type):
        return _target_of_class(value)
    operator = _operator(value)
    if operator is not None:
        return Target(kernels=_kernels(operator))
    return Target(functions=[*_functions(value)])


def _target_of_class(cls: type) -> Target:
    """Return every function of a class, including its constructor but not static methods.

    Static methods do not depend on the class; if one is an exercise, it is forbidden by name.

    A class of an extension module can still be constructed, because its constructor could not be
    restored, but none of its methods can be called.
    """
    functions: list[FunctionType] = []
    methods = []
    for name, member in vars(cls).items():
        if name == "__new__" or not isinstance(member, staticmethod):
            functions += _functions(member)
        if name != "__new__" and isinstance(getattr(member, "__func__", member), COMPILED):
            methods.append((cls, name))
    return Target(functions, methods)


# --- forbidding -------------------------------------------------------------------------------


TARGETS: dict[str, Target] = {}  # what names meant before a submission could replace it


def _fault(path: str, target: Any) -> str | None:
    """Say why a name cannot be forbidden, or return None."""
    if target is MISSING:
        return "there is no such name in the packages that submissions can import"
    if isinstance(target, ModuleType):
        return None
    if not callable(target) and not isinstance(target, property):
        return f"it is of type {type(target).__name__}, not a function, class or module"
    if isinstance(target, type) and target.__module__ == "builtins":
        return "this type is used everywhere"
    if _needs_gate(target) and not isinstance(find(path.rpartition(".")[0]), ModuleType):
        return "it is a method of a compiled class; name the class"
    return None


def prepare(rules: Mapping[str, str]) -> str | None:
    """Look names up, and put gates where they need some, before a submission is imported.

    Args:
        rules: full names, with where they are listed.

    Returns: which of them cannot be forbidden, and why; None: all can be.
    """
    gated: list[Any] = []
    for path, where in rules.items():
        if path in TARGETS:
            continue
        value = find(path)
        fault = _fault(path, value)
        if fault is not None:
            return f"{where}: {path} cannot be forbidden: {fault}"
        TARGETS[path] = _target_of(value)
        gated += TARGETS[path].gated
    if gated:
        install_gates(gated)
    return None


def _not_allowed(*_: Any, **__: Any) -> None:
    """Accept any arguments and raise; see `_raising_code`."""
    raise "error"  # type: ignore[misc]  # noqa: B016, to be replaced with an exception


@functools.cache
def _raising_code(name: str, free_variables: tuple[str, ...] = ()) -> CodeType:
    """Return the code of a function that accepts any arguments and raises NotAllowedError.

    The exception is a constant of the code, because a name would be looked up in the globals of the
    function that gets the code.
    """
    error = type("NotAllowedError", (NotAllowedError,), {"name": name})
    code = _not_allowed.__code__
    constants = tuple(error if value == "error" else value for value in code.co_consts)
    return code.replace(co_consts=constants, co_freevars=free_variables)


def _replace_kernels(kernels: Sequence[tuple[str, str]], replacement: FunctionType) -> Any:
    """Replace an operator of torch in all its overloads.

    Returns: a library, which restores the operator when its method `reset` is called or when it is
        garbage-collected.
    """
    # torch.library.Library would work, but leaves traces by which it can be found and undone
    namespace = kernels[0][0].partition("::")[0]
    library: Any = torch._C._dispatch_library("IMPL", namespace, "", __file__, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # replacing a kernel is the intention
        for overload, backend in kernels:
            library.impl(overload, backend, replacement, False)
    return library


def _replace_code(function: FunctionType, name: str, undo: contextlib.ExitStack) -> None:
    """Give a Python function code that raises."""
    code = function.__code__
    undo.callback(setattr, function, "__code__", code)
    marks = _marks(code)
    if len(marks) >= MIN_MARKS and not code.co_name.startswith("__"):  # as constructors are alike
        REPLACED.setdefault(marks, name)
    # the new code must fit the function's closure
    function.__code__ = _raising_code(name, code.co_freevars)


def _add(names: dict[Any, str], key: Any, name: str, undo: contextlib.ExitStack) -> None:
    """Add what is forbidden, unless it is already."""
    if key not in names:
        names[key] = name
        undo.callback(names.pop, key)


def forbid(names: Mapping[str, str], for_good: bool = False) -> contextlib.ExitStack:
    """Forbid functions, classes and modules.

    Args:
        names: full names to the names in messages.
        for_good: drop the original code, so that nothing can restore it.

    Returns:
        A stack that restores everything when it is closed; an empty one if `for_good`.
    """
    _install_hook()
    undo = contextlib.ExitStack()
    undo.callback(REPLACED.update, dict(REPLACED))
    for path, name in names.items():
        target = TARGETS[path] if path in TARGETS else _target_of(find(path))
        raising = FunctionType(_raising_code(name), globals())
        for function in target.functions:
            _replace_code(function, name, undo)
        for cls, attribute in target.methods:
            undo.callback(setattr, cls, attribute, vars(cls)[attribute])
            setattr(cls, attribute, staticmethod(raising))
        if target.kernels:
            library = _replace_kernels(target.kernels, raising)
            undo.callback(library.reset)
            if for_good:
                # it outlives its last reference
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
        for value in target.gated:
            _add(CLOSED, id(value), name, undo)
        if target.package is not None:
            _add(WATCH.packages, target.package, name, undo)
    undo.callback(REPLACED.clear)  # first of all, or restoring code would be refused
    return contextlib.ExitStack() if for_good else undo
