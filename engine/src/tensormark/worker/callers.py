"""Find out from a function's source whether it unpacks results of calls. Runs in the worker."""

import ast
import functools
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from torch import Tensor

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
    definition = _definition(ast.parse(source), path)
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
