"""Code that is what runs: nothing is asked about a function whose text may not be all that decides.

Whoever hides code can do so in ways that are not found here. A submission that is asked about is
compared with itself run again, and with the solution where there is one (study.py).
"""

import ast
from collections.abc import Iterator

from tensormark.viva.source import Function

ORDINARY = {"getattr()", "setattr()", "__class__", "__dict__"}  # flags of code that reads no code
# attributes of code, frames and tracebacks
READS_CODE = frozenset(
    "__code__ __traceback__ co_code co_consts co_lines cr_code cr_frame f_back f_code f_lasti "
    "f_lineno gi_code gi_frame ag_code ag_frame tb_frame tb_lasti tb_lineno tb_next".split()
)
AT_TOP = (
    *(ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Pass),
    ast.AnnAssign,
)


def unusual(tree: ast.Module, function: Function) -> str | None:
    """Say why a function's text may not be what decides, or None."""
    if function.decorator_list:
        return "it has a decorator"
    for statement in [*tree.body, *_of_classes(tree)]:
        if not _plain(statement):
            return f"line {statement.lineno} of its file runs when it is imported"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in READS_CODE:
            return f"line {node.lineno} of its file reads code"
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "setattr"):
            name = node.args[1] if len(node.args) > 1 else None
            text = name.value if isinstance(name, ast.Constant) else None
            if not isinstance(text, str) or text.startswith("__"):
                return f"line {node.lineno} of its file reads attributes by names that are computed"
    return None


def _of_classes(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements in the bodies of classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from node.body


def _plain(statement: ast.stmt) -> bool:
    """Say whether a statement outside of functions only imports, defines or binds a name."""
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Name | ast.Tuple) for target in statement.targets)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)  # a docstring
    if isinstance(statement, ast.If):
        return ast.unparse(statement.test) in ("__name__ == '__main__'", "TYPE_CHECKING")
    return isinstance(statement, AT_TOP)
