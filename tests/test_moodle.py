"""Moodle's grading worksheet with marks in it: nothing but the wanted grades changes."""

import csv
import io
import random
from dataclasses import replace
from pathlib import Path

import pytest
from moodle_import import moodle_grades

from tensormark.classroom.entry import Entry, HandIn
from tensormark.classroom.failure import FileError
from tensormark.classroom.reports.moodle import Worksheet, cells_of, feedback_name

import sample

HEAD = (
    "Identifier,Full name,Email address,Status,Group,Grade,Maximum grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments"
)
ROWS = """
"Participant 1","Lovelace, Ada",a@x.example,Submitted,T,,100.00,Yes,"1 May 2026, 10:00 AM",-,
"Participant 2","Hopper ""G"" Grace",g@x.example,Submitted,T,70.00,100.00,Yes,-,"2 May, 1 PM",=1+1
Participant 3,Alan,t@x.example,Submitted,,"60.50",100.00,Yes,-,-,"two
lines, and a "" quote"
Participant 4,Emmy,e@x.example,Submitted,,12,100.00,No,-,-,
"""
SHEET = HEAD + ROWS


def entry(number: int, score: float | None = 87.5, **options) -> Entry:
    hand_in = HandIn(f"Participant {number}", f"Name {number}", Path("in/x.py"), **options)
    if score is None:
        return Entry(replace(hand_in, path=None), problem="not handed in", attempts=0)
    return Entry(hand_in, sample.complete() | {"score": score, "max_score": 100.0})


def sheet(folder: Path, content: bytes) -> Worksheet:
    path = folder / "worksheet.csv"
    path.write_bytes(content)
    return Worksheet(path)


def test_only_the_wanted_grades_change_and_every_other_byte_stays(tmp_path: Path) -> None:
    entries = [entry(1), entry(2, 75), entry(3, None), entry(4, 90)]

    filled = sheet(tmp_path, SHEET.encode()).fill(entries)

    expected = SHEET.replace("Submitted,T,,100", "Submitted,T,87.5,100").replace("70.00", "75")
    assert filled.content.decode() == expected
    assert moodle_grades(filled.content, held={3: 60.5, 4: 12}) == {1: 87.5, 2: 75}


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_worksheet_stays_as_it_is_written(
    tmp_path: Path, bom: bytes, separator: str, end: str
) -> None:
    table = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if end == "\r\n" else csv.QUOTE_MINIMAL
    writer = csv.writer(table, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerows(csv.reader(io.StringIO(SHEET, newline="")))
    before = bom + table.getvalue().encode()

    after = sheet(tmp_path, before).fill([entry(2, 75)]).content

    assert after == before.replace(b"70.00", b"75")
    assert moodle_grades(after, delimiter=separator, held={3: 60.5, 4: 12}) == {2: 75}


def test_a_quoted_grade_stays_quoted_and_columns_may_be_in_any_order(tmp_path: Path) -> None:
    text = 'Last modified (grade),"Grade",Identifier\n-,"1,50",Participant 7\n-,"",Participant 8'

    filled = sheet(tmp_path, text.encode()).fill([entry(7, 2), entry(8)])

    assert filled.content.decode() == text.replace('"1,50"', '"2"').replace('""', '"87.5"')


def test_replaced_grades_and_entries_left_out_are_listed(tmp_path: Path) -> None:
    unfinished = Entry(HandIn("Participant 1", "Ada\x1b[2J", Path("x")), sample.model())
    entries = [unfinished, entry(2, 75), entry(3, 60.5), entry(4, 90)]

    filled = sheet(tmp_path, SHEET.encode()).fill(entries)

    assert filled.count == 2
    assert filled.replaced == ["Participant 2 (Name 2): 70.00 becomes 75"]
    assert filled.left == [
        "Participant 1 (Ada\\x1b[2J): could not be graded in full",
        "Participant 4 (Name 4): the grade cannot be changed in Moodle",
    ]


@pytest.mark.parametrize(
    ("held", "score", "reason"),
    [
        ("B+", 50, "has 'B+' in Moodle, which is kept"),
        ("70", 101, "101 is not among the grades that Moodle allows"),
        ("70", -1, "-1 is not among the grades that Moodle allows"),
    ],
)
def test_a_grade_that_is_a_word_or_would_be_out_of_range_stays(
    tmp_path: Path, held: str, score: float, reason: str
) -> None:
    before = SHEET.replace("70.00", held).encode()

    filled = sheet(tmp_path, before).fill([entry(2, score)])

    assert filled.content == before
    assert filled.left == [f"Participant 2 (Name 2): {reason}"]


def test_the_worksheet_that_moodle_exports_afterwards_stays_unchanged(tmp_path: Path) -> None:
    entries = [entry(1, 200 / 3), entry(2, 75)]
    first = sheet(tmp_path, SHEET.encode()).fill(entries).content
    download = first.replace(b"66.6667", b"66.67").replace(b",75,", b",75.00,")

    second = sheet(tmp_path, download).fill(entries)

    assert second.content == download
    assert (second.count, second.replaced) == (2, [])


def test_students_who_are_not_on_the_list_get_no_grade(tmp_path: Path) -> None:
    filled = sheet(tmp_path, SHEET.encode()).fill([entry(1, known=False), entry(99)])

    assert filled.content == SHEET.encode()


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("Maximum grade", "Scale", "Moodle grades it on a scale"),
        ("100.00", "50,00", "the maximum grade is 50 in Moodle, 100 here"),
        ("Last modified (grade)", "x", "has no column 'last modified [(]grade[)]'"),
        ("Feedback comments", "Grade", "has two columns 'grade'"),
    ],
)
def test_another_kind_of_grade_is_an_error(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    worksheet = sheet(tmp_path, SHEET.replace(old, f'"{new}"').encode())

    with pytest.raises(FileError, match=complaint):
        worksheet.check(100.0)


def test_a_list_of_another_kind_is_not_a_worksheet(tmp_path: Path) -> None:
    assert sheet(tmp_path, SHEET.encode()).is_one
    assert not sheet(tmp_path, b"identifier,grade\n1,2\n").is_one
    assert not sheet(tmp_path, b"").is_one


def test_cells_are_where_csv_finds_them() -> None:
    chance = random.Random(1)
    pieces = ["", "a", "1 2", "é", ",", ";", "\n", "\r\n", "\r", '"', '""', "'", " "]
    for _ in range(2000):
        rows = [
            ["".join(chance.choices(pieces, k=3)) for _ in range(chance.randint(2, 4))]
            for _ in range(chance.randint(1, 4))
        ]
        quoting = chance.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
        table = io.StringIO(newline="")
        separator, end = chance.choice(",;\t"), chance.choice(["\n", "\r\n", "\r"])
        csv.writer(table, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
        text = table.getvalue().removesuffix(chance.choice(["", end]))

        cells = [[text[a:b] for a, b in row] for row in cells_of(text, separator)]

        bare = [[c[1:-1].replace('""', '"') if c[:1] == '"' else c for c in row] for row in cells]
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        assert bare == [row or [""] for row in reader]


@pytest.mark.parametrize(
    "name", ["../../etc/x", "a_999_assignfeedback_file_", "\x00\u202e", ".h", "~", "字" * 99, "=1"]
)
def test_no_name_changes_the_number_or_the_folder_of_a_feedback_file(name: str) -> None:
    hand_in = replace(entry(7).hand_in, name=name)

    file = feedback_name(Entry(hand_in), "report.html")

    assert file.count("_") == 4
    assert file.split("_")[1:] == ["7", "assignfeedback", "file", "report.html"]
    assert file.split("_")[0].replace(" ", "").isalnum()
    assert len(file.encode()) < 255
