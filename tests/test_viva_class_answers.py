"""Tests of the viva column: answers that platforms export are imported into the gradebook."""

import pytest
from courses import VivaClass

from tensormark.viva.question import Question

Capture = pytest.CaptureFixture[str]


def export(viva_class: VivaClass, *rows: dict[str, str], name: str = "export.csv") -> str:
    """Write an export of Canvas: students, and the options that they chose, by question code."""
    codes = dict.fromkeys(code for row in rows for code in row if code != "id")
    lines = ["sis_id," + ",".join(f"7: [{code}] What is true?" for code in codes)]
    lines += [",".join([row["id"], *(row.get(code, "") for code in codes)]) for row in rows]
    (viva_class.folder / name).write_text("\n".join(lines), encoding="utf-8")
    return str(viva_class.folder / name)


def answers(student: str, questions: dict[str, Question], correct_count: int) -> dict[str, str]:
    """Return answers to all questions, of which the first `correct_count` are correct."""
    choices = {
        code: question.options[(question.key + (place >= correct_count)) % 4]
        for place, (code, question) in enumerate(questions.items())
    }
    return {"id": student, **choices}


def test_answers_are_counted_without_changing_the_score(
    viva_class: VivaClass, capsys: Capture
) -> None:
    ada, bob, eve = (viva_class.enrol(number, "attention") for number in (1, 2, 3))
    viva_class.grade("--viva", "5")
    before, codes = viva_class.gradebook(), viva_class.codes(ada)
    bobs_codes, adas_codes = viva_class.codes(bob), {*codes}
    unasked_code = next(code for code in adas_codes if code not in bobs_codes)
    rows = (
        answers(ada, codes, 4),
        {
            **answers(bob, bobs_codes, 2),
            unasked_code: codes[unasked_code].options[codes[unasked_code].key],
        },
        {"id": "stranger", **answers("", codes, 5)} | {"id": "777"},
    )
    capsys.readouterr()

    assert viva_class.grade("--viva", "5", "--answers", export(viva_class, *rows)) == 0

    gradebook = viva_class.gradebook()
    assert [gradebook[student].pop("viva") for student in (ada, bob, eve)] == [
        "4 of 5",
        "2 of 5",
        "",
    ]
    assert gradebook == before
    output = capsys.readouterr().out
    assert "viva: 2 students answered, 1 with a sheet did not\n" in output
    ignored = "viva: ignored 1 answer to questions that are not on the student's sheet: "
    assert f"{ignored}10002 (Student No2)\n" in output
    assert "viva: 1 respondent not in the class: 777\n" in output
    page = viva_class.page()
    assert 'data-value="4">4 of 5</td>' in page
    assert '<button type="button">viva</button>' in page


def test_the_first_answer_counts_and_one_that_matches_no_option_is_wrong(
    viva_class: VivaClass, capsys: Capture
) -> None:
    ada = viva_class.enrol(1, "attention")
    viva_class.grade("--viva", "3")
    codes = viva_class.codes(ada)
    first_answers = answers(ada, codes, 0) | {next(iter(codes)): "something else"}
    paths = [
        export(viva_class, first_answers),
        export(viva_class, answers(ada, codes, 3), name="b.csv"),
    ]

    viva_class.grade("--viva", "3", "--answers", ",".join(paths))

    assert viva_class.gradebook()[ada]["viva"] == "0 of 3"
    assert "counted 1 answer as wrong for not matching an option" in capsys.readouterr().out


def test_an_appeal_remembers_the_questions_and_the_answers(
    viva_class: VivaClass, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = viva_class.enrol(1, "attention")
    viva_class.grade("--viva", "3")
    monkeypatch.chdir(viva_class.folder)
    export(viva_class, answers(ada, viva_class.codes(ada), 2))
    viva_class.grade("--viva", "3", "--answers", "export.csv")
    monkeypatch.chdir("/")
    capsys.readouterr()

    assert viva_class.grade("--only", ada) == 0

    path = viva_class.folder / "export.csv"
    output = capsys.readouterr().out
    assert f"ANSWERS={path}" in output
    assert "VIVA=3" in output
    assert viva_class.gradebook()[ada]["viva"] == "2 of 3"
