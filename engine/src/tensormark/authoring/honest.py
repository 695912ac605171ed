"""Correct solutions written differently, as students write them.

They are in grader/honest/, and have two uses: they show how much right code may differ from the
references; and a test grades each, and asserts that it loses no points.
"""

import dataclasses
import re
import textwrap
from collections.abc import Callable, Mapping

from tensormark.authoring.variants import edited, region_of


@dataclasses.dataclass(frozen=True)
class Honest:
    """One correct solution.

    Attributes:
        bodies: exercise to the code that fills its hole, indented from 0.
        edits: (old, new) pairs, applied after the bodies; each old text occurs once in the file.
        whole: a final change of the whole text.
        module: the module of solution/ that it changes; empty: that of its first exercise, or the
            main file's if it fills no hole.
    """

    id: str
    bodies: Mapping[str, str] = dataclasses.field(default_factory=dict)
    edits: tuple[tuple[str, str], ...] = ()
    whole: Callable[[str], str] = str
    module: str = ""

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
        return self.whole(edited(source, self.edits, self.id))


def bodies(exercise: str, table: Mapping[str, str]) -> tuple[Honest, ...]:
    """Make variants that fill one hole, from a table of ids and bodies."""
    return tuple(Honest(name, {exercise: body}) for name, body in table.items())
