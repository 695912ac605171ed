"""Explain why a function that was written still counts as not written: the stub is still there.

The cases are a `raise` left above or below the code, a stub further down that replaces the code,
and code that was written inside the docstring. `UNFINISHED` is said of a scaffold without a stub,
which only counts as not written if it returns nothing when it is called.
"""

import ast
from collections.abc import Sequence

Function = ast.FunctionDef | ast.AsyncFunctionDef
UNFINISHED = "no line of it returns a value yet"


def _stub(function: Function) -> int | None:
    """Return the index in a function's body of `raise NotImplementedError`, or None."""
    for place, statement in enumerate(function.body):
        if isinstance(statement, ast.Raise) and statement.exc is not None:
            raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
            if isinstance(raised, ast.Name) and raised.id == "NotImplementedError":
                return place
    return None


def _does_something(statement: ast.stmt) -> bool:
    """Return whether a statement is more than a constant, such as a docstring, or `pass`."""
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return not is_text and not isinstance(statement, ast.Pass)


def _replaced(earlier: Function, last: Function) -> bool:
    """Return whether a later function of the same name replaces code.

    With a decorator, such as `@overload` or `@f.setter`, one may add to the other.
    """
    added = earlier.decorator_list or last.decorator_list
    return any(map(_does_something, earlier.body)) and not added and _stub(earlier) is None


def _below_code(function: Function, place: int) -> bool:
    """Return whether code comes before a statement; a check of arguments may be in the hole."""
    above = [statement for statement in function.body[:place] if _does_something(statement)]
    return bool(above) and not isinstance(above[-1], ast.If)


def _is_none(value: ast.expr | None) -> bool:
    """Return whether there is no value, or the constant None."""
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _returns_something(statement: ast.stmt) -> bool:
    """Return whether a statement returns a value, or contains one that does."""
    return any(
        isinstance(node, ast.Return) and not _is_none(node.value) for node in ast.walk(statement)
    )


def _is_unfinished(function: Function) -> bool:
    """Return whether a function returns no value, and does nothing or leaves a variable at None.

    A check of arguments may be part of the hole.
    """
    if any(map(_returns_something, function.body)):
        return False
    assigned = {
        ast.unparse(statement.targets[0]): statement.value
        for statement in function.body
        if isinstance(statement, ast.Assign)
    }
    work = [each for each in function.body if not isinstance(each, ast.Return | ast.If)]
    return any(map(_is_none, assigned.values())) or not any(map(_does_something, work))


def _has_code(docstring: str) -> bool:
    """Return whether a docstring contains a valid `return` statement."""
    for line in docstring.splitlines():
        if line.strip().startswith("return "):
            try:
                ast.parse(line.strip())
            except (SyntaxError, ValueError):
                continue
            return True
    return False


def _hint(definitions: Sequence[Function]) -> str:
    *earlier, last = definitions
    place = _stub(last)
    if place is None:
        return UNFINISHED if _is_unfinished(last) else ""
    line = last.body[place].lineno
    if any(_replaced(function, last) for function in earlier):
        return f"it is defined again on line {last.lineno}, and Python uses the last one: delete it"
    below = last.body[place + 1 :]
    if any(map(_returns_something, below)):
        return f"line {line} still raises NotImplementedError, above your code: delete that line"
    if below:  # a scaffold has a stub for each step
        return ""
    if _below_code(last, place):
        return f"line {line} still raises NotImplementedError, below your code: return there"
    if _has_code(ast.get_docstring(last) or ""):
        return f"your code is inside the docstring, which ends above line {line}"
    return ""


def hints(tree: ast.Module) -> dict[str, str]:
    """Return why functions still count as not written, by their paths in the module."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    named: dict[str, list[Function]] = {}
    for prefix, body in [("", tree.body), *((f"{each.name}.", each.body) for each in classes)]:
        for node in body:
            if isinstance(node, Function):
                named.setdefault(prefix + node.name, []).append(node)
    found = {path: _hint(definitions) for path, definitions in named.items()}
    return {path: hint for path, hint in found.items() if hint}
