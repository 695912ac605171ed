"""Answers to questions on students' own code, exported from platforms, in a class's gradebook."""

from pathlib import Path

import courses
import pytest
from courses import Asked

from tensormark.viva.question import Question

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    return courses.with_viva(tmp_path, monkeypatch)


def export(asked: Asked, *rows: dict[str, str], name: str = "export.csv") -> str:
    """Write a quiz as Canvas exports it: ids, and texts of options by the questions' codes."""
    codes = dict.fromkeys(code for row in rows for code in row if code != "id")
    lines = ["sis_id," + ",".join(f"7: [{code}] What is true?" for code in codes)]
    lines += [",".join([row["id"], *(row.get(code, "") for code in codes)]) for row in rows]
    (asked.course.folder / name).write_text("\n".join(lines), encoding="utf-8")
    return str(asked.course.folder / name)


def answers(student: str, questions: dict[str, Question], right: int) -> dict[str, str]:
    """Return answers to all questions, the first `right` of which are right."""
    chosen = {
        code: question.options[(question.key + (place >= right)) % 4]
        for place, (code, question) in enumerate(questions.items())
    }
    return {"id": student, **chosen}


def test_answers_are_counted_beside_the_score(asked: Asked, capsys: Capture) -> None:
    ada, bob, eve = (asked.add(number, "attention") for number in (1, 2, 3))
    asked.course.grade("--viva", "5")
    before, codes = asked.course.gradebook(), asked.codes(ada)
    bobs_codes, adas_codes = asked.codes(bob), {*codes}
    strange = next(code for code in adas_codes if code not in bobs_codes)
    rows = (
        answers(ada, codes, 4),
        {**answers(bob, bobs_codes, 2), strange: codes[strange].options[codes[strange].key]},
        {"id": "stranger", **answers("", codes, 5)} | {"id": "777"},
    )
    capsys.readouterr()

    assert asked.course.grade("--viva", "5", "--answers", export(asked, *rows)) == 0

    book = asked.course.gradebook()
    assert [book[student].pop("viva") for student in (ada, bob, eve)] == ["4 of 5", "2 of 5", ""]
    assert book == before
    output = capsys.readouterr().out
    assert "viva: 2 students answered, 1 with a sheet did not\n" in output
    ignored = "viva: ignored 1 answer to questions that are not on the student's sheet: "
    assert f"{ignored}10002 (Student No2)\n" in output
    assert "viva: 1 respondent not in the class: 777\n" in output
    page = (asked.course.out / "gradebook.html").read_text(encoding="utf-8")
    assert 'data-value="4">4 of 5</td>' in page
    assert '<button type="button">viva</button>' in page


def test_the_first_answer_counts_and_one_that_fits_no_option_is_wrong(
    asked: Asked, capsys: Capture
) -> None:
    ada = asked.add(1, "attention")
    asked.course.grade("--viva", "3")
    codes = asked.codes(ada)
    first = answers(ada, codes, 0) | {next(iter(codes)): "something else"}
    paths = [export(asked, first), export(asked, answers(ada, codes, 3), name="b.csv")]

    asked.course.grade("--viva", "3", "--answers", ",".join(paths))

    assert asked.course.gradebook()[ada]["viva"] == "0 of 3"
    assert "counted 1 answer as wrong for not matching an option" in capsys.readouterr().out


def test_an_appeal_remembers_the_questions_and_the_answers(
    asked: Asked, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = asked.add(1, "attention")
    asked.course.grade("--viva", "3")
    monkeypatch.chdir(asked.course.folder)
    export(asked, answers(ada, asked.codes(ada), 2))
    asked.course.grade("--viva", "3", "--answers", "export.csv")
    monkeypatch.chdir("/")
    capsys.readouterr()

    assert asked.course.grade("--only", ada) == 0

    path = asked.course.folder / "export.csv"
    output = capsys.readouterr().out
    assert f"ANSWERS={path}" in output
    assert "VIVA=3" in output
    assert asked.course.gradebook()[ada]["viva"] == "2 of 3"
