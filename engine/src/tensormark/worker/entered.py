"""Watch which library code a submission enters while it is graded. Runs in the worker.

Covered: calls from the submission's code, and from the harness, of functions in other files and of
compiled functions; and library code that runs in place of the submission's, as an alias or an
inherited method. A submission cannot stop Python's profiler, which shows them.

Not covered: what library code calls in its turn; compiled functions that compiled code calls, as in
`map(numpy.array, x)`; operators such as `@`; compiled objects that the profiler does not show, if
they are not behind a gate (forbidden.py); other threads; library code that a submission has given
the name of a file of its own; and, unless a package is forbidden, what comes late in a long call.
"""

import contextlib
import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator
from types import BuiltinFunctionType, FrameType, ModuleType
from typing import Any

WORKER = os.path.dirname(__file__) + os.sep
MAX_NAMES = 32  # of one call that are reported
MAX_OF_ROOT = 8  # of one package, so that many of one cannot hide another
MAX_NAME = 80  # characters
MAX_CALLS = 1_500  # within one call that are watched: some draw thousands of random numbers
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
    module, name = str(frame.f_globals.get("__name__")), frame.f_code.co_qualname
    with contextlib.suppress(Exception):  # an owner may be the student's, and raise
        if module in DISPATCHERS:
            module, name = _dispatched(frame, DISPATCHERS[module])
            if module in WATCH.modules:
                return ""  # the submission's own method
        elif module == "torch._ops":
            module, name = "torch.ops", str(frame.f_locals["self"])
    name = name.partition(".<locals>")[0].removesuffix(".__init__").removesuffix(".__call__")
    return f"{module}.{name}"


class Package:
    """A forbidden package or module: what is entered from the submission's code is refused."""

    def __init__(self, module: ModuleType, name: str) -> None:
        self.prefix, self.name = f"{module.__name__}.", name
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
        self.modules, self.given, self.harness = modules, given, harness
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
        if caller is None or self.origins.get(caller.f_code.co_filename) == "library":
            return  # the usual case
        if not self.counts(caller):
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
