"""Known wrong variants: mistakes that students make, as small edits of the solution.

They have two uses. `make references` records the output of each, so that the grader can name the
mistake when it sees it; tests/mutants grades each, and asserts that the right exercise fails with
the right name. Students receive the tensors and the names, never these edits.
"""

import dataclasses
import functools
import importlib
import pkgutil
import re
from collections.abc import Mapping
from types import ModuleType

from grader.assignment import MINBERT

# Mistakes that are also recorded in combination with every other of their exercise.
COMMON = frozenset(
    """
    no_attention_dropout attention_dropout_before_softmax mask_ignored no_scale
    add_norm_no_dropout add_norm_dropout_before_dense add_norm_dropout_after_norm
    gelu_missing layer_mask_dropped second_residual_of_input
    embed_no_dropout embed_dropout_before_norm no_positions
    mask_of_ones
    """.split()
)

# How many of 112 public solutions had a mistake, in some version; where a group was counted as one,
# each of its mistakes has the number of the group. The more frequent are named first, and any two
# of them are also recorded in combination.
SEEN: Mapping[str, int] = {
    "no_attention_dropout": 55,
    "attention_dropout_before_softmax": 3,
    "attention_dropout_on_context": 2,
    "attention_dropout_always": 1,
    "mask_hides_tokens": 7,
    "mask_hides_tokens_by_inf": 1,
    "mask_multiplied": 6,
    "heads_not_transposed": 6,
    "softmax_over_queries": 5,
    "axes_misread": 5,
    "scale_by_length": 5,
    "scale_twice": 5,
    "scale_after_softmax": 5,
    "no_scale": 3,
    "mask_extended_again": 1,
    "query_value_projections_swapped": 1,
    "add_norm_dropout_before_dense": 9,
    "add_norm_dropout_after_norm": 7,
    "add_norm_dropout_on_sum": 2,
    "residual_after_norm": 1,
    "dense_last": 1,
    "given_dense_ignored": 1,
    "second_residual_of_input": 4,
    "gelu_missing": 2,
    "interm_dense_skipped": 2,
    "layer_mask_dropped": 1,
    "embed_dropout_before_norm": 2,
    "embed_no_dropout": 1,
    "embed_dropout_twice": 1,
    "embed_dropout_rate": 1,
    "ids_added": 1,
    "embed_detached": 1,
    "weights_drawn_again": 1,
}


@dataclasses.dataclass(frozen=True)
class Variant:
    """One mistake.

    Attributes:
        id: what other tools see, such as "no_scale".
        exercise: whose points it costs.
        section: the part of the problem in the handout that explains it, such as "The mask".
        says: one line that names the mistake, not the code that fixes it; lower case.
        edits: (old, new) pairs; each old text occurs exactly once in the exercise's region.
        everywhere: look for the old texts in the whole file (the mistake is in given code).
        form_of: the id of the mistake of which this is another form, or None; it gets that name.
    """

    id: str
    exercise: str
    section: str
    says: str
    edits: tuple[tuple[str, str], ...]
    everywhere: bool = False
    form_of: str | None = None

    @property
    def name(self) -> str:
        """The id that the mistake is reported by."""
        return self.form_of or self.id

    @property
    def module(self) -> str:
        """The module of solution/ that it edits."""
        return MINBERT.exercise(self.exercise).module


class VariantError(ValueError):
    """A variant no longer matches the solution; the message names it."""


def mistakes(
    exercise: str, section: str, table: Mapping[str, tuple[str, ...]], everywhere: bool = False
) -> tuple[Variant, ...]:
    """Make variants of one section from a table: id to `says`, then old and new texts."""
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


def forms(of: Variant, table: Mapping[str, tuple[str, ...]]) -> tuple[Variant, ...]:
    """Make other forms of a mistake, which its name fits as well: id to old and new texts."""
    return tuple(
        dataclasses.replace(
            of, id=name, edits=tuple(zip(texts[::2], texts[1::2], strict=True)), form_of=of.id
        )
        for name, texts in table.items()
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
        VariantError: a text to replace does not occur exactly once.
    """
    begin, end = (0, len(source)) if variant.everywhere else region_of(source, variant.exercise)
    region = source[begin:end]
    for old, new in variant.edits:
        if region.count(old) != 1:
            found = f"{old!r} {region.count(old)} times, not once"
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
        raise VariantError(f"more than one variant is named {', '.join(sorted(twice))}")
    return found
