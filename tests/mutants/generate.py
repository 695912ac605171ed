"""Small changes of code: what may become of a node of its syntax tree.

The solution's holes and the engine's functions (tests/engine_mutants) are changed alike.
"""

import ast
import dataclasses

from tensormark.authoring.variants import region_of

EXERCISES = ("attention", "add_norm", "layer", "embed", "encode")
MODULES = {"F", "math", "torch", "self"}  # names before the dot of a function, not a method
ARITHMETIC = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.Add),
    ast.MatMult: (ast.Mult, ast.Add),
}
COMPARISONS = {  # the neighbour of an order, and the opposites
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
UNMEANT = ("annotation", "returns", "decorator_list", "defaults", "kw_defaults", "type_params")
IN_PARENTHESES = ast.BinOp | ast.BoolOp | ast.Compare | ast.UnaryOp | ast.IfExp


def without_one(nodes):
    """Leave out each node in turn."""
    for at in range(len(nodes)):
        yield nodes[:at] + nodes[at + 1 :]


def with_two_swapped(nodes):
    """Swap each two neighbours in turn."""
    for at in range(len(nodes) - 1):
        yield [*nodes[:at], nodes[at + 1], nodes[at], *nodes[at + 2 :]]


def of_arithmetic(node):
    """Yield other operators, and each operand by itself."""
    for operator in ARITHMETIC.get(type(node.op), ()):
        yield ast.BinOp(node.left, operator(), node.right)
    yield node.left
    yield node.right


def of_comparison(node):
    """Yield the neighbouring and the opposite comparison."""
    for other in COMPARISONS[type(node.ops[0])]:
        yield ast.Compare(node.left, [other(), *node.ops[1:]], node.comparators)


def of_boolean(node):
    """Yield `and` for `or`, and each operand left out."""
    yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    for rest in without_one(node.values):
        yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def of_call(node):
    """Yield the argument or the object alone, swapped arguments, and one of them left out."""
    function = node.func
    yield from node.args[:1]
    if isinstance(function, ast.Attribute):
        owner = function.value
        if not (isinstance(owner, ast.Name) and owner.id in MODULES):
            yield owner
    for args in (*with_two_swapped(node.args), *without_one(node.args)):
        yield ast.Call(function, args, node.keywords)
    for keywords in without_one(node.keywords):
        yield ast.Call(function, node.args, keywords)


def of_constant(node):
    """Yield the other truth value, or the neighbours of an integer."""
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)


def of_sign(node):
    """Leave out a sign."""
    yield node.operand


def of_tuple(node):
    """Swap neighbours."""
    for elements in with_two_swapped(node.elts):
        yield ast.Tuple(elements, node.ctx)


def of_slice(node):
    """Leave out a bound."""
    if node.upper is not None:
        yield ast.Slice(node.lower, None, node.step)
    if node.lower is not None:
        yield ast.Slice(None, node.upper, node.step)


def of_statement(node):
    """Leave out a statement that has an effect elsewhere, or a return's value."""
    if isinstance(node, ast.AugAssign | ast.Raise | ast.Continue | ast.Break | ast.Delete):
        yield ast.Pass()
    elif isinstance(node, ast.Expr | ast.Return) and not isinstance(node.value, ast.Constant):
        yield ast.Pass() if isinstance(node, ast.Expr) else ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name):
        yield ast.Pass()


def of_rounds(node):
    """Reverse what a loop runs through, or take none, one, or all but the first or the last."""
    yield ast.Call(ast.Name("reversed", ast.Load()), [node], [])
    for lower, upper in ((None, 0), (None, 1), (1, None), (None, -1)):
        bounds = [None if at is None else ast.Constant(at) for at in (lower, upper)]
        yield ast.Subscript(node, ast.Slice(*bounds), ast.Load())


def of_exceptions(node):
    """Leave out a kind of exception."""
    if isinstance(node, ast.Tuple):
        for kinds in without_one(node.elts):
            yield ast.Tuple(kinds, node.ctx)


def of_condition(node):
    """Decide a condition."""
    yield ast.Constant(False)
    yield ast.Constant(True)


OPERATORS = (
    # its name, the nodes that it is for, which part of them it changes
    ("arithmetic", ast.BinOp, "", of_arithmetic),
    ("comparison", ast.Compare, "", of_comparison),
    ("boolean", ast.BoolOp, "", of_boolean),
    ("argument", ast.Call, "", of_call),
    ("constant", ast.Constant, "", of_constant),
    ("sign", ast.UnaryOp, "", of_sign),
    ("tuple", ast.Tuple, "", of_tuple),
    ("slice", ast.Slice, "", of_slice),
    ("statement", ast.stmt, "", of_statement),
    ("loop", ast.For, "iter", of_rounds),
    ("exception", ast.ExceptHandler, "type", of_exceptions),
    ("condition", ast.If | ast.IfExp, "test", of_condition),
)


def of_name(node, known):
    """Yield the function's other names, in place of one that is read."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in known:
        yield from (ast.Name(other, node.ctx) for other in known if other != node.id)


def names_in(function):
    """List the parameters and variables of a function."""
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    names = [argument.arg for argument in function.args.args if argument.arg != "self"]
    names += [node.id for node in nodes if isinstance(node.ctx, ast.Store)]
    return list(dict.fromkeys(names))


def functions(tree):
    """Yield the functions and methods of a module, without those that are inside others."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node)


def inside(node):
    """Yield the nodes below one, but no annotation's, default's or formatted string's."""
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            is_meant = field not in UNMEANT and not isinstance(child, ast.JoinedStr)
            if is_meant and isinstance(child, ast.AST):
                yield child
                yield from inside(child)


def changes(function):
    """Yield each operator's name with a node of a function and what to put there."""
    known = names_in(function)
    for node in inside(function):
        yield from (("name", node, new) for new in of_name(node, known))
        for name, kind, part, mutate in OPERATORS:
            if isinstance(node, kind):
                old = getattr(node, part) if part else node
                yield from ((name, old, new) for new in mutate(old))


def with_change(source, old, new):
    """Return the first line that a change concerns, the lines' text before, and after."""
    lines = source.split("\n")
    first = old.lineno - 1
    last = old.end_lineno - 1
    before = lines[first].encode()[: old.col_offset].decode()
    after = lines[last].encode()[old.end_col_offset :].decode()
    text = ast.unparse(ast.fix_missing_locations(new))
    if isinstance(new, IN_PARENTHESES):
        text = f"({text})"
    return first, "\n".join(lines[first : last + 1]), before + text + after


def meaning(source):
    """Return what tells a source from others, except for its layout; "" for what is no Python."""
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:
        return ""


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change of the solution: its exercise, a name that shows it, the whole source with it."""

    exercise: str
    name: str
    source: str


def generate(source):
    """Return every mutant of the holes of a source; changes that mean the same count once."""
    mutants = {"": None, meaning(source): None}
    regions = {name: region_of(source, name) for name in EXERCISES}
    for function in functions(ast.parse(source)):
        for _, old, new in changes(function):
            first, before, after = with_change(source, old, new)
            start = sum(map(len, source.splitlines(keepends=True)[:first]))
            for exercise, (begin, end) in regions.items():
                if begin <= start < end:
                    text = source[:start] + after + source[start + len(before) :]
                    what = f"{ast.unparse(old)} -> {ast.unparse(new)}"
                    name = f"line {1 + source.count(chr(10), begin, start)}, {what}"
                    mutants.setdefault(meaning(text), Mutant(exercise, name, text))
    return [mutant for mutant in mutants.values() if mutant]
