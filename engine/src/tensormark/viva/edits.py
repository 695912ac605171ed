"""What the expressions and statements of a function may become."""

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping

from tensormark.viva.copies import UnfitError
from tensormark.viva.source import DETACH, SIMPLE, UNWRAP, Change, Edit, Source, is_bare_call

LARGEST = 100_000_000  # characters of all changed texts together
MEASURES = ("shape", "size", "ndim", "dim", "dtype", "device")  # they have no gradient
LIBRARIES = ("torch", "math", "F", "nn", "np", "numpy")
OPERATORS: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
}
COMPARISONS: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", ">"),
    ast.Gt: (">", "<"),
}


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
        own = -value if negative else value
        near = {own - 1, own + 1, own + 2, -own, own + 4 if negative else own + 1}
        yield from (Edit("number", str(n)) for n in sorted(near - {own}) if abs(n) < 5)
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
    return text if isinstance(node, SIMPLE) else f"({text})"


def calls(source: Source, node: ast.expr) -> Iterator[Edit]:
    """Remove a call or an argument, swap two arguments, or swap a call and the one inside it."""
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return
    function, arguments = source.of(node.func), [source.of(argument) for argument in node.args]
    named = [source.text[slice(*source.span(word))] for word in node.keywords if word.arg]  # type: ignore[arg-type]
    if len(named) < len(node.keywords):
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
        yield Edit("arguments", f"{function}({', '.join([*swapped, *named])})")
    for word in named:
        if not word.startswith("dim"):  # torch has deprecated its default
            rest = [*arguments, *(other for other in named if other != word)]
            yield Edit("argument", f"{function}({', '.join(rest)})")
    inner = node.args[0] if len(node.args) == 1 and not named else None
    if isinstance(inner, ast.Call) and len(inner.args) == 1 and not inner.keywords:
        within = source.of(inner.args[0])
        yield Edit("nesting", f"{source.of(inner.func)}({function}({within}))")
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add):
        parts = source.of(inner.left), source.of(inner.right)
        yield Edit("nesting", f"{parts[0]} + {function}({parts[1]})")
        yield Edit("nesting", f"{function}({parts[0]}) + {parts[1]}")
    if isinstance(node.func, ast.Attribute) and node.func.attr == "sqrt" and arguments:
        yield Edit("form", f"{bracketed(node.args[0], arguments[0])} ** 0.5")
        yield Edit("form", f"{bracketed(node.args[0], arguments[0])} ** 2")


def _root(node: ast.expr) -> str:
    """Return the name at the start of a chain of attributes; "" if something else is there."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def comparisons(source: Source, node: ast.expr) -> Iterator[Edit]:
    """Change the operator of a comparison."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        _, other = COMPARISONS[type(node.ops[0])]
        left, right = node.left, node.comparators[0]
        yield Edit("comparison", f"{source.of(left)} {other} {source.of(right)}")


def matrix_products(source: Source, node: ast.expr) -> Iterator[Edit]:
    """Write a matrix product, or its scale, in another way."""
    if not isinstance(node, ast.BinOp):
        return
    left, right = source.of(node.left), source.of(node.right)
    product = node.left
    scaled = isinstance(node.op, ast.Div | ast.Mult) and isinstance(product, ast.BinOp)
    if scaled and isinstance(product, ast.BinOp) and isinstance(product.op, ast.MatMult):
        sign = "/" if isinstance(node.op, ast.Div) else "*"
        first, second = source.of(product.left), source.of(product.right)
        yield Edit("form", f"({first} {sign} {right}) @ {second}")
        yield Edit("form", f"({first} {sign} {right}) @ ({second} {sign} {right})")
    if isinstance(node.op, ast.MatMult) and isinstance(node.right, ast.Call):
        yield Edit("form", f"({right} @ {left}).mT")


MAKERS: tuple[Callable[[Source, ast.expr], Iterator[Edit]], ...] = (
    numbers,
    binary,
    calls,
    comparisons,
    matrix_products,
)


# --- names, loops and statements ------------------------------------------------------------


class Names:
    """The names that a function binds, by their first line, and the attributes that it reads.

    A name is replaced only by one of its kind that has a value by then; a name that is unpacked
    from a shape is a size.
    """

    def __init__(self, source: Source) -> None:
        arguments = source.function.args
        given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self.since = {each.arg: 0 for each in given if each.arg != "self"}
        self.sizes: set[str] = set()
        read: list[str] = []
        for node in (node for statement in source.body for node in ast.walk(statement)):
            if isinstance(node, ast.Assign):
                value = ast.unparse(node.value)
                if "shape" in value or ".size(" in value:
                    self.sizes.update(_stored(node))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.since.setdefault(node.id, node.lineno)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
                read.append(ast.unparse(node))
        self.attributes = list(dict.fromkeys(read))

    def others(self, node: ast.expr) -> Iterator[Edit]:
        """Replace a name with another of the function, or an attribute of self with another."""
        own = ast.unparse(node)
        if isinstance(node, ast.Attribute) and own in self.attributes:
            yield from (Edit("name", other) for other in self.attributes if other != own)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and own in self.since:
            for other, line in self.since.items():
                same_kind = (other in self.sizes) == (own in self.sizes)
                if other != own and same_kind and line < node.lineno:
                    yield Edit("name", other)

    def detached(self, source: Source, node: ast.expr) -> Iterator[Edit]:
        """Cut off the gradient of a value."""
        read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Call) or (read and source.of(node) in {*self.since} - self.sizes):
            yield Edit(DETACH, f"{source.of(node)}.detach()")


def _stored(statement: ast.Assign) -> set[str]:
    """Return the names that a statement binds."""
    nodes = (node for target in statement.targets for node in ast.walk(target))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def loops(source: Source, node: ast.expr, outer: ast.AST) -> Iterator[Edit]:
    """Skip the first or last round of a loop, or reverse its order."""
    if isinstance(outer, ast.For) and node is outer.iter and isinstance(node, SIMPLE):
        own = source.of(node)
        parts = ("1:", ":-1", "::-1")
        yield from (Edit("loop", f"{own}[{part}]") for part in parts)


def _removable(statement: ast.stmt, names: Names) -> bool:
    """Return whether the function may run without a statement: names it binds have a value."""
    if not isinstance(statement, ast.Assign):
        return isinstance(statement, ast.AugAssign | ast.Expr) and not is_bare_call(statement)
    return all(names.since.get(name, 0) < statement.lineno for name in _stored(statement))


def changes(source: Source) -> list[Change]:
    """Return all single changes to the function, in the order of its text.

    Raises:
        UnfitError: there are too many; a few long lines may have millions.
    """
    by_text = dict[str, Change]()
    for change in _changes(source):
        if change is not None:
            by_text[change.text] = change
        if len(by_text) * len(source.text) > LARGEST:
            raise UnfitError("it can be changed in too many ways")
    return list(by_text.values())


def _changes(source: Source) -> Iterator[Change | None]:
    names = Names(source)
    for node, around in source.nodes():
        outer = around[0]
        if isinstance(node, ast.Constant) and isinstance(outer, ast.UnaryOp):
            continue
        edits = [edit for maker in MAKERS for edit in maker(source, node)]
        edits += [*loops(source, node, outer), *names.others(node)]
        called = isinstance(outer, ast.Call) and outer.func is node
        if not called and getattr(outer, "attr", "") not in MEASURES:
            edits += names.detached(source, node)
        yield from (source.change(node, around, edit) for edit in edits)
    for statement in (node for top in source.body for node in ast.walk(top)):
        if isinstance(statement, ast.stmt) and _removable(statement, names):
            yield source.without(statement)
