"""Texts of questions as markup, and code with the line numbers of its file."""

import dataclasses
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from tensormark.reports.markup import Element, element, joined, say
from tensormark.reports.text import visible
from tensormark.viva.question import Listing, Mark, Question, Sheet

LETTERS = "ABCD"  # of the options
MAX_TEXT_LENGTH = 2000  # characters
MAX_LINE_WIDTH = 300  # of a line of code
MAX_LISTING_LENGTH = 40_000  # characters of a function's lines


def parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the pieces of a text, and whether each is code; an unpaired backtick stays as it is."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        pieces[-2:] = ["`".join(pieces[-2:])]
    yield from ((place % 2 == 1, piece) for place, piece in enumerate(pieces) if piece)


def marked(text: str) -> Element:
    """Return a text as markup, with its code marked up."""
    return joined(
        *(
            element("code", say(piece, MAX_TEXT_LENGTH, keep="\n"))
            if is_code
            else say(piece, MAX_TEXT_LENGTH)
            for is_code, piece in parts(text)
        )
    )


class Row(NamedTuple):
    """A line of a listing as it is shown; its marks count the columns of this text."""

    number: int
    text: str
    marks: tuple[Mark, ...]


def _shifted(mark: Mark, text: str, indentation: int) -> Mark:
    start, end = (min(max(0, column - indentation), len(text)) for column in (mark.start, mark.end))
    return dataclasses.replace(mark, start=start, end=end)


def dedented(listing: Listing, marks: Iterable[Mark] = ()) -> list[Row]:
    """Return a listing's lines without their common indentation, outer marks before inner ones."""
    own_marks = [mark for mark in marks if mark.function == listing.name]
    lines = [(number, text.expandtabs(4).rstrip()) for number, text in listing.lines]
    indentation = min((len(text) - len(text.lstrip()) for _, text in lines if text), default=0)
    rows = []
    for number, line in lines:
        text = line[indentation : indentation + MAX_LINE_WIDTH] + " ..." * (
            len(line) > indentation + MAX_LINE_WIDTH
        )
        on_line = (_shifted(mark, text, indentation) for mark in own_marks if mark.line == number)
        rows.append(Row(number, text, tuple(sorted(on_line, key=lambda m: (m.start, -m.end)))))
    return rows


def _carets(row: Row) -> list[str]:
    """Return lines with carets under the marked code, each followed by its label."""
    lines = list[list[str]]()
    for mark in sorted(row.marks, key=lambda m: m.end - m.start):  # the inner ones come first
        start = len(visible(row.text[: mark.start]))
        carets = "^" * max(1, len(visible(row.text[mark.start : mark.end])))
        caret_label = carets + visible(mark.label)
        end = start + len(caret_label)
        free = (row for row in lines if not "".join(row[max(0, start - 1) : end + 1]).strip())
        line = next(free, None)
        if line is None:
            line = [" "] * len(visible(row.text))
            lines.append(line)
        line[start:end] = caret_label
    return ["".join(line).rstrip() for line in lines]


def numbered(listing: Listing, marks: Iterable[Mark] = ()) -> list[list[str]]:
    """Return, for each line of a listing, its number and text, and lines that show its marks."""
    width = max((len(str(number)) for number, _ in listing.lines), default=1)
    return [
        [
            f"{row.number:>{width}}  {visible(row.text)}".rstrip(),
            *(f"{'':{width}}  {line}" for line in _carets(row)),
        ]
        for row in dedented(listing, marks)
    ]


def labelled_marks(question: Question, sheet: Sheet) -> list[Mark]:
    """Return the marks that a question's texts refer to, with their labels."""
    places = {dataclasses.replace(mark, label="") for mark in question.marks}
    return [mark for mark in sheet.marks if dataclasses.replace(mark, label="") in places]


def fragment(question: Question, sheet: Sheet) -> Element:
    """Return a question for a platform: its code in brackets, its prompt, and the function."""
    listing = next(each for each in sheet.listings if each.name == question.function)
    lines = "\n".join(chain(*numbered(listing, labelled_marks(question, sheet))))
    code = element("code", say(lines, MAX_LISTING_LENGTH, keep="\n"))
    prompt = element("p", f"[{question.code}] ", marked(question.prompt))
    return joined(prompt, element("pre", code))
