"""Variants of the solution: mistakes that students make, and right code that looks different.

Known mistakes, in grader/mistakes/, have two uses: the output of each is recorded, so that the
grader can recognize and name the mistake; and a test grades each, and asserts that the right
exercise fails with the right name. Students receive the tensors and the names, never these edits.

Honest variants, in grader/honest/ or with the mistakes of their exercise, show how much right code
may differ from the references; and a test grades each, and asserts that it loses no points.
"""

import ast
import contextlib
import dataclasses
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from tensormark.usage import UserError, one_line

Edits = tuple[tuple[str, str], ...]  # pairs of an old text and its replacement
SECTION = "## "
EDIT = re.compile(r"((?: +-(?: .*)?\n)+)((?: +\+(?: .*)?\n)+)")  # an old text and its new one
HEADLINE = re.compile(r"(\w+)(, in given code)?(, unnamed)?(?:: (\S.*)| = (\w+))")


class VariantError(UserError):
    """A variant is malformed, or no longer matches the solution; the message names it."""


@dataclasses.dataclass(frozen=True)
class Variant:
    """One mistake.

    Attributes:
        id: its name for other tools, such as "no_scale".
        exercise: the exercise whose points it costs.
        section: the part of the problem in the handout that explains it, such as "The mask".
        says: one line that names the mistake, not the code that fixes it; lower case.
        edits: each old text occurs exactly once in the exercise's region.
        everywhere: look for the old texts in the whole file (the mistake is in given code).
        module: the module of solution/ that it edits: its exercise's, which `open_course` sets, as
            it does `file`, where this mistake is defined.
        unnamed: it fails without a name of its own, because what its calls raise or draw cannot be
            told apart.
        form_of: the id of the mistake of which this is another form, or None; it gets that name.
    """

    id: str
    exercise: str
    section: str
    says: str
    edits: Edits
    everywhere: bool = False
    unnamed: bool = False
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
            VariantError: a text to replace does not occur exactly once, or the new one is no
                Python.
        """
        begin, end = (0, len(source)) if self.everywhere else region_of(source, self.exercise)
        try:
            region = edited(source[begin:end], self.edits, self.id)
        except VariantError as error:
            place = "" if self.everywhere else f", in its region {self.exercise}"
            raise VariantError(
                f"{self.where()}{error} in solution/{self.module}.py{place}; "
                "replace it with what the solution now says, or delete the mistake"
            ) from None
        return parsed(source[:begin] + region + source[end:], f"{self.where()}{self.id}")

    def fits(self, source: str) -> bool:
        """Return whether it can be made in a source."""
        try:
            return bool(self.apply(source))
        except VariantError:
            return False

    def where(self) -> str:
        """Return the line of grader/mistakes/ that defines this, if it is found, and a colon."""
        with contextlib.suppress(OSError):
            for number, line in enumerate(self.file.read_text("utf-8").splitlines(), start=1):
                if re.match(rf"\s*{self.id}(,|:| =) ", line):
                    return f"{'/'.join(self.file.parts[-3:])}, line {number}: "
        return ""


def parsed(source: str, name: str) -> str:
    """Return a source as it is.

    Raises:
        VariantError: it is no Python.
    """
    try:
        ast.parse(source, "the solution with it")
    except SyntaxError as error:
        raise VariantError(f"{name} is no Python: {one_line(error)}") from None
    return source


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


def _unsigned(lines: str) -> str:
    texts = [line.lstrip()[2:] for line in lines.splitlines()]
    return "\n".join(texts).rstrip()


def edits_of(lines: Sequence[str], name: str) -> Edits:
    """Read edits from indented lines: those of an old text begin with `-`, its new one's with `+`.

    Spaces after a text do not count; a `+` alone removes the old text.

    Args:
        name: of what makes the edits.

    Raises:
        VariantError: another line is among them, or an old text has no new one.
    """
    text = "".join(f"{line}\n" for line in lines)
    if not re.fullmatch(f"(?:{EDIT.pattern})+", text):
        raise VariantError(
            f"{name}: each line of an old text must begin with `- `, and each of the new text that "
            "follows it with `+ `"
        )
    return tuple((_unsigned(old), _unsigned(new)) for old, new in EDIT.findall(text))


def mistakes(exercise: str, text: str) -> tuple[Variant, ...]:
    """Read the mistakes in an exercise from a text such as this:

        ## The bias

        bias_forgotten: the bias is forgotten
            - + self.bias
            +
        bias_of_zeros = bias_forgotten
            - self.bias
            + 0.0 * self.bias

    A section, which is a bold part of the handout's problem, is followed by its mistakes: the id,
    what reports say, and what is replaced; or the id, and another one of which it is a form. After
    `id, in given code: ...`, the old texts are looked for in the whole file; `id, unnamed: ...` is
    a mistake that is noticed, but not recognized.

    Raises:
        VariantError: the text cannot be read.
    """
    blocks: list[list[str]] = []  # a line that is not indented, and those below it
    for line in textwrap.dedent(text).splitlines():
        if line.startswith(" ") and blocks:
            blocks[-1].append(line)
        elif line.strip():
            blocks.append([line])
    found: dict[str, Variant] = {}
    section = ""
    for head, *lines in blocks:
        if head.startswith(SECTION) and not lines:
            section = head.removeprefix(SECTION)
            continue
        headline = HEADLINE.fullmatch(head)
        if headline is None or (headline[5] and headline[5] not in found):
            raise VariantError(
                f"{exercise}: neither a section, a mistake nor a form of one above: {head!r}"
            )
        name, everywhere, unnamed, says, other = headline.groups()
        if name in found:
            raise VariantError(f"{exercise}: more than one mistake is named {name}")
        edits = edits_of(lines, name)
        if other:
            found[name] = dataclasses.replace(found[other], id=name, edits=edits, form_of=other)
        else:
            found[name] = Variant(
                name, exercise, section, says, edits, bool(everywhere), bool(unnamed)
            )
    return tuple(found.values())


def region_of(source: str, exercise: str) -> tuple[int, int]:
    """Return where an exercise's region begins and ends in a source of solution/."""
    begin = re.search(rf"### BEGIN SOLUTION {exercise}\n", source)
    end = re.search(rf"^ *### END SOLUTION {exercise}$", source, re.MULTILINE)
    if begin is None or end is None:
        raise VariantError(f"the solution has no region {exercise}")
    return begin.end(), end.start()


@dataclasses.dataclass(frozen=True)
class Honest:
    """One correct solution.

    Attributes:
        bodies: exercise to the code that fills its hole, indented from 0.
        edits: (old, new) pairs, applied after the bodies; each old text occurs once in the file.
        whole: a final change of the whole text.
        module: the module of solution/ that it changes; empty: that of its first exercise, or the
            main file's if it fills no hole.
        differs: whether it returns other values, which are as right: they are recorded, too.
    """

    id: str
    bodies: Mapping[str, str] = dataclasses.field(default_factory=dict)
    edits: tuple[tuple[str, str], ...] = ()
    whole: Callable[[str], str] = str
    module: str = ""
    differs: bool = False

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
        return parsed(self.whole(edited(source, self.edits, self.id)), self.id)


def bodies(exercise: str, table: Mapping[str, str]) -> tuple[Honest, ...]:
    """Make variants that fill one hole, from a table of ids and bodies."""
    return tuple(Honest(name, {exercise: body}) for name, body in table.items())
