"""A CSV file whose cells know where they stand, so that one can be replaced and no byte besides."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

QUOTE = '"'
DOUBLED = re.compile('"("?)')  # a quote within quotes; one alone ends them


class CellsError(ValueError):
    """A file that is not CSV; the message says where."""


@dataclass(frozen=True)
class Cell:
    """A cell: what it says, and where it stands in the text, its quotes included."""

    text: str
    begin: int
    end: int


def separator_of(text: str) -> str:
    """Return what stands between the cells of the first line: a comma, semicolon or tab."""
    unquoted = "".join(text.split("\n", 1)[0].split(QUOTE)[::2])
    return max(",;\t", key=unquoted.count)


def quoted_end(text: str, begin: int) -> int:
    """Return where a cell that begins with a quote ends.

    Raises:
        CellsError: it does not.
    """
    place = begin + 1
    while (place := text.find(QUOTE, place)) >= 0:
        if text[place + 1 : place + 2] != QUOTE:
            return place + 1
        place += 2
    line = text.count("\n", 0, begin) + 1
    raise CellsError(f"the quote in line {line} has no end")


def rows_of(text: str, separator: str) -> list[list[Cell]]:
    """Return the cells of a CSV file, by row.

    Raises:
        CellsError: a quote has no end.
    """
    rows: list[list[Cell]] = []
    row: list[Cell] = []
    stop = re.compile(f"[{separator}\r\n]|\\Z")
    place = 0
    while place < len(text) or row:
        begin = place
        if text[place : place + 1] == QUOTE:
            place = quoted_end(text, begin)
        # what follows a closing quote belongs to the cell, as in other programs
        found = stop.search(text, place)
        place = found.start() if found else len(text)
        raw = text[begin:place]
        inner = DOUBLED.sub(lambda found: found[1], raw[1:])
        row.append(Cell(inner if raw[:1] == QUOTE else raw, begin, place))
        if text[place : place + 1] == separator:
            place += 1
            continue
        rows.append(row)
        row = []
        place += 2 if text[place : place + 2] == "\r\n" else 1
    return rows


def with_cells(text: str, replaced: Mapping[Cell, str]) -> str:
    """Return a text with some cells replaced; those that were quoted are so again.

    Args:
        replaced: cell to new text, which has no quotes.
    """
    parts, place = [], 0
    for cell in sorted(replaced, key=lambda cell: cell.begin):
        mark = QUOTE if text[cell.begin : cell.begin + 1] == QUOTE else ""
        parts += [text[place : cell.begin], mark, replaced[cell], mark]
        place = cell.end
    return "".join([*parts, text[place:]])
