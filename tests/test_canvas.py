"""The file for Canvas, made from its own export: one column, and only students with a score."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from tensormark.classroom.entry import Entry, HandIn
from tensormark.classroom.failure import FileError
from tensormark.classroom.reports.canvas import Export, fill_export
from tensormark.classroom.reports.gradebook import write_results

import sample
from test_payloads import PAYLOADS

EXPORT = """\
Student,ID,SIS User ID,SIS Login ID,Section,Quiz (7),Example project (8),"Essay, long (9)",Final
,,,,,Manual Posting,,,(read only)
    Points Possible,,,,,10.00,100.00,5,(read only)
"Lovelace, Ada",101,s1,al,"A, B",10,,"say ""hi"" to",90
"Hopper, Grace",102,s2,gh,A,,"",,
"Turing, Alan",103,s3,at,A,9,EX,=1+1,1
"Noether, Emmy",104,s4,en,A,9,12.5,,1
"Zhang, Wei",105,s5,wz1,A,,,,
"Zhang, Wei",106,s6,wz2,A,,,,
"Student, Test",107,,tt,A,,,,
"""
TITLE = "Example project (8)"


def entry(student: str, name: str = "", score: float = 87.5, keys: tuple = ()) -> Entry:
    result = sample.complete() | {"score": score, "max_score": 100.0}
    return Entry(HandIn(student, name or student, Path("in/x.py"), keys=keys), result)


def exported(folder: Path, text: str = EXPORT) -> Path:
    path = folder / "export.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def filled(folder: Path, entries: list[Entry], text: str = EXPORT, column: str = "") -> tuple:
    """Return the rows of the file, and the printed lines."""
    export = exported(folder, text)
    table, lines = fill_export(entries, export, column, folder / "canvas.csv")
    return list(csv.reader(io.StringIO(table, newline=""))), lines


def scores_of(rows: list[list[str]]) -> dict[str, str]:
    return {row[1]: row[-1] for row in rows[1:]}


def test_the_file_has_what_canvas_needs_and_nothing_else(tmp_path: Path) -> None:
    rows, _ = filled(tmp_path, [entry("101"), entry("102", score=60)])

    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", TITLE],
        ["Lovelace, Ada", "101", "s1", "al", "A, B", "87.5"],
        ["Hopper, Grace", "102", "s2", "gh", "A", "60"],
    ]


@pytest.mark.parametrize("name", [*PAYLOADS, "x;=1+1", 'x,\t"@a', "Points Possible", "+1", "-1"])
def test_no_cell_is_a_formula_or_another_row_whatever_a_student_is_called(
    tmp_path: Path, name: str
) -> None:
    name = name.replace("\ud800", "").replace("\udfff", "").replace("\0", "")
    quoted = '"' + name.replace('"', '""') + '"'

    export = exported(tmp_path, EXPORT.replace('"Lovelace, Ada"', quoted))

    content, _ = fill_export([entry("101")], export, "", tmp_path / "canvas.csv")

    for separator in ",;\t":
        for row in csv.reader(io.StringIO(content, newline=""), delimiter=separator):
            assert not [cell for cell in row if cell.lstrip(' "').startswith(tuple("=+-@\t\r"))]
    (row,) = list(csv.reader(io.StringIO(content, newline="")))[1:]
    assert row[1] == "101"
    assert row[-1] == "87.5"
    assert "Points Possible" not in row[0]


def test_without_scores_the_file_has_only_a_header(tmp_path: Path) -> None:
    rows, _ = filled(tmp_path, [], column=TITLE)

    assert len(rows) == 1


ADAS = {"101": "87.5"}
OTHER_IDS = ["\uff11\uff10\uff11", "0101", "101.0", " ", "AL", "S1", "al\u200b"]
SCORES: dict[str, tuple[list[Entry], str, dict[str, str]]] = {
    "by id": ([entry("101")], EXPORT, ADAS),
    "by the university's id": ([entry("s1")], EXPORT, ADAS),
    "by name": ([entry("7", "Ada Lovelace")], EXPORT, ADAS),
    "by a name without spaces": ([entry("lovelaceada")], EXPORT, ADAS),
    "by login": ([entry("x@y.example", keys=("x@y.example", "al"))], EXPORT, ADAS),
    "an id before a login": ([entry("101")], EXPORT.replace(",gh,", ",101,"), ADAS),
    **{
        f"an id that is another: {student!a}": (
            [entry(student, "x"), entry("101", score=60)],
            EXPORT,
            {"101": "60"},
        )
        for student in OTHER_IDS
    },
    "a row with an id in other digits": (
        [entry("101"), entry("102"), entry("")],
        EXPORT.replace(",gh,", ",\uff11\uff10\uff11,").replace(",at,", ",,"),
        ADAS | {"102": "87.5"},
    ),
    "an id of two rows": ([entry("101"), entry("103")], EXPORT.replace(",102,", ",101,"), {}),
}


@pytest.mark.parametrize(("entries", "text", "scores"), SCORES.values(), ids=SCORES)
def test_a_score_is_in_the_row_of_its_student(
    tmp_path: Path, entries: list[Entry], text: str, scores: dict[str, str]
) -> None:
    rows, lines = filled(tmp_path, entries, text)

    assert scores_of(rows) == scores
    assert lines[0].endswith(f"scores in {TITLE}: {len(scores)}")


def test_a_stranger_to_the_class_takes_nobodys_row(tmp_path: Path) -> None:
    stranger = entry("999", "lovelaceada", keys=("al",))
    stranger = replace(stranger, hand_in=replace(stranger.hand_in, known=False))
    unassigned = HandIn("101", "101", None, fault="may be that of two", known=False)

    rows, _ = filled(tmp_path, [entry("101", score=60), stranger, Entry(unassigned)])
    alone, _ = filled(tmp_path, [replace(stranger, hand_in=replace(stranger.hand_in, keys=()))])

    assert scores_of(rows) == {"101": "60"}
    assert scores_of(alone) == {}


def test_names_and_rows_that_are_ambiguous_get_no_score_and_are_listed(tmp_path: Path) -> None:
    entries = [entry("x", "Wei Zhang"), entry("103"), entry("s3"), entry("nobody")]

    rows, lines = filled(tmp_path, entries)

    assert scores_of(rows) == {}
    place = lines.index(
        "Canvas: 4 handed in, but could not be matched to one student in the export:"
    )
    assert lines[place + 1 : place + 5] == ["  x (Wei Zhang)", "  103", "  s3", "  nobody"]
    missing = next(line for line in lines if "not matched to a hand-in" in line)
    assert missing.startswith("Canvas: 6 in the export")
    assert "  Lovelace, Ada (101)" in lines
    assert not any("Student, Test" in line for line in lines)


def test_students_of_the_export_who_are_not_in_the_roster_are_listed(tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    entries = [entry("101"), entry("102")]

    lines = write_results(entries, tmp_path / "out", exported(tmp_path), roster=roster)

    reason = "but not in the class given by ROSTER="
    assert f"Canvas: 4 in the export, {reason}:" in lines
    assert "  Turing, Alan (103)" in lines


def test_an_excused_student_stays_excused_and_scores_are_replaced(tmp_path: Path) -> None:
    rows, lines = filled(tmp_path, [entry("103"), entry("104"), entry("101", score=100)])

    assert scores_of(rows) == {"101": "100", "104": "87.5"}
    assert "  103: is excused in Canvas, which is kept" in lines
    assert "  104: 12.5 becomes 87.5" in lines


def test_a_student_without_a_full_result_has_no_score(tmp_path: Path) -> None:
    not_handed_in = HandIn("102", "Grace", None)
    entries = [Entry(HandIn("101", "Ada", Path("x")), sample.model()), Entry(not_handed_in)]

    rows, lines = filled(tmp_path, entries)

    assert scores_of(rows) == {}
    assert "  101 (Ada): could not be graded in full" in lines


@pytest.mark.parametrize("column", [TITLE, "Example project", "EXAMPLE PROJECT", "8", ""])
def test_a_column_is_found_by_title_or_number(tmp_path: Path, column: str) -> None:
    rows, _ = filled(tmp_path, [entry("101")], column=column)

    assert scores_of(rows) == {"101": "87.5"}


@pytest.mark.parametrize(
    ("column", "text", "message"),
    [
        ("Homework", EXPORT, "has no column titled 'Homework'"),
        ("", EXPORT.replace("Essay, long", "Example, again"), "has several columns with 'Example"),
        ("Final", EXPORT, "no column"),
        ("", EXPORT.replace("Example", "x"), "no column"),
    ],
)
def test_an_ambiguous_or_missing_column_is_an_error_with_the_titles(
    tmp_path: Path, column: str, text: str, message: str
) -> None:
    with pytest.raises(FileError) as error:
        filled(tmp_path, [entry("101")], text, column)

    assert message in str(error.value)
    assert "Quiz (7)" in str(error.value)


def test_an_export_with_semicolons_and_decimal_commas_is_read(tmp_path: Path) -> None:
    text = "Student;ID;SIS User ID;SIS Login ID;Section;Example (8)\n"
    text += '"    Points Possible";;;;;100,00\n"L; A";101;;;A;\n'

    table, lines = fill_export([entry("101")], exported(tmp_path, text), "", tmp_path / "out.csv")

    assert table.splitlines()[1] == '"L; A";101;;;A;87.5'
    assert not any("nothing is scaled" in line for line in lines)


def test_first_and_last_names_may_have_separate_columns(tmp_path: Path) -> None:
    text = "LastName,FirstName,ID,SIS Login ID,Section,Example (8)\nLovelace,Ada,101,al,A,\n"

    rows, _ = filled(tmp_path, [entry("x", "Ada Lovelace")], text)

    assert rows[1] == ["Lovelace", "Ada", "101", "al", "A", "87.5"]


def test_a_different_maximum_is_reported_and_nothing_is_scaled(tmp_path: Path) -> None:
    rows, lines = filled(tmp_path, [entry("101")], EXPORT.replace("100.00", "50"))

    assert scores_of(rows) == {"101": "87.5"}
    warning = "warning: Canvas: 50 points are possible there, 100 here; nothing is scaled"
    assert lines[-1] == warning
    assert write_results([entry("101")], tmp_path / "class", tmp_path / "export.csv")[-1] == warning


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfeS\x00t\x00", "not UTF-8"),
        (b'Student,"ID\n', "not a CSV file"),
        (b"", "no column"),
        (b"Student,Example (8)\n", "no column ID or Section"),
    ],
)
def test_a_file_that_is_not_an_export_is_one_sentence(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "export.csv"
    path.write_bytes(content)

    with pytest.raises(FileError, match=message):
        Export(path, "", "Example")


def test_the_export_itself_is_never_written_over(tmp_path: Path) -> None:
    path = exported(tmp_path)

    with pytest.raises(FileError, match="copy it"):
        fill_export([entry("101")], path, "", path)
    with pytest.raises(FileError, match="cannot be read"):
        fill_export([entry("101")], tmp_path / "none.csv", "", tmp_path / "canvas.csv")

    assert path.read_bytes() == EXPORT.encode()


def test_the_gradebook_is_written_even_if_the_export_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/canvas.csv").write_text("scores of an earlier run", encoding="utf-8")

    lines = write_results([entry("101")], tmp_path / "out", exported(tmp_path), "Homework")

    assert (tmp_path / "out/gradebook.csv").exists()
    assert any("has no column titled 'Homework'" in line for line in lines)
    assert not (tmp_path / "out/canvas.csv").exists()
    assert (tmp_path / "out/earlier-1/canvas.csv").exists()
