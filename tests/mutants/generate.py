"""Mutants of solution/bert.py: every small change that an operator makes inside the holes.

An operator takes one node of the syntax tree and yields possible replacements.
"""

import ast
import copy
import dataclasses
from collections.abc import Callable, Iterator

from tensormark.authoring.variants import region_of

EXERCISES = ("attention", "add_norm", "layer", "embed", "encode")
SIBLINGS = (  # attributes of self that can be mistaken for each other
    "attention_dense interm_dense out_dense".split(),
    "attention_dropout out_dropout".split(),
    "attention_layer_norm out_layer_norm".split(),
    "word_embedding pos_embedding tk_type_embedding".split(),
    "num_attention_heads attention_head_size all_head_size".split(),
)
MODULES = {"F", "math", "torch", "self"}  # names before the dot of a function, not a method
OPERATORS = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.Add),
    ast.MatMult: (ast.Mult, ast.Add),
}


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change: its exercise, a name that shows it, and the whole source with it."""

    exercise: str
    name: str
    source: str


def of_operator(node: ast.BinOp) -> Iterator[ast.AST]:
    """Yield other operators, and each operand by itself."""
    for operator in OPERATORS.get(type(node.op), ()):
        yield ast.BinOp(node.left, operator(), node.right)
    yield node.left
    yield node.right


def of_call(node: ast.Call) -> Iterator[ast.AST]:
    """Yield the argument or the object alone, swapped arguments, and one of them left out."""
    args = node.args
    keywords = node.keywords
    if args:
        yield args[0]
    function = node.func
    if isinstance(function, ast.Attribute):
        owner = function.value
        if not (isinstance(owner, ast.Name) and owner.id in MODULES):
            yield owner
    for at in range(len(args) - 1):
        swapped = [*args[:at], args[at + 1], args[at], *args[at + 2 :]]
        yield ast.Call(function, swapped, keywords)
    for at in range(len(args)):
        yield ast.Call(function, args[:at] + args[at + 1 :], keywords)
    for at in range(len(keywords)):
        yield ast.Call(function, args, keywords[:at] + keywords[at + 1 :])


def of_constant(node: ast.Constant) -> Iterator[ast.AST]:
    """Yield the neighbours of an integer."""
    if isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)


def of_sign(node: ast.UnaryOp) -> Iterator[ast.AST]:
    """Leave out a sign."""
    yield node.operand


def of_attribute(node: ast.Attribute) -> Iterator[ast.AST]:
    """Yield attributes of self that can be mistaken for this one."""
    for group in SIBLINGS:
        if node.attr in group and isinstance(node.value, ast.Name) and node.value.id == "self":
            for other in group:
                if other != node.attr:
                    yield ast.Attribute(node.value, other, node.ctx)


def of_tuple(node: ast.Tuple) -> Iterator[ast.AST]:
    """Swap neighbours."""
    for at in range(len(node.elts) - 1):
        elements = [*node.elts[:at], node.elts[at + 1], node.elts[at], *node.elts[at + 2 :]]
        yield ast.Tuple(elements, node.ctx)


def of_slice(node: ast.Slice) -> Iterator[ast.AST]:
    """Leave out a bound."""
    if node.upper is not None:
        yield ast.Slice(node.lower, None, node.step)


def of_statement(node: ast.stmt) -> Iterator[ast.AST]:
    """Leave out a statement, a loop's later rounds, or a return's value; change a loop's range."""
    if isinstance(node, ast.Return):
        yield ast.Return(None)
        return
    yield ast.Pass()
    if isinstance(node, ast.For):
        yield ast.For(node.target, node.iter, [*node.body, ast.Break()], [])
        reverse = ast.Call(ast.Name("reversed", ast.Load()), [node.iter], [])
        yield ast.For(node.target, reverse, node.body, [])
        for bounds in ((ast.Constant(1), None), (None, ast.Constant(-1))):
            part = ast.Subscript(node.iter, ast.Slice(*bounds), ast.Load())
            yield ast.For(node.target, part, node.body, [])


MUTATORS: tuple[tuple[type, Callable[..., Iterator[ast.AST]]], ...] = (
    (ast.BinOp, of_operator),
    (ast.Call, of_call),
    (ast.Constant, of_constant),
    (ast.UnaryOp, of_sign),
    (ast.Attribute, of_attribute),
    (ast.Tuple, of_tuple),
    (ast.Slice, of_slice),
    (ast.stmt, of_statement),
)


def of_name(node: ast.Name, known: list[str]) -> Iterator[ast.AST]:
    """Yield the function's other names, in place of one that is read."""
    if isinstance(node.ctx, ast.Load) and node.id in known:
        for other in known:
            if other != node.id:
                yield ast.Name(other, node.ctx)


class Replacement(ast.NodeTransformer):
    """Replaces a node."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old = old
        self.new = new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def replaced(tree: ast.Module, old: ast.AST, new: ast.AST) -> str:
    """Return the source with one node replaced."""
    memo: dict[int, object] = {}
    copied = copy.deepcopy(tree, memo)
    changed = Replacement(memo[id(old)], copy.deepcopy(new)).visit(copied)
    return ast.unparse(ast.fix_missing_locations(changed)) + "\n"


def names_in(function: ast.FunctionDef) -> list[str]:
    """List the parameters and variables of a function."""
    parameters = [argument.arg for argument in function.args.args if argument.arg != "self"]
    stored = [
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and type(n.ctx) is ast.Store
    ]
    return list(dict.fromkeys(parameters + stored))


def in_region(tree: ast.Module, first: int, last: int) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield every node between two lines with its possible replacements."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        known = names_in(function)
        for node in ast.walk(function):
            if not first <= getattr(node, "lineno", 0) <= last:
                continue
            if isinstance(node, ast.Name):
                yield from ((node, new) for new in of_name(node, known))
            for kind, mutate in MUTATORS:
                if isinstance(node, kind):
                    yield from ((node, new) for new in mutate(node))


def generate(source: str) -> list[Mutant]:
    """Return every mutant; changes that give the same source count once."""
    tree = ast.parse(source)
    mutants: dict[str, Mutant] = {}
    for exercise in EXERCISES:
        first, last = (source.count("\n", 0, at) + 1 for at in region_of(source, exercise))
        for node, new in in_region(tree, first, last):
            text = replaced(tree, node, new)
            placed = ast.fix_missing_locations(ast.copy_location(new, node))
            change = f"{ast.unparse(node)} -> {ast.unparse(placed)}".replace("\n", "; ")
            name = f"line {node.lineno - first + 1}, {change}"
            mutants.setdefault(text, Mutant(exercise, name, text))
    mutants.pop(ast.unparse(tree) + "\n", None)
    return list(mutants.values())
