"""The shapes of a student's own tensors where an exception was raised. Runs in the worker.

Torch's message gives the sizes that do not fit, but not the tensors that have them.
"""

import ast
from collections.abc import Iterator, Mapping
from itertools import islice
from types import TracebackType
from typing import Any

from torch import Tensor

ABOUT_SHAPES = (RuntimeError, ValueError, IndexError)
ABOUT_OTHERS = (NotImplementedError, RecursionError)  # subclasses of RuntimeError
MAX_TENSORS = 6  # how many tensors are listed
MAX_AXES = 8
MAX_NAME = 40  # characters of a name
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
    positions = list(traceback.tb_frame.f_code.co_positions())
    place = traceback.tb_lasti // 2
    first, last = positions[place][:2] if place < len(positions) else (None, None)
    return range(first or traceback.tb_lineno, (last or traceback.tb_lineno) + 1)


def _nodes_on(tree: ast.AST, lines: range) -> Iterator[ast.AST]:
    """Yield the nodes that are, or may be, on some lines; the rest of the file is skipped."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            first, last = getattr(child, "lineno", lines[0]), getattr(child, "end_lineno", None)
            if first < lines.stop and (last or lines[-1]) >= lines.start:
                stack.append(child)


def _names(source: str, lines: range) -> list[str]:
    """List the variables on some lines, each once, without those that are only called."""
    nodes = list(_nodes_on(ast.parse(source), lines))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    names = [
        (node.lineno, node.col_offset, node.id)
        for node in nodes
        if isinstance(node, ast.Name) and node.lineno in lines and id(node) not in called
    ]
    return list(dict.fromkeys(name for *_, name in sorted(names) if len(name) <= MAX_NAME))


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


def _shapes_on_line(
    traceback: TracebackType | None, sources: Mapping[str, str], letters: Mapping[str, int]
) -> Iterator[str]:
    innermost = _innermost(traceback, sources)
    if innermost is None:
        return
    local = innermost.tb_frame.f_locals
    source = sources[innermost.tb_frame.f_code.co_filename]
    for name in _names(source, _lines(innermost)):
        value = local.get(name)
        if isinstance(value, Tensor) and value.dim() <= MAX_AXES:
            # a type is worth saying if it is not that of the numbers that are computed with
            of = "" if value.is_floating_point() else f" of {str(value.dtype).split('.')[-1]}"
            yield f"{name} is {_in_words(tuple(value.shape), letters)}{of}"


def shapes(
    error: BaseException, sources: Mapping[str, str], letters: Mapping[str, int]
) -> list[str]:
    """List the tensors on the submission's line that raised, with their shapes.

    The list is empty for exceptions that cannot be about shapes.

    Args:
        sources: the submission's files by name.
        letters: the assignment's letters for the sizes of this call.
    """
    if not isinstance(error, ABOUT_SHAPES) or isinstance(error, ABOUT_OTHERS):
        return []
    return list(islice(_shapes_on_line(error.__traceback__, sources, letters), MAX_TENSORS))


def letters_of(call: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes of a call by letter, from its `letters` or else its config."""
    sizes = call.get("letters") or call.get("config") or {}
    return {name: size for name, size in sizes.items() if len(name) == 1 and type(size) is int}
