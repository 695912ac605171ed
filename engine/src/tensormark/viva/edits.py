"""Makes all single changes to a function's expressions and statements."""

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping

from tensormark.viva.copies import UnfitError
from tensormark.viva.source import (
    ATOMIC_EXPRESSIONS,
    DETACH,
    UNWRAP,
    Change,
    Edit,
    Source,
    is_bare_call,
)

MAX_TOTAL_LENGTH = 100_000_000  # characters of all changed texts together
ATTRIBUTES_WITHOUT_GRADIENT = ("shape", "size", "ndim", "dim", "dtype", "device")
LIBRARIES = ("torch", "math", "F", "nn", "np", "numpy")
OPERATORS: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
}
COMPARISONS = {ast.Eq: "!=", ast.NotEq: "==", ast.Lt: ">", ast.Gt: "<"}  # to what replaces them


def numbers(source: Source, node: ast.expr) -> Iterator[Edit]:
    """Change a number."""
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    inner = node.operand if isinstance(node, ast.UnaryOp) and negative else node
    if not isinstance(inner, ast.Constant):
        return
    value = inner.value
    if isinstance(value, bool):
        yield Edit("flag", str(not value))
    elif isinstance(value, int):
        original = -value if negative else value
        neighbours = {
            original - 1,
            original + 1,
            original + 2,
            -original,
            original + 4 if negative else original + 1,
        }
        yield from (Edit("number", str(n)) for n in sorted(neighbours - {original}) if abs(n) < 5)
    elif isinstance(value, float):
        yield from (Edit("number", f"{-value if negative else value} * {n}") for n in (2, 0))


def binary(source: Source, node: ast.expr) -> Iterator[Edit]:
    """Change an operator, swap the operands, or remove one."""
    if not isinstance(node, ast.BinOp):
        return
    left, right = source.of(node.left), source.of(node.right)
    (first, middle), (after, last) = source.span(node.left), source.span(node.right)
    whole_first, whole_last = source.span(node)
    sign = source.text[middle:after]
    if "(" in sign or ")" in sign or (first, last) != (whole_first, whole_last):
        return
    operator, other = OPERATORS.get(type(node.op), ("", ""))
    if operator:
        start = middle + sign.index(operator)
        changed = sign.replace(operator, other, 1)
        yield Edit("operator", f"{left}{changed}{right}", start, start + len(operator), other)
    yield Edit("order", f"{bracketed(node.right, right)}{sign}{bracketed(node.left, left)}")
    rest = middle + len(sign) - len(sign.lstrip())
    yield Edit("operand", left, rest, last, "")
    if isinstance(node.op, ast.Add | ast.Mult):
        yield Edit("operand", right, first, middle + len(sign.rstrip()), "")
    if isinstance(node.op, ast.Div):
        yield Edit("form", f"{left} * (1 / {bracketed(node.right, right)})")
        yield Edit("form", f"1 / {bracketed(node.right, right)} * {bracketed(node.left, left)}")


def bracketed(node: ast.expr, text: str) -> str:
    """Return an operand's text, in parentheses if it is not simple."""
    return text if isinstance(node, ATOMIC_EXPRESSIONS) else f"({text})"


def calls(source: Source, node: ast.expr) -> Iterator[Edit]:
    """Remove a call or an argument, swap two arguments, or swap a call and the one inside it."""
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return
    callee, arguments = source.of(node.func), [source.of(argument) for argument in node.args]
    keyword_texts = [source.text[slice(*source.span(word))] for word in node.keywords if word.arg]  # type: ignore[arg-type]
    if len(keyword_texts) < len(node.keywords):
        return
    _, end = source.span(node)
    if isinstance(node.func, ast.Attribute) and _root(node.func) not in (*LIBRARIES, "self"):
        start = source.text.index(f".{node.func.attr}", source.span(node.func.value)[1])
        yield Edit("call", source.of(node.func.value), start, end, "")
    elif arguments and not isinstance(node.args[0], ast.Constant | ast.UnaryOp):
        yield Edit(UNWRAP, arguments[0], *source.span(node.func), "")
    for first, second in itertools.combinations(range(len(arguments)), 2):
        swapped = list(arguments)
        swapped[first], swapped[second] = swapped[second], swapped[first]
        yield Edit("arguments", f"{callee}({', '.join([*swapped, *keyword_texts])})")
    for word in keyword_texts:
        if not word.startswith("dim"):  # torch has deprecated its default
            remaining = [*arguments, *(other for other in keyword_texts if other != word)]
            yield Edit("argument", f"{callee}({', '.join(remaining)})")
    inner = node.args[0] if len(node.args) == 1 and not keyword_texts else None
    if isinstance(inner, ast.Call) and len(inner.args) == 1 and not inner.keywords:
        argument = source.of(inner.args[0])
        yield Edit("nesting", f"{source.of(inner.func)}({callee}({argument}))")
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add):
        terms = source.of(inner.left), source.of(inner.right)
        yield Edit("nesting", f"{terms[0]} + {callee}({terms[1]})")
        yield Edit("nesting", f"{callee}({terms[0]}) + {terms[1]}")
    if isinstance(node.func, ast.Attribute) and node.func.attr == "sqrt" and arguments:
        yield Edit("form", f"{bracketed(node.args[0], arguments[0])} ** 0.5")
        yield Edit("form", f"{bracketed(node.args[0], arguments[0])} ** 2")


def _root(node: ast.expr) -> str:
    """Return the name at the start of a chain of attributes; "" if something else is there."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def comparisons(source: Source, node: ast.expr) -> Iterator[Edit]:
    """Replace the operator of a comparison."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        left, right = source.of(node.left), source.of(node.comparators[0])
        yield Edit("comparison", f"{left} {COMPARISONS[type(node.ops[0])]} {right}")


def matrix_products(source: Source, node: ast.expr) -> Iterator[Edit]:
    """Write a matrix product, or its scale, in another way."""
    if not isinstance(node, ast.BinOp):
        return
    left, right = source.of(node.left), source.of(node.right)
    product = node.left
    is_scaled = isinstance(node.op, ast.Div | ast.Mult) and isinstance(product, ast.BinOp)
    if is_scaled and isinstance(product, ast.BinOp) and isinstance(product.op, ast.MatMult):
        sign = "/" if isinstance(node.op, ast.Div) else "*"
        first, second = source.of(product.left), source.of(product.right)
        yield Edit("form", f"({first} {sign} {right}) @ {second}")
        yield Edit("form", f"({first} {sign} {right}) @ ({second} {sign} {right})")
    if isinstance(node.op, ast.MatMult) and isinstance(node.right, ast.Call):
        yield Edit("form", f"({right} @ {left}).mT")


EDIT_MAKERS: tuple[Callable[[Source, ast.expr], Iterator[Edit]], ...] = (
    numbers,
    binary,
    calls,
    comparisons,
    matrix_products,
)


# --- names, loops and statements ------------------------------------------------------------


class Names:
    """The names that a function binds, with their first lines, and the attributes that it reads.

    A name is replaced only by one of its kind that has a value by then; a name that is unpacked
    from a shape is a size.
    """

    def __init__(self, source: Source) -> None:
        arguments = source.function.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self.first_lines = {parameter.arg: 0 for parameter in parameters if parameter.arg != "self"}
        self.sizes: set[str] = set()
        read_attributes: list[str] = []
        for node in (node for statement in source.body for node in ast.walk(statement)):
            if isinstance(node, ast.Assign):
                value = ast.unparse(node.value)
                if "shape" in value or ".size(" in value:
                    self.sizes.update(_bound_names(node))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.first_lines.setdefault(node.id, node.lineno)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
                read_attributes.append(ast.unparse(node))
        self.attributes = list(dict.fromkeys(read_attributes))

    def replacements(self, node: ast.expr) -> Iterator[Edit]:
        """Replace a name with another of the function, or an attribute of self with another."""
        original = ast.unparse(node)
        if isinstance(node, ast.Attribute) and original in self.attributes:
            yield from (Edit("name", other) for other in self.attributes if other != original)
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Load)
            and original in self.first_lines
        ):
            for other, line in self.first_lines.items():
                same_kind = (other in self.sizes) == (original in self.sizes)
                if other != original and same_kind and line < node.lineno:
                    yield Edit("name", other)

    def detached(self, source: Source, node: ast.expr) -> Iterator[Edit]:
        """Cut off the gradient of a value."""
        is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Call) or (
            is_read and source.of(node) in {*self.first_lines} - self.sizes
        ):
            yield Edit(DETACH, f"{source.of(node)}.detach()")


def _bound_names(statement: ast.Assign) -> set[str]:
    nodes = (node for target in statement.targets for node in ast.walk(target))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def loops(source: Source, node: ast.expr, outer: ast.AST) -> Iterator[Edit]:
    """Skip the first or last round of a loop, or reverse its order."""
    if isinstance(outer, ast.For) and node is outer.iter and isinstance(node, ATOMIC_EXPRESSIONS):
        original = source.of(node)
        slices = ("1:", ":-1", "::-1")
        yield from (Edit("loop", f"{original}[{slice_text}]") for slice_text in slices)


def _removable(statement: ast.stmt, names: Names) -> bool:
    """Return whether the function may run without a statement: names it binds have a value."""
    if not isinstance(statement, ast.Assign):
        return isinstance(statement, ast.AugAssign | ast.Expr) and not is_bare_call(statement)
    return all(
        names.first_lines.get(name, 0) < statement.lineno for name in _bound_names(statement)
    )


def changes(source: Source) -> list[Change]:
    """Return all single changes to the function, in the order of its text.

    Raises:
        UnfitError: there are too many; a few long lines may have millions.
    """
    by_text = dict[str, Change]()
    for change in _changes(source):
        if change is not None:
            by_text[change.text] = change
        if len(by_text) * len(source.text) > MAX_TOTAL_LENGTH:
            raise UnfitError("it can be changed in too many ways")
    return list(by_text.values())


def _changes(source: Source) -> Iterator[Change | None]:
    names = Names(source)
    for node, ancestors in source.nodes():
        outer = ancestors[0]
        if isinstance(node, ast.Constant) and isinstance(outer, ast.UnaryOp):
            continue
        edits = [edit for maker in EDIT_MAKERS for edit in maker(source, node)]
        edits += [*loops(source, node, outer), *names.replacements(node)]
        is_callee = isinstance(outer, ast.Call) and outer.func is node
        if not is_callee and getattr(outer, "attr", "") not in ATTRIBUTES_WITHOUT_GRADIENT:
            edits += names.detached(source, node)
        yield from (source.change(node, ancestors, edit) for edit in edits)
    for statement in (node for top in source.body for node in ast.walk(top)):
        if isinstance(statement, ast.stmt) and _removable(statement, names):
            yield source.without(statement)
