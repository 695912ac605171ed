"""Known wrong variants: what students really write, as small edits of the solution.

They serve twice. `make references` records what each would give, so that the grader can name a
mistake when it meets it; tests/mutants grades each, and asserts that the right exercise fails and
that the right name is given. Students receive the tensors and the names, never these edits.
"""

import dataclasses
import functools
import importlib
import pkgutil
import re
from collections.abc import Mapping
from types import ModuleType

from grader.assignment import MINBERT

# The mistakes that are made most often: those that others are recorded together with.
COMMON = frozenset(
    """
    no_attention_dropout attention_dropout_before_softmax mask_ignored no_scale
    add_norm_no_dropout add_norm_dropout_before_dense add_norm_dropout_after_norm
    gelu_missing layer_mask_dropped second_residual_of_input
    embed_no_dropout embed_dropout_before_norm no_positions
    mask_of_ones
    """.split()
)


@dataclasses.dataclass(frozen=True)
class Variant:
    """One mistake.

    Attributes:
        id: what other tools see, such as "no_scale".
        exercise: whose points it costs.
        section: where the problem's text in the handout speaks of it, such as "The mask".
        says: one line that names the mistake and not the code that mends it; lower case.
        edits: (old, new) pairs; each old text stands exactly once in the exercise's region.
        everywhere: look for the old texts in the whole file (the mistake is in given code).
    """

    id: str
    exercise: str
    section: str
    says: str
    edits: tuple[tuple[str, str], ...]
    everywhere: bool = False

    @property
    def module(self) -> str:
        """The module of solution/ that it is an edit of."""
        return MINBERT.exercise(self.exercise).module


class VariantError(ValueError):
    """A variant does not fit the solution any more; the message names it."""


def mistakes(
    exercise: str, section: str, table: Mapping[str, tuple[str, ...]], everywhere: bool = False
) -> tuple[Variant, ...]:
    """Make variants of one section from a table: id to what it says, then old and new texts."""
    return tuple(
        Variant(
            id=name,
            exercise=exercise,
            section=section,
            says=says,
            edits=tuple(zip(texts[::2], texts[1::2], strict=True)),
            everywhere=everywhere,
        )
        for name, (says, *texts) in table.items()
    )


def region_of(source: str, exercise: str) -> tuple[int, int]:
    """Return where an exercise's region begins and ends in a source of solution/."""
    begin = re.search(rf"### BEGIN SOLUTION {exercise}\n", source)
    end = re.search(rf"^ *### END SOLUTION {exercise}$", source, re.MULTILINE)
    if begin is None or end is None:
        raise VariantError(f"the solution has no region {exercise}")
    return begin.end(), end.start()


def apply(variant: Variant, source: str) -> str:
    """Return the solution's source with the variant's mistake in it.

    Raises:
        VariantError: a text that should be replaced is not there exactly once.
    """
    begin, end = (0, len(source)) if variant.everywhere else region_of(source, variant.exercise)
    region = source[begin:end]
    for old, new in variant.edits:
        if region.count(old) != 1:
            found = f"{region.count(old)} times {old!r}, not once"
            raise VariantError(f"variant {variant.id} finds {found}")
        region = region.replace(old, new)
    return source[:begin] + region + source[end:]


def variant_modules() -> list[ModuleType]:
    """Return the modules of this room; each has VARIANTS, and may have HONEST."""
    names = [info.name for info in pkgutil.iter_modules(__path__)]
    return [importlib.import_module(f"{__name__}.{name}") for name in names]


@functools.cache
def variants() -> tuple[Variant, ...]:
    """Return every known wrong variant, by file and then in the order of the file.

    Raises:
        VariantError: two have the same id.
    """
    found = tuple(variant for module in variant_modules() for variant in module.VARIANTS)
    ids = [variant.id for variant in found]
    if twice := {name for name in ids if ids.count(name) > 1}:
        raise VariantError(f"more than one variant is called {', '.join(sorted(twice))}")
    return found
