"""Resolve the names in a source to full names, as far as its text alone allows.

Covered: imports, and aliases of what was imported (`N = nn`), in a bounded number of steps for each
name; limited.py bounds time and memory. Not covered: names bound at run time by exec, setattr or a
computed name, the contents of star imports, and endless chains of aliases.
"""

import ast
import functools
import itertools
from collections.abc import Iterator

# the meaning of these names in a file that does not bind them: a star import may have done so
USUAL = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional"}
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
MAX_DEPTH = 20  # of nested attributes and of chained aliases that are followed
MAX_PATHS = 20  # full names that one name may stand for
ALIASABLE = (ast.Name, ast.Attribute)
# nodes without names, which are half of all
NAMELESS = (ast.expr_context, ast.Constant, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield what an import binds: the local name, and the full name that it stands for."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            root = alias.name.split(".")[0]
            yield alias.asname or root, alias.name if alias.asname else root
    elif isinstance(node, ast.ImportFrom) and not node.level:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _aliases(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that an assignment binds to other names or attributes, as in `N = nn`."""
    if isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        pairs = [(node.target, node.value)]
    else:
        return
    for target, value in pairs:
        if isinstance(target, ast.Name) and isinstance(value, ALIASABLE):
            yield target.id, value
        elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            for name, alias in zip(target.elts, value.elts, strict=False):
                if isinstance(name, ast.Name) and isinstance(alias, ALIASABLE):
                    yield name.id, alias


def _unknown_name(node: ast.AST) -> str | None:
    """Return the name that a node binds to something that cannot be resolved statically."""
    if isinstance(node, DEFINITIONS):
        return node.name
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return node.name
    return node.rest if isinstance(node, ast.MatchMapping) else None


class Names:
    """What the names of one source stand for.

    Attributes:
        nodes: the tree's nodes, without those that cannot hold a name.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.nodes = [node for node in ast.walk(tree) if not isinstance(node, NAMELESS)]
        self.imports: dict[str, dict[str, None]] = {}
        self.aliases: dict[str, list[ast.expr]] = {}
        self.unknown: set[str] = set()
        stored: dict[str, int] = {}
        for node in self.nodes:
            for name, path in imported(node):
                self.imports.setdefault(name, {})[path] = None
            for name, value in _aliases(node):
                self.aliases.setdefault(name, []).append(value)
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                stored[node.id] = stored.get(node.id, 0) + 1
            if (bound := _unknown_name(node)) is not None:
                self.unknown.add(bound)
        resolvable = {name: len(values) for name, values in self.aliases.items()}
        self.unknown |= {name for name, count in stored.items() if count != resolvable.get(name)}
        self.resolved: dict[str, frozenset[str]] = {}

    @functools.cached_property
    def bound(self) -> frozenset[str]:
        """Every name that the source binds."""
        return frozenset(self.imports.keys() | self.aliases.keys() | self.unknown)

    def _of_name(self, name: str, depth: int = 0) -> frozenset[str]:
        if name in self.unknown or depth > MAX_DEPTH:
            return frozenset()
        if name not in self.bound:
            return frozenset([USUAL[name]] if name in USUAL else [])
        if name not in self.resolved:
            self.resolved[name] = frozenset()  # an alias of itself adds nothing
            paths = set(itertools.islice(self.imports.get(name, ()), MAX_PATHS))
            for alias in self.aliases.get(name, ())[:MAX_PATHS]:
                paths |= self.paths(alias, depth + 1)
            self.resolved[name] = frozenset(itertools.islice(paths, MAX_PATHS))
        return self.resolved[name]

    def paths(self, node: ast.AST, depth: int = 0) -> frozenset[str]:
        """Return the full names that an expression may stand for; none if they are unknown."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
            node = node.value
            if len(names) > MAX_DEPTH:
                return frozenset()
        if not isinstance(node, ast.Name):
            return frozenset()
        return frozenset(".".join([path, *names]) for path in self._of_name(node.id, depth))
