"""Reads which modules import which, for tests that say which may."""

import ast
from collections.abc import Mapping
from pathlib import Path


def modules_of(root: Path, *folders: str) -> dict[str, Path]:
    """Return the modules in some folders below a root, by their dotted names."""
    found = {}
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def within(name: str, place: str) -> bool:
    return name == place or name.startswith(f"{place}.")


def imported(path: Path) -> set[str]:
    """Return every module that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


class Rooms:
    """Modules, and what those of each room may import besides their own room.

    Attributes:
        modules: their names to their files.
        table: a room to what it may import, names separated by spaces. A name stands for the module
            or for all that is below it.
        elsewhere: prefixes of modules that have rules of their own, and are only looked at here.
    """

    def __init__(
        self, modules: Mapping[str, Path], table: Mapping[str, str], elsewhere: tuple[str, ...] = ()
    ) -> None:
        self.modules, self.table, self.elsewhere = modules, table, elsewhere

    def room_of(self, module: str) -> str:
        """Return the line that is for a module: the most precise one, and not a bare root."""
        found = [room for room in self.table if within(module, room)]
        found = [room for room in found if "." in room or room == module]
        assert found, f"there is no import rule for {module}"
        return max(found, key=len)

    def own_imports(self, module: str) -> set[str]:
        """Return the modules of this project that a module imports."""
        names = {
            name
            for name in imported(self.modules[module])
            if name in self.modules or any(within(name, root) for root in self.elsewhere)
        }
        # `from tensormark.sandbox import slot` names the package as well
        return names - {n for n in names if any(within(other, n) for other in names - {n})}

    def strangers(self, module: str) -> list[str]:
        """Return what a module imports and may not; it may import a package that it is in."""
        room = self.room_of(module)
        places = [room, *self.table[room].split()]
        names = [name for name in self.own_imports(module) if not within(module, name)]
        return sorted(n for n in names if not any(within(n, place) for place in places))

    def circles(self) -> list[str]:
        """Return the modules that import each other round a circle, and those that need them."""
        left = {module: self.own_imports(module) & {*self.modules} for module in self.modules}
        left = {module: needs - {module} for module, needs in left.items()}
        while leaves := [module for module, needs in left.items() if not needs & left.keys()]:
            for module in leaves:
                del left[module]
        return sorted(left)
