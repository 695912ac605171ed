"""Questions are asked only about functions whose text alone decides what they do.

Code can be hidden in ways that this does not detect. Therefore study.py compares a submission with
itself run again, and with the solution where there is one.
"""

import ast
from collections.abc import Iterator

from tensormark.viva.source import Function

RUN_TEXT = ("exec", "eval", "compile", "open", "__import__")
# attributes of code objects, frames and tracebacks
READS_CODE = frozenset(
    "__code__ __traceback__ co_code co_consts co_lines cr_code cr_frame f_back f_code f_lasti "
    "f_lineno gi_code gi_frame ag_code ag_frame tb_frame tb_lasti tb_lineno tb_next".split()
)
AT_TOP = (
    *(ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Pass),
    ast.AnnAssign,
)


def unusual(tree: ast.Module, function: Function) -> str | None:
    """Return why a function's text may not decide what it does, or None."""
    if function.decorator_list:
        return "it has a decorator"
    for statement in [*tree.body, *_of_classes(tree)]:
        if not _plain(statement):
            return f"line {statement.lineno} of its file runs when it is imported"
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in RUN_TEXT:
            return f"line {node.lineno} uses {node.id}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in READS_CODE:
            return f"line {node.lineno} of its file inspects code"
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "setattr"):
            name = node.args[1] if len(node.args) > 1 else None
            text = name.value if isinstance(name, ast.Constant) else None
            if not isinstance(text, str) or text.startswith("__"):
                return f"line {node.lineno} of its file accesses an attribute by a computed name"
    return None


def _of_classes(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from node.body


def _plain(statement: ast.stmt) -> bool:
    """Return whether a statement outside functions only imports, defines or binds a name."""
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Name | ast.Tuple) for target in statement.targets)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)  # a docstring
    if isinstance(statement, ast.If):
        return ast.unparse(statement.test) in ("__name__ == '__main__'", "TYPE_CHECKING")
    return isinstance(statement, AT_TOP)
