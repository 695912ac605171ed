"""Correct solutions written differently, as students write them.

They have two uses. `make references` measures with them how much honest code may differ from the
references; tests/honest grades each, and asserts that it loses no points.
"""

import dataclasses
import functools
import importlib
import pkgutil
import re
import textwrap
from collections.abc import Callable, Mapping

from instructor.references.variants import VariantError, region_of, variant_modules


@dataclasses.dataclass(frozen=True)
class Honest:
    """One correct solution.

    Attributes:
        bodies: exercise to the code that fills its hole, indented from 0.
        edits: (old, new) pairs, applied after the bodies; each old text occurs once in the file.
        whole: a final change of the whole text.
        module: the module of solution/ that it changes.
    """

    id: str
    bodies: Mapping[str, str] = dataclasses.field(default_factory=dict)
    edits: tuple[tuple[str, str], ...] = ()
    whole: Callable[[str], str] = str
    module: str = "bert"

    def apply(self, source: str) -> str:
        """Return the solution's source with these changes.

        Raises:
            VariantError: a text to replace does not occur exactly once.
        """
        for exercise, body in self.bodies.items():
            begin, end = region_of(source, exercise)
            indent = re.match(" *", source[end:])
            filled = textwrap.indent(textwrap.dedent(body).strip("\n"), indent[0] if indent else "")
            source = f"{source[:begin]}{filled}\n{source[end:]}"
        for old, new in self.edits:
            if source.count(old) != 1:
                raise VariantError(f"{self.id} finds {old!r} {source.count(old)} times, not once")
            source = source.replace(old, new)
        return self.whole(source)


@functools.cache
def honest() -> tuple[Honest, ...]:
    """Return every honest variant, those that stand beside wrong ones last."""
    modules = [
        importlib.import_module(f"{__name__}.{info.name}")
        for info in pkgutil.iter_modules(__path__)
    ]
    found = [one for module in modules for one in module.HONEST]
    return (*found, *(one for module in variant_modules() for one in getattr(module, "HONEST", ())))
