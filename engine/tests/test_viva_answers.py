"""Tests of importing the answers that Canvas and Moodle export."""

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from tensormark.classroom.failure import FileError
from tensormark.classroom.viva import exports
from tensormark.viva import canvas_quiz

import vivas
from test_viva_platforms import QTI, class_of, moodle, unpacked

CODES = {question.code: question for question in vivas.QUESTIONS}


def stripped(html: str) -> str:
    """Return what platforms make of markup in their exports."""
    text = re.sub("</?[a-z0-9]+>", "", html)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def write_csv(path: Path, rows: Iterable[Sequence[object]], separator: str = ",") -> Path:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    return path


def canvas_export(path: Path, respondent: Sequence[str], chosen: Sequence[int]) -> Path:
    """Write the Student Analysis that Canvas exports of the imported quiz."""
    files = unpacked(canvas_quiz.quizzes({"ada": vivas.sheet()}, "viva"))
    (quiz,) = (root for root in files.values() if root.tag == f"{QTI}questestinterop")
    header: list[object] = ["name", "id", "sis_id", "section", "section_id", "submitted", "attempt"]
    row: list[object] = [*respondent, "S1", "7", "2026-11-23 10:00:00 UTC", "1"]
    for number, (item, place) in enumerate(zip(quiz.iter(f"{QTI}item"), chosen, strict=True)):
        texts = [stripped(text.text or "") for text in item.iter(f"{QTI}mattext")]
        header += [f"{1000 + number}: {texts[0]}", "1.0"]
        row += [texts[1 + place] if place >= 0 else "", "1.0"]
    return write_csv(path, [[*header, "n correct", "score"], [*row, "1", "1"]])


def moodle_export(path: Path, respondent: Sequence[str], chosen: Sequence[int]) -> Path:
    """Write the report of responses that Moodle exports, with the questions."""
    header = ["Last name", "First name", "ID number", "Email address", "State", "Grade/5.00"]
    row = [*respondent, "Finished", "1.00"]
    _, *questions = moodle(class_of("ada"))
    for number, (question, place) in enumerate(zip(questions, chosen, strict=True), start=1):
        answers = [stripped(str(answer.findtext("text"))) for answer in question.findall("answer")]
        prompt = stripped(str(question.findtext("questiontext/text")))
        header += [f"Question {number}", f"Response {number}", f"Right answer {number}"]
        row += [
            f"{prompt}: {'; '.join(answers)}",
            answers[place] if place >= 0 else "-",
            answers[0],
        ]
    return write_csv(path, [header, row], ";")


def places(answers: Mapping[str, str]) -> list[int | None]:
    return [
        exports.chosen(answers[code], question.options) if code in answers else None
        for code, question in CODES.items()
    ]


@pytest.mark.parametrize(
    ("export", "respondent", "ids"),
    [
        (canvas_export, ["Ada Lovelace", "4711", "s77"], ("4711", "", "s77", "", "")),
        (
            moodle_export,
            ["Lovelace", "Ada", "s77", "ada@x.example"],
            ("", "", "s77", "", "ada@x.example"),
        ),
    ],
    ids=["Canvas", "Moodle"],
)
def test_answers_are_read_as_they_were_given(
    tmp_path: Path, export: Callable[..., Path], respondent: list[str], ids: tuple[str, ...]
) -> None:
    path = export(tmp_path / "export.csv", respondent, [0, 3, 1, -1, 2])

    ((person, answers),), warnings = exports.read(path, CODES)

    assert places(answers) == [0, 3, 1, None, 2]
    assert person.names == ("Ada Lovelace",)
    assert person.ids == ids
    assert warnings == []


def test_codes_that_nobody_was_asked_are_reported_in_one_line(tmp_path: Path) -> None:
    path = canvas_export(tmp_path / "export.csv", ["Ada", "1", ""], [0, 0, 0, 0, 0])
    first, *asked = CODES

    ((_, answers),), warnings = exports.read(path, asked)

    assert set(answers) == set(asked)
    assert warnings == [f"{path}: nobody was asked {first}; are these from another term?"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["name", "id", "score"], ["Ada", "1", "5"]], "no question in it has a code"),
        ([["a", "b"], ["x", "y"]], "no column for who answered"),
        ([], "no column for who answered"),
        ([["name", "id"], ['x"y', "1"]], "no question in it has a code"),
    ],
)
def test_a_file_that_is_not_an_export_is_refused_with_advice(
    tmp_path: Path, rows: list[list[str]], message: str
) -> None:
    path = write_csv(tmp_path / "export.csv", rows)

    with pytest.raises(FileError) as caught:
        exports.read(path, CODES)

    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "Student Analysis" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"\xff\xfen\x00", b'name,"id\n', b"\x00" * 9])
def test_bytes_that_are_not_csv_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "export.csv"
    path.write_bytes(content)

    with pytest.raises(FileError, match=re.escape(str(path))):
        exports.read(path, CODES)


def test_a_row_without_a_name_or_a_question_is_not_an_attempt(tmp_path: Path) -> None:
    question = f"[{next(iter(CODES))}] x"
    rows = [["", question, "a"], ["Ada", "-", "-"], ["Bela", question, "-"], ["Cleo", question]]
    path = write_csv(tmp_path / "export.csv", [["Last name", "Question 1", "Response 1"], *rows])

    attempts, _ = exports.read(path, CODES)

    assert [(person.names, answers) for person, answers in attempts] == [
        (("Bela",), {}),
        (("Cleo",), {}),
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("`a` < b", 0),
        ("a<b", 0),
        ("a\xa0<\xa0b", 0),
        ("a &lt;  b", 0),
        ("x  y", 1),
        ("x", 2),  # of `x<y>`: what looks like a tag was taken out
        ("x<y>", 2),
        ("none of these", None),
        ("", None),
        ("same", None),
    ],
)
def test_an_option_is_recognized_by_its_text_whatever_a_platform_did_to_it(
    text: str, place: int | None
) -> None:
    options = ("`a < b`", "x\n y", "`x<y>`", "same", "`same`")

    assert exports.chosen(text, options) == place
