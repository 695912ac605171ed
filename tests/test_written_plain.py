"""Sheets that are combined, compared with a plain sum; and runs that are killed."""

import csv
import random
import sqlite3
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

from courses import SHEET, Course, whole
from test_ledger_plain import rounded

from graded import ran

LINES = {"memory": (2, 1, 1), "rate": (Fraction(3, 2), Fraction(1, 2))}  # of SHEET


def draw_points(chance: random.Random, lines: tuple[Any, ...]) -> list[Fraction]:
    """Return the points that a marker gives for each line of a rubric, in quarters."""
    return [Fraction(chance.randrange(int(4 * most) + 1), 4) for most in lines]


def as_typed(chance: random.Random, points: list[Fraction]) -> str:
    """Write points as a sum of the lines, or as the number that they come to."""
    if chance.random() < 0.5:
        return chance.choice(["+", " + "]).join(f"{float(number):g}" for number in points)
    return chance.choice(["{:g}", "{:.2f}", "{:.4f}"]).format(float(sum(points)))


def test_a_class_has_exactly_the_points_of_a_plain_sum(course: Course) -> None:
    chance = random.Random(5)
    scores = {course.add(n, whole(float(n % 97))): n % 97 for n in range(150)}
    students = [*scores]
    opinions: dict[tuple[str, str], set[Fraction]] = {}
    sheets: list[dict[str, dict[str, str]]] = [{}, {}, {}]
    columns = [title for title in SHEET.split(",") if "(" in title]
    titles = dict(zip(LINES, columns, strict=True))
    for student in students:
        for question, lines in LINES.items():
            first = draw_points(chance, lines)
            for sheet in chance.sample(sheets, chance.choice([0, 1, 1, 1, 1, 1, 2, 3])):
                points = first if chance.random() < 0.9 else draw_points(chance, lines)
                opinions.setdefault((student, question), set()).add(sum(points, Fraction(0)))
                sheet.setdefault(student, {})[titles[question]] = as_typed(chance, points)
    paths = [course.folder / f"{name}.csv" for name in "abc"]
    for path, sheet in zip(paths, sheets, strict=True):
        head = chance.sample(["student", *titles.values()], 3)
        order = chance.sample(students, len(students))
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, head, delimiter=chance.choice(",;\t"))
            writer.writeheader()
            writer.writerows({"student": student} | sheet.get(student, {}) for student in order)

    assert course.grade(f"--written={','.join(map(str, paths))}") == 0

    book, settled, disputed = course.gradebook(), 0, 0
    for student in students:
        views = [opinions.get((student, question), set()) for question in LINES]
        for question, view in zip(LINES, views, strict=True):
            expected = str(float(min(view))).removesuffix(".0") if len(view) == 1 else ""
            assert book[student][question] == expected
        disputed += sum(len(view) > 1 for view in views)
        if all(len(view) == 1 for view in views):
            settled += 1
            total = scores[student] + sum(min(view) for view in views)
            assert float(book[student]["final"]) == rounded(Fraction(total))
        else:
            assert (book[student]["final"], book[student]["written"]) == ("", "")
    assert settled > 50
    assert disputed > 5
    assert course.graded == len(students)


KILLED = """
import os, sys
from decimal import Decimal
from pathlib import Path
from tensormark.classroom import finals
from tensormark.classroom.entry import Entry, Final, HandIn
from tensormark.classroom.ledger import Ledger
from tensormark.classroom.marks import Answer, Mark, Marks, Question
from tensormark.classroom.store import Store

class Rows(list):
    def __iter__(self):
        for place, row in enumerate(list.__iter__(self)):
            if sys.argv[2] == "die" and place == 2500:
                os.kill(os.getpid(), 9)
            yield row

mark_rows = finals._mark_rows
finals._mark_rows = lambda entries: Rows(mark_rows(entries))
points = Decimal(sys.argv[3])
answer = Answer("x", "memory", points, "", "AB", "sheet.csv, line 2")
marks = Marks([Mark(Question("memory", "", (Decimal(4),)), [answer])])
final = Final(float(points), written=marks)
entries = [Entry(HandIn(str(n), "", None), final=final) for n in range(5000)]
with Store(Path(sys.argv[1])) as store:
    finals.keep(store, Ledger(), entries)
"""


def test_a_killed_run_leaves_a_complete_version_with_its_marks_or_none(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"

    def keep(how: str, points: int) -> int:
        return ran(sys.executable, "-c", KILLED, store, how, points).returncode

    assert keep("live", 1) == 0
    assert keep("die", 2) == -9
    with sqlite3.connect(store) as file:
        query = "SELECT ledger, COUNT(*), MIN(points), MAX(points) FROM written GROUP BY ledger"
        assert file.execute(query).fetchall() == [(1, 5000, 1.0, 1.0)]
        finals = "SELECT ledger, COUNT(*), MAX(final) FROM final GROUP BY ledger"
        assert file.execute(finals).fetchall() == [(1, 5000, 1.0)]
        assert file.execute("SELECT COUNT(*) FROM ledger").fetchall() == [(1,)]

    assert keep("live", 2) == 0
    assert keep("live", 2) == 0
    with sqlite3.connect(store) as file:
        assert file.execute(query).fetchall() == [(1, 5000, 1.0, 1.0), (2, 5000, 2.0, 2.0)]
        assert file.execute(finals).fetchall() == [(1, 5000, 1.0), (2, 5000, 2.0)]
