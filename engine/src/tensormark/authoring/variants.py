"""Known wrong variants: mistakes that students make, as small edits of the solution.

They are in grader/mistakes/, and have two uses: the output of each is recorded, so that the grader
can recognize and name the mistake; and a test grades each, and asserts that the right exercise
fails with the right name. Students receive the tensors and the names, never these edits.
"""

import contextlib
import dataclasses
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tensormark.usage import UserError


@dataclasses.dataclass(frozen=True)
class Variant:
    """One mistake.

    Attributes:
        id: its name for other tools, such as "no_scale".
        exercise: the exercise whose points it costs.
        section: the part of the problem in the handout that explains it, such as "The mask".
        says: one line that names the mistake, not the code that fixes it; lower case.
        edits: (old, new) pairs; each old text occurs exactly once in the exercise's region.
        everywhere: look for the old texts in the whole file (the mistake is in given code).
        module: the module of solution/ that it edits: its exercise's, which `open_course` sets, as
            it does `file`, where this mistake is defined.
        form_of: the id of the mistake of which this is another form, or None; it gets that name.
    """

    id: str
    exercise: str
    section: str
    says: str
    edits: tuple[tuple[str, str], ...]
    everywhere: bool = False
    form_of: str | None = None
    module: str = ""
    file: Path = Path()

    @property
    def name(self) -> str:
        """The id that the mistake is reported by."""
        return self.form_of or self.id

    def apply(self, source: str) -> str:
        """Return the solution's source with this mistake in it.

        Raises:
            VariantError: a text to replace does not occur exactly once.
        """
        begin, end = (0, len(source)) if self.everywhere else region_of(source, self.exercise)
        try:
            region = edited(source[begin:end], self.edits, self.id)
        except VariantError as error:
            place = "" if self.everywhere else f", in its region {self.exercise}"
            raise VariantError(
                f"{self.where()}{error} in solution/{self.module}.py{place}; "
                "write there what the solution now says, or delete the mistake"
            ) from None
        return source[:begin] + region + source[end:]

    def where(self) -> str:
        """Return the line of grader/mistakes/ that defines this, if it is found, and a colon."""
        with contextlib.suppress(OSError):
            for number, line in enumerate(self.file.read_text("utf-8").splitlines(), start=1):
                if f'"{self.id}"' in line:
                    return f"{'/'.join(self.file.parts[-3:])}, line {number}: "
        return ""


class VariantError(UserError):
    """A variant no longer matches the solution; the message names it."""


def edited(text: str, edits: Iterable[tuple[str, str]], name: str) -> str:
    """Return a text with edits, (old, new) pairs.

    Args:
        name: of what makes the edits.

    Raises:
        VariantError: an old text does not occur exactly once.
    """
    for old, new in edits:
        if text.count(old) != 1:
            raise VariantError(f"{name} finds {old!r} {text.count(old)} times, not once")
        text = text.replace(old, new)
    return text


def mistakes(
    exercise: str, section: str, table: Mapping[str, tuple[str, ...]], everywhere: bool = False
) -> tuple[Variant, ...]:
    """Make variants of one section from a table: id to `says` and then old and new texts."""
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
    """Make other forms of a mistake, which share its name: id to old and new texts."""
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
