"""Describe what a student's code raised, where, and with which shapes. Runs in the worker.

Torch's message gives the sizes that do not fit, but not the tensors that have them: these are the
student's own tensors on the line that raised.
"""

import ast
import contextlib
import dataclasses
import functools
import inspect
import textwrap
from collections.abc import Collection, Mapping
from itertools import islice
from traceback import walk_tb
from types import CodeType, ModuleType, TracebackType
from typing import Any

import numpy as np

from tensormark.worker.forbidden import NotAllowedError
from tensormark.worker.optional_torch import Tensor, nn
from tensormark.worker.outputs import StudentError

# --- shapes where it raised -------------------------------------------------------------------


ABOUT_SHAPES = (RuntimeError, ValueError, IndexError)
ABOUT_OTHERS = (NotImplementedError, RecursionError)  # subclasses of RuntimeError
MAX_TENSORS = 6  # how many tensors are listed
MAX_AXES = 8
parsed = functools.lru_cache(maxsize=64)(ast.parse)  # most calls that raise do so in one file
TWICE = "T"  # time steps: a tensor that compares each step with every other has two such axes


def _innermost(traceback: TracebackType | None, sources: Mapping[str, str]) -> TracebackType | None:
    """Return the innermost frame in a file of the submission."""
    innermost = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename in sources:
            innermost = traceback
        traceback = traceback.tb_next
    return innermost


def _lines(traceback: TracebackType) -> range:
    """Return the line numbers of the expression that raised."""
    positions = traceback.tb_frame.f_code.co_positions()
    first, last, *_ = next(islice(positions, traceback.tb_lasti // 2, None), (None, None))
    return range(first or traceback.tb_lineno, (last or traceback.tb_lineno) + 1)


@functools.lru_cache(maxsize=64)
def _names(source: str, lines: range) -> list[str]:
    """List the names on some lines, each once."""
    names = [
        (node.lineno, node.col_offset, node.id)
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.Name) and node.lineno in lines
    ]
    return list(dict.fromkeys(name for *_, name in sorted(names)))


def _in_words(shape: tuple[int, ...], letters: Mapping[str, int]) -> str:
    """Return a shape, with the letters of its sizes if these are certain.

    A size shared by two letters identifies neither. Nor is a letter certain that occurs twice: if
    three tensors of a batch of three are stacked, only one of the axes is the batch.
    """
    sizes = list(letters.values())
    by_size = {size: name for name, size in letters.items() if sizes.count(size) == 1}
    names = ["1" if size == 1 else by_size.get(size, "") for size in shape]
    repeated = any(names.count(name) > 1 for name in names if name not in ("1", TWICE))
    certain = names and all(names) and not repeated
    return f"({', '.join(names)}) = {shape}" if certain else f"{shape}"


def _is_buffer(value: Tensor | np.ndarray, owner: object) -> bool:
    """Return whether a tensor is a whole buffer of a module, with other sizes than the call."""
    if isinstance(value, np.ndarray):
        return False
    buffers = owner.buffers() if isinstance(owner, nn.Module) else ()
    return any((value.data_ptr(), value.numel()) == (b.data_ptr(), b.numel()) for b in buffers)


def shapes(
    error: BaseException, sources: Mapping[str, str], letters: Mapping[str, int]
) -> list[str]:
    """List the tensors on the submission's line that raised, with their shapes.

    The list is empty for exceptions that cannot be about shapes.

    Args:
        sources: the submission's files by name.
        letters: the assignment's letters for the sizes of this call.
    """
    innermost = _innermost(error.__traceback__, sources)
    about_shapes = isinstance(error, ABOUT_SHAPES) and not isinstance(error, ABOUT_OTHERS)
    if innermost is None or not about_shapes:
        return []
    local = innermost.tb_frame.f_locals
    source = sources[innermost.tb_frame.f_code.co_filename]
    listed = []
    for name in _names(source, _lines(innermost)):
        value = local.get(name)
        if isinstance(value, Tensor | np.ndarray) and value.ndim <= MAX_AXES:
            # a type is worth saying if it is not that of the numbers that are computed with
            kind = str(value.dtype).split(".")[-1]
            of = "" if "float" in kind else f" of {kind}"
            known = {} if _is_buffer(value, local.get("self")) else letters
            listed.append(f"{name} is {_in_words(tuple(value.shape), known)}{of}")
    return listed[:MAX_TENSORS]


def letters_of(call: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes of a call by letter, from its `letters` or else its config."""
    sizes = call.get("letters") or call.get("config") or {}
    return {name: size for name, size in sizes.items() if len(name) == 1 and type(size) is int}


# --- what it raised ---------------------------------------------------------------------------


MAX_TEXT = 300  # characters of an exception's message that are passed on
MAX_FRAMES = 20  # of a traceback that are looked through


class ImportFailure(Exception):
    """A module cannot be imported; `__cause__` says why."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}.py cannot be imported")
        self.name = name


@dataclasses.dataclass(frozen=True)
class Files:
    """The program's files by name, such as main.py.

    Attributes:
        editable: the texts of those that students edit.
        given: the others' names.
    """

    editable: Mapping[str, str]
    given: Collection[str]

    def location(self, frames: list[tuple[CodeType, int]]) -> str:
        """Return the student's innermost line, or else the given files', in parentheses."""
        for names in (self.editable, self.given):
            lines = [(c.co_filename, line) for c, line in frames if c.co_filename in names]
            if lines:
                return f" ({lines[-1][0]}, line {lines[-1][1]})"
        return ""


def _facts(error: BaseException, files: Files) -> dict[str, Any]:
    """Return facts from which the trusted side can give advice."""
    name: object = None
    if isinstance(error, AttributeError):
        owner = error.obj
        name = vars(owner).get("__name__") if type(owner) is ModuleType else type(owner).__module__
    elif isinstance(error, ImportError):
        name = error.name
    if type(name) is not str:
        return {}
    if isinstance(error, ModuleNotFoundError):
        return {"missing": name}
    path = name.replace(".", "/")
    lacking = [file for file in (f"{path}.py", f"{path}/__init__.py") if file in files.given]
    return {"lacking": lacking[0]} if lacking else {}


def _refusal(error: BaseException | None) -> NotAllowedError | None:
    """Return the refusal that led to an error: torch's compilers wrap the exceptions they catch."""
    for _ in range(MAX_FRAMES):
        if isinstance(error, NotAllowedError):
            return error
        error = error and (error.__cause__ or error.__context__)
    return None


def message_of(error: BaseException) -> str:
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
    message: dict[str, Any] = {"status": "error"}
    if isinstance(error, ImportFailure) and error.__cause__ is not None:
        message["importing"] = error.name
        error = error.__cause__
    with contextlib.suppress(BaseException):  # an exception's attributes may be the student's
        error = _of_property(error)
    frames = [(frame.f_code, line) for frame, line in walk_tb(error.__traceback__)]
    codes = [code for code, _ in frames if code.co_filename in files.editable]
    location = files.location(frames) if codes or not isinstance(error, StudentError) else ""
    if isinstance(error, StudentError):
        return message | {"text": f"{error}{location}"}
    refusal = _refusal(error)
    if refusal is not None:
        return message | {"text": f"{refusal}{location}", "forbidden": refusal.name}
    text = textwrap.shorten(message_of(error).strip().split("\n")[0], MAX_TEXT, placeholder=" ...")
    if "importing" in message:  # the line that runs at import, not one of a function that it calls
        at_import = [each for each in frames if not each[0].co_flags & inspect.CO_OPTIMIZED]
        location = files.location(at_import) or location
    elif isinstance(error, NotImplementedError):
        function = ""
        if not text and codes and codes[-1] is frames[-1][0]:
            function = target if codes[-1] is hole else codes[-1].co_qualname
        written = {"status": "not written", "text": text, "function": function, "where": location}
        return message | written
    message["text"] = f"raised {type(error).__name__}: {text}".rstrip(": ") + location
    with contextlib.suppress(BaseException):  # an exception's attributes may be the student's
        message |= _facts(error, files)
    return message


def code_of(owner: Any, target: str) -> CodeType | None:
    """Return the code of a function, or of a class's method, given its path in a module."""
    for name in target.split("."):
        owner = inspect.getattr_static(owner, name, None)
    code = getattr(inspect.unwrap(owner) if callable(owner) else owner, "__code__", None)
    return code if isinstance(code, CodeType) else None
