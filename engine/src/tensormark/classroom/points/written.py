"""The marks of a class for its written questions, from all sheets, which each run reads anew.

Where two sheets disagree, only staff can decide: neither counts until one is corrected. An unmarked
answer does not count as 0.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from tensormark.classroom.entry import HandIn, number_of
from tensormark.classroom.failure import FileError
from tensormark.classroom.marks import Answer, Mark, Marks, Question
from tensormark.classroom.points.rubric import read_rubric
from tensormark.classroom.points.sheet import read_sheet
from tensormark.classroom.students.names import Names
from tensormark.exercise import Assignment
from tensormark.reports.text import visible
from tensormark.usage import option

SHOWN = 20  # answers that are listed on the terminal


def sheet_paths(text: str) -> list[Path]:
    """Return the paths in WRITTEN=, which commas separate: sheets and folders of them."""
    names = [text] if os.path.lexists(text) else text.split(",")
    return [Path(name.strip()) for name in names if name.strip()]


@dataclass(frozen=True)
class Written:
    """The marks in all sheets; `answers` are by student and question."""

    questions: Sequence[Question]
    sheets: int
    answers: dict[tuple[str, str], list[Answer]] = field(default_factory=dict)

    @property
    def most(self) -> Decimal:
        """The points of all questions."""
        return sum((question.most for question in self.questions), Decimal(0))

    def marks(self, student: str) -> Marks:
        """Return a student's marks."""
        return Marks(
            tuple(
                Mark(question, self.answers.get((student, question.id), ()))
                for question in self.questions
            )
        )

    def lines(self, hand_ins: Sequence[HandIn]) -> Iterator[str]:
        """Yield the progress of marking, and each answer on which sheets disagree."""
        everybody = [self.marks(hand_in.student) for hand_in in hand_ins]
        full = sum(marks.points is not None for marks in everybody)
        part = sum(marks.points is None and marks.begun for marks in everybody)
        absent = sum(
            hand_in.path is None and not hand_in.fault and not marks.begun
            for hand_in, marks in zip(hand_ins, everybody, strict=True)
        )
        yield (
            f"written: {number_of(self.sheets, 'sheet')}: {number_of(full, 'student')} marked in "
            f"full, {part} in part, {len(hand_ins) - full - part} not at all"
            + (f" ({absent} handed in nothing)" if absent else "")
        )
        disputed = [
            (hand_in, mark)
            for hand_in, marks in zip(hand_ins, everybody, strict=True)
            for mark in marks.marks
            if mark.disputed
        ]
        if disputed:
            count = number_of(len(disputed), "answer")
            have = "has" if len(disputed) == 1 else "have"
            why = "different points in different sheets, so neither counts until one is corrected"
            yield f"written: {count} {have} {why}:"
        for hand_in, mark in disputed[:SHOWN]:
            points = ", ".join(str(answer) for answer in mark.answers if answer.points is not None)
            yield f"  {visible(hand_in.called, 60)}, {mark.question.id}: {points}"
        if len(disputed) > SHOWN:
            yield f"  and {len(disputed) - SHOWN} more; the gradebook's `how` names them"


def files_of(name: str, text: str) -> Iterator[Path]:
    """Yield the files that an option names; in a folder, all .csv files.

    Raises:
        FileError: a folder has none.
    """
    for path in sheet_paths(text):
        files = sorted(path.glob("[!.]*.csv")) if path.is_dir() else [path]
        if not files:
            raise FileError(f"{option(name, text)}: there is no .csv file in {path}")
        yield from files


def read_written(text: str, hand_ins: Sequence[HandIn], assignment: Assignment) -> Written:
    """Read the sheets that WRITTEN= names.

    Raises:
        FileError: one cannot be used, or the rubric cannot.
    """
    questions, names = read_rubric(assignment), Names(hand_ins)
    paths = list(files_of("written", text))
    answers: dict[tuple[str, str], list[Answer]] = {}
    real_paths = set[str]()
    for path in paths:
        if (real_path := os.path.realpath(path)) in real_paths:
            raise FileError(f"{option('written', text)}: names {path} twice; remove one")
        real_paths.add(real_path)
        for answer in read_sheet(path, questions, names):
            answers.setdefault((answer.student, answer.question), []).append(answer)
    return Written(questions, len(paths), answers)
