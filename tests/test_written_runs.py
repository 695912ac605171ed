"""Sheets of marks from run to run: read anew each time, and stored whole or not at all."""

import contextlib
import sqlite3
import sys
from pathlib import Path

import pytest
from courses import SHEET, Course, whole
from test_ledger import shapes

from graded import ran
from test_payloads import PAYLOADS, is_clean

Capture = pytest.CaptureFixture[str]


def test_no_comment_takes_effect_anywhere(course: Course, capsys: Capture) -> None:
    texts = [text[:900].replace('"', '""') for text in PAYLOADS if "\0" not in text]
    students = [course.add(number, whole()) for number in range(len(texts))]

    def grade(texts: list[str]) -> None:
        for name, points in (("a.csv", "1"), ("b.csv", "2")):
            rows = [
                f'{student},4,"{text}",{points},"{text}","{text}{name}"'
                for student, text in zip(students, texts, strict=True)
            ]
            path = course.folder / name
            path.write_bytes((SHEET + "\n".join(rows)).encode("utf-8", "replace"))
        assert course.grade(f"--written={course.folder}/a.csv,{course.folder}/b.csv") == 0

    grade(["harmless"] * len(texts))
    before = shapes(course)
    grade(texts)

    assert shapes(course) == before
    assert is_clean(capsys.readouterr().out)
    assert all(is_clean(row["how"]) for row in course.gradebook().values())
    stored = course.ask("SELECT comments, who FROM written")
    assert all(is_clean(text.replace("\n", "")) for row in stored for text in row)


def test_many_disagreements_are_counted_and_the_first_are_listed(
    course: Course, capsys: Capture
) -> None:
    students = [course.add(number, whole()) for number in range(25)]
    first = course.sheet(*(f"{student},4,,1,,AB" for student in students), name="a.csv")
    second = course.sheet(*(f"{student},4,,0,,CD" for student in students), name="b.csv")

    assert course.grade(f"--written={first},{second}") == 0

    output = capsys.readouterr().out
    assert "written: 25 answers have different points in different sheets" in output
    assert output.count(f", rate: 1 (AB, {first}, line ") == 20
    assert "  and 5 more; the gradebook's `how` names them\n" in output
    assert all("rate (1 or 0)" in row["how"] for row in course.gradebook().values())


def test_a_folder_of_sheets_is_read_anew_and_later_runs_remember_it(
    course: Course, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = course.add(1, whole(50))
    sheets = course.folder / "sheets"
    sheets.mkdir()
    course.sheet(f"{ada},4,,,,", name="sheets/a.csv")
    course.sheet(head="no sheet", name="sheets/.~lock.a.csv")
    monkeypatch.chdir(course.folder)
    assert course.grade("--written=sheets") == 0
    assert course.gradebook()[ada]["how"] == "written: not marked: rate"

    course.sheet(f"{ada},,,2,,", name="sheets/b.csv")
    monkeypatch.chdir("/")
    capsys.readouterr()
    assert course.grade("--only", ada) == 0

    output = capsys.readouterr().out
    assert f"as in the previous run: WRITTEN={sheets}" in output
    assert f"  {ada}: none before, 56 now\n" in output
    assert course.gradebook()[ada]["how"] == "50 + 6 (written) = 56"

    assert course.grade() == 0
    output = capsys.readouterr().out
    assert f"the previous run had WRITTEN={sheets}, and this one has none" in output
    assert "final: no longer in the gradebook; earlier versions stay in the store" in output
    assert "written" not in course.gradebook()[ada]


def test_sheets_among_the_hand_ins_are_nobodys_work(course: Course) -> None:
    ada = course.add(1, whole(50))
    sheet = course.sheet(f"{ada},4,,2,,", name="in/sheet.csv")

    assert course.grade(f"--written={sheet}") == 0

    assert [*course.gradebook()] == [ada]


def test_a_correction_makes_a_version_and_the_same_sheets_make_none(course: Course) -> None:
    ada = course.add(1, whole(50))
    for points in ("4", "4", "2+1+1", "3.5"):
        assert course.grade(f"--written={course.sheet(f'{ada},{points},,2,,')}") == 0
    assert course.grade(f"--written={course.sheet(f'{ada},3.5,new comment,2,,')}") == 0

    query = "SELECT ledger, points, comments FROM written WHERE question = 'memory'"
    assert course.ask(query) == [(1, 4.0, ""), (2, 3.5, ""), (3, 3.5, "new comment")]
    assert course.ask("SELECT final FROM final") == [(56.0,), (55.5,), (55.5,)]
    assert course.graded == 1


def test_a_store_from_before_there_were_sheets_is_kept(course: Course) -> None:
    ada = course.add(1, whole(50), late=1)
    course.grade(course.rule())
    course.ask("DROP TABLE written")

    sheet = f"--written={course.sheet(f'{ada},4,,2,,')}"
    assert course.final(ada, course.rule(), sheet)[0] == "51"

    assert course.ask("SELECT final FROM final") == [(45.0,), (51.0,)]


KILLED = """
import os, sys
from decimal import Decimal
from pathlib import Path
from tensormark.classroom.points import finals
from tensormark.classroom.entry import Entry, Final, HandIn
from tensormark.classroom.points.ledger import Ledger
from tensormark.classroom.marks import Answer, Mark, Marks, Question
from tensormark.classroom.jobs.store import Store

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
    with contextlib.closing(sqlite3.connect(store)) as file:
        query = "SELECT ledger, COUNT(*), MIN(points), MAX(points) FROM written GROUP BY ledger"
        assert file.execute(query).fetchall() == [(1, 5000, 1.0, 1.0)]
        finals = "SELECT ledger, COUNT(*), MAX(final) FROM final GROUP BY ledger"
        assert file.execute(finals).fetchall() == [(1, 5000, 1.0)]
        assert file.execute("SELECT COUNT(*) FROM ledger").fetchall() == [(1,)]

    assert keep("live", 2) == 0
    assert keep("live", 2) == 0
    with contextlib.closing(sqlite3.connect(store)) as file:
        assert file.execute(query).fetchall() == [(1, 5000, 1.0, 1.0), (2, 5000, 2.0, 2.0)]
        assert file.execute(finals).fetchall() == [(1, 5000, 1.0), (2, 5000, 2.0)]
