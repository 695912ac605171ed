"""Describe what a student's code raised, and where in the student's files. Runs in the worker."""

import contextlib
import dataclasses
import inspect
import textwrap
from collections.abc import Collection
from traceback import walk_tb
from types import CodeType, ModuleType
from typing import Any

from tensormark.worker.entered import NotAllowedError
from tensormark.worker.imports import ImportFailure
from tensormark.worker.outputs import StudentError

MAX_TEXT = 300  # characters of an exception's message that are passed on
MAX_FRAMES = 20  # functions of a traceback that are named
MAX_NAME = 100  # characters of a function's or a type's name


@dataclasses.dataclass(frozen=True)
class Files:
    """The names of the program's files, such as main.py.

    Attributes:
        editable: those that students edit.
        given: the others.
    """

    editable: Collection[str]
    given: Collection[str]

    def location(self, frames: list[tuple[CodeType, int]]) -> str:
        """Return the student's innermost line, or else the given files', in parentheses."""
        for names in (self.editable, self.given):
            lines = [(c.co_filename, line) for c, line in frames if c.co_filename in names]
            if lines:
                return f" ({lines[-1][0]}, line {lines[-1][1]})"
        return ""


def _lacking_file(error: BaseException, files: Files) -> str | None:
    """Return the given file that lacks an attribute or a name, if that is what was raised."""
    name: object = None
    if isinstance(error, AttributeError):
        owner = error.obj
        name = vars(owner).get("__name__") if type(owner) is ModuleType else type(owner).__module__
    elif isinstance(error, ImportError) and not isinstance(error, ModuleNotFoundError):
        name = error.name
    return f"{name}.py" if type(name) is str and f"{name}.py" in files.given else None


def _facts(error: BaseException, files: Files) -> dict[str, Any]:
    """Return facts from which the trusted side can give advice."""
    facts: dict[str, Any] = {}
    if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str):
        facts["missing"] = error.name[:MAX_TEXT]
    if (name := _lacking_file(error, files)) is not None:
        facts["lacking"] = name
    return facts


def _refusal(error: BaseException | None) -> NotAllowedError | None:
    """Return the refusal that led to an error: torch's compilers wrap the exceptions they catch."""
    for _ in range(MAX_FRAMES):
        if isinstance(error, NotAllowedError):
            return error
        error = error and (error.__cause__ or error.__context__)
    return None


def _message_of(error: BaseException) -> str:
    """Return an exception's message, or an empty string if it has none."""
    try:
        return str(error)
    except BaseException:  # a student's own class may raise anything
        return ""


def _of_property(error: BaseException) -> BaseException:
    """Return what a property raised where Python says only that there is no such attribute.

    If a property raises an AttributeError, `__getattr__`, which every module has, is tried next.
    """
    if not isinstance(error, AttributeError) or not isinstance(error.name, str):
        return error
    if not isinstance(inspect.getattr_static(error.obj, error.name, None), property):
        return error
    try:
        object.__getattribute__(error.obj, error.name)
    except AttributeError as own:
        return own.with_traceback(own.__traceback__ and own.__traceback__.tb_next)
    return error


def describe(
    error: BaseException, files: Files, target: str = "", hole: CodeType | None = None
) -> dict[str, Any]:
    """Describe what a student's code raised, and on which of its lines.

    Args:
        target: the called function, as calls name it.
        hole: its code, which raises a bare NotImplementedError until it is written.
    """
    importing: dict[str, Any] = {}
    if isinstance(error, ImportFailure) and error.__cause__ is not None:
        importing, error = {"importing": error.name}, error.__cause__
    with contextlib.suppress(BaseException):  # an exception's attributes may be the student's
        error = _of_property(error)
    frames = [(frame.f_code, line) for frame, line in walk_tb(error.__traceback__)]
    codes = [code for code, _ in frames if code.co_filename in files.editable]
    location = files.location(frames) if codes or not isinstance(error, StudentError) else ""
    if isinstance(error, StudentError):
        return {"status": "error", "text": f"{error}{location}", **importing}
    if (refusal := _refusal(error)) is not None:
        text, name = f"{refusal}{location}", refusal.name
        return {"status": "error", "text": text, "forbidden": name, **importing}
    through = {"through": [code.co_qualname[:MAX_NAME] for code in codes[-MAX_FRAMES:]]}
    text = textwrap.shorten(_message_of(error).strip().split("\n")[0], MAX_TEXT, placeholder=" ...")
    if isinstance(error, NotImplementedError) and not importing:
        function = ""
        if not text and codes and codes[-1] is frames[-1][0]:
            function = target if codes[-1] is hole else codes[-1].co_qualname[:MAX_NAME]
        message = {"status": "not written", "text": text, "function": function, "where": location}
        return message | through
    text = f"raised {type(error).__name__[:MAX_NAME]}: {text}".rstrip(": ") + location
    facts = {}
    with contextlib.suppress(BaseException):  # an exception's attributes may be the student's
        facts = _facts(error, files)
    return {"status": "error", "text": text, **through, **importing, **facts}


def code_of(owner: Any, target: str) -> CodeType | None:
    """Return the code of a function, or of a class's method, given its path in a module."""
    for name in target.split("."):
        owner = inspect.getattr_static(owner, name, None)
    code = getattr(inspect.unwrap(owner) if callable(owner) else owner, "__code__", None)
    return code if isinstance(code, CodeType) else None
