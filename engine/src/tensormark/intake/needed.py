"""Which modules of a program a module needs: what it imports, and what these import."""

import re
from collections.abc import Mapping

STATEMENT = re.compile(r"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([^\n#;]+))", re.MULTILINE)


def _imported(text: str) -> set[str]:
    """Return the first names of all that a source imports; one that is no Python may have some."""
    names = set()
    for module, modules in STATEMENT.findall(text):
        names |= {module} if module else {part.split(".")[0].strip() for part in modules.split(",")}
    return {name.split()[0] for name in names if name}


def needed_by(module: str, sources: Mapping[str, str]) -> set[str]:
    """Return the modules among a program's that a module needs, itself included.

    Args:
        sources: module name to text of all of them.
    """
    needed, left = set[str](), [module]
    while left:
        name = left.pop()
        if name not in needed and name in sources:
            needed.add(name)
            left += _imported(sources[name])
    return needed | {module}
