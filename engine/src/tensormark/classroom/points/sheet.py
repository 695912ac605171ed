"""Reads and writes sheets: CSV files in which staff mark written questions, a row per student.

    student,name,memory (2 + 1 + 1),memory comment,...,who
    ada,Ada Lovelace,2+0.5+1,only one saving,...,AB

Points are one number, or one for each item of the rubric: `2+0.5+1`; `2,5` is invalid. An empty
cell is not marked yet. Columns and rows may be missing; their order does not matter.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from tensormark.classroom.entry import HandIn, legible
from tensormark.classroom.failure import FileError
from tensormark.classroom.marks import Answer, Question
from tensormark.classroom.students.names import Names
from tensormark.classroom.typed import lines_of, plain
from tensormark.files import write_whole
from tensormark.reports.platforms import cell, csv_text
from tensormark.reports.text import shown, visible
from tensormark.usage import command, option

STUDENT, NAME, WHO = "student", "name", "who"
LARGEST = 32 << 20  # bytes
STUDENTS = 200_000  # rows; an unmarked sheet with that many is about that large
LONGEST = 1000  # characters of a comment, as many as a report shows
TERM = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,4})?", re.ASCII)


def _titles(questions: Sequence[Question]) -> list[str]:
    pairs = (title for question in questions for title in (question.column, question.comment))
    return [STUDENT, NAME, *pairs, WHO]


def _key(title: str) -> str:
    return " ".join(title.split()).casefold()


def _header(path: Path, cells: Sequence[str], questions: Sequence[Question]) -> list[str]:
    """Return the titles of a sheet's columns, spelled as in `_titles`."""
    titles_by_key = {_key(title): title for title in _titles(questions)}
    titles = []
    for text in cells:
        title, excerpt = titles_by_key.get(_key(text)), visible(text, 60)
        if title is None:
            columns = [each.column for each in questions if _key(text).startswith(f"{each.id} ")]
            fix = f"it is now {columns[0]!r}" if columns else f"`{command('sheet')}` writes a sheet"
            raise FileError(f"{path}: {excerpt!r} is not a column; {fix}")
        if title in titles:
            raise FileError(f"{path}: {excerpt!r} occurs twice; delete one of the columns")
        titles.append(title)
    if STUDENT not in titles:
        raise FileError(f"{path}: has no column {STUDENT}; `{command('sheet')}` writes a sheet")
    return titles


def _rows(
    path: Path, questions: Sequence[Question], complete: bool = False
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield where each row of a sheet is, and its cells that are not empty, by column title.

    Args:
        complete: whether every column must be present.
    """
    lines = lines_of(path, LARGEST)
    titles = _header(path, next(lines, ("", []))[1], questions)
    if complete and len(titles) < len(_titles(questions)):
        raise FileError(f"{path}: lacks columns; `{command('sheet')}` writes a sheet")
    for count, (where, cells) in enumerate(lines):
        if len(cells) > len(titles):
            fix = "quote text that contains commas"
            raise FileError(f"{where}: has more cells than the first line; {fix}")
        if count == STUDENTS:
            raise FileError(f"{where}: is beyond {STUDENTS} rows; name another file")
        row = zip(titles, cells, strict=False)
        yield where, {title: text for title, text in row if text}


def _points(where: str, question: Question, text: str) -> Decimal:
    terms = [term.strip() for term in text.split("+")]
    items = "+".join(map(shown, question.items))
    if not all(map(TERM.fullmatch, terms)):
        fix = f"write a number such as 1.5, or one for each item of the rubric, as in {items}"
        raise FileError(f"{where}: {question.id}: {visible(text, 40)!r} is not points; {fix}")
    limits = [question.most] if len(terms) == 1 else question.items
    if len(terms) != len(limits):
        raise FileError(
            f"{where}: {question.id}: {visible(text, 40)} is not one number for each item of the "
            f"rubric, like {items}; write them all, or their sum"
        )
    for term, most in zip(terms, limits, strict=True):
        if Decimal(term) > most:
            what = "the question" if len(terms) == 1 else "that item of the rubric"
            about = f"{term} is out of range; {what} has {shown(most)}"
            raise FileError(f"{where}: {question.id}: {about}")
    return sum(map(Decimal, terms), Decimal(0))


def _answers(
    where: str, student: str, row: Mapping[str, str], questions: Sequence[Question]
) -> Iterator[Answer]:
    who = plain(row.get(WHO, ""), 40)
    for question in questions:
        points, comment = row.get(question.column, ""), row.get(question.comment, "")
        if len(comment) > LONGEST:
            about = f"the comment has {len(comment)} characters; shorten it to {LONGEST}"
            raise FileError(f"{where}: {question.id}: {about}")
        if points or comment:
            yield Answer(
                student=student,
                question=question.id,
                points=_points(where, question, points) if points else None,
                comment=plain(" ".join(comment.split()), LONGEST),
                who=who,
                where=where,
            )


def read_sheet(path: Path, questions: Sequence[Question], names: Names) -> list[Answer]:
    """Read the answers that a sheet marks.

    Raises:
        FileError: it is not a sheet, or something in it is invalid.
    """
    answers, rows = list[Answer](), dict[str, str]()
    for where, row in _rows(path, questions):
        empty, name = set(row) <= {STUDENT, NAME, WHO}, row.get(STUDENT, "")
        student = names.find(name) if empty else names.student(where, name)
        if student is None:
            continue  # an unknown student without marks
        if (first := rows.setdefault(student, where)) != where:
            line, who = first.rpartition(", ")[2], visible(row[STUDENT], 60)
            raise FileError(f"{where}: {who} already has a row, {line}; keep one of them")
        answers += _answers(where, student, row, questions)
    return answers


def _is_empty(path: Path, questions: Sequence[Question]) -> bool:
    """Say whether a file is a sheet that nobody has filled in."""
    try:
        return all(set(row) <= {STUDENT, NAME} for _, row in _rows(path, questions, complete=True))
    except FileError:
        return False


def write_sheet(
    path: Path, hand_ins: Sequence[HandIn], questions: Sequence[Question]
) -> tuple[int, list[str]]:
    """Write a sheet; return how many students it has, and whose names were too ambiguous.

    Raises:
        FileError: another file is there, such as a sheet with marks. OSError: it cannot be
            written.
    """
    if (path.is_symlink() or path.exists()) and not _is_empty(path, questions):
        why = "exists, and is not an empty sheet of this rubric"
        raise FileError(f"{option('out', path)}: {why}; name another file")
    names = Names(hand_ins)
    listed, ambiguous = list[HandIn](), list[HandIn]()
    for hand_in in hand_ins:
        if hand_in.fault and not hand_in.known:
            continue  # nobody knows whose it is
        match = names.find(str(cell(legible(hand_in.student))).strip())
        (listed if match == hand_in.student else ambiguous).append(hand_in)
    blank = [None] * (2 * len(questions) + 1)
    rows = [[legible(each.student), legible(each.name), *blank] for each in listed]
    write_whole(path, csv_text([_titles(questions), *rows]))
    return len(listed), [visible(each.called, 60) for each in ambiguous]
