"""Find the modules of a program that a module needs: what it imports, directly or indirectly."""

import re
from collections.abc import Mapping

STATEMENT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)|import[ \t]+([^\n#;]+))", re.MULTILINE)


def _imported(text: str) -> set[str]:
    """Return the names of all imported modules in a source, which need not be valid Python."""
    names = set()
    for module, modules in STATEMENT.findall(text):
        names |= {module} if module else {part.strip() for part in modules.split(",")}
    return {name.split()[0] for name in names if name}


def needed_by(module: str, sources: Mapping[str, str]) -> set[str]:
    """Return the modules of a program that a module needs, itself included.

    Args:
        sources: module name to text, of the whole program.
    """
    needed: set[str] = set()
    pending = [module]
    while pending:
        name = pending.pop()
        if name not in needed and name in sources:
            needed.add(name)
            pending += _imported(sources[name])
            pending += [name.rpartition(".")[0]]  # the package that it is in
    return needed | {module}
