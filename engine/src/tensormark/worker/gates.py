"""Gates: objects that stand for compiled functions and classes, and can be closed.

A compiled function such as numpy.dot, or a class such as itertools.permutations, cannot be changed
in place. So, wherever a module has one, a gate is put there before a submission is imported. While
it is closed, it raises if the submission calls it, or library code to which the submission passed
it; what library code calls for its own ends goes through. Runs in the worker.

Covered: aliases, references kept since the import, subclasses, callbacks. Not covered: a compiled
function in a new copy of its module, or what has been taken from an object: its class, a method.
"""

import contextlib
import sys
import types
from collections.abc import Iterable
from typing import Any

from tensormark.worker.entered import WATCH, NotAllowedError

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


def close(target: Any, name: str, undo: contextlib.ExitStack) -> None:
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


def install(targets: Iterable[Any]) -> None:
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
