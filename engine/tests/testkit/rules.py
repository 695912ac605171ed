"""Finds which modules import which, for tests of which may."""

import ast
import functools
import graphlib


def modules_of(root, *folders):
    """Return the modules in some folders below a root, by dotted name."""
    modules = {}
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def within(name, place):
    return name == place or name.startswith(f"{place}.")


@functools.cache
def imported(path):
    """Return every module that a file imports, anywhere in it."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(modules)


class Rooms:
    """Modules, and what each room of them may import besides itself.

    Attributes:
        modules: files by module name.
        table: what each room may import: names separated by spaces, each of which stands for a
            module and everything below it.
        elsewhere: prefixes of importable modules whose own imports are checked elsewhere.
    """

    def __init__(self, modules, table, elsewhere=()):
        self.modules = modules
        self.table = table
        self.elsewhere = elsewhere

    def room_of(self, module):
        """Return the most specific room of a module; a bare root is only the room of itself."""
        rooms = [room for room in self.table if within(module, room)]
        rooms = [room for room in rooms if "." in room or room == module]
        assert rooms, f"there is no import rule for {module}"
        return max(rooms, key=len)

    def own_imports(self, module):
        """Return the modules of this project that a module imports."""
        names = {
            name
            for name in imported(self.modules[module])
            if name in self.modules or any(within(name, root) for root in self.elsewhere)
        }
        # `from tensormark.sandbox import slot` names the package as well
        return names - {n for n in names if any(within(other, n) for other in names - {n})}

    def forbidden_imports(self):
        """Return what modules import but may not; they may import packages that contain them."""
        forbidden = {}
        for module in self.modules:
            room = self.room_of(module)
            places = [module, room, *self.table[room].split()]
            forbidden[module] = [
                name
                for name in self.own_imports(module)
                if not within(module, name) and not any(within(name, place) for place in places)
            ]
        return {module: names for module, names in forbidden.items() if names}

    def check(self):
        """Check that every room is one of a module, and imports only what it may."""
        assert self.forbidden_imports() == {}
        assert {self.room_of(module) for module in self.modules} == set(self.table)
        assert self.cycle() == []

    def cycle(self):
        """Return modules that import each other round a circle, if any do."""
        needs = {module: self.own_imports(module) & set(self.modules) for module in self.modules}
        try:
            graphlib.TopologicalSorter({m: names - {m} for m, names in needs.items()}).prepare()
        except graphlib.CycleError as error:
            return list(error.args[1])
        return []
