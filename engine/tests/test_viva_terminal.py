"""Tests of practice on a terminal, with answers that are read as lines."""

import io
import re
import sys
from collections.abc import Callable

import pytest

from tensormark.viva import terminal
from tensormark.viva.question import Listing, Mark, Sheet
from tensormark.viva.texts import labelled_marks, numbered

import vivas
from payloads import PAYLOADS

Practice = Callable[..., str]


@pytest.fixture
def practise(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Practice:
    """Give these answers; return what is printed."""

    def run(answers: str, sheet: Sheet | None = None) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO(answers))
        terminal.practice(sheet or vivas.sheet())
        return capsys.readouterr().out

    return run


def test_answers_are_marked_and_explained(practise: Practice) -> None:
    output = practise("a\nB\n b \n\nD\n")

    assert output.count("Right.") == 2
    assert output.count("Not right: the answer is A.") == 2
    assert "Skipped: the answer is A." in output
    assert " > 67      probs = self.dropout" in output
    assert "2 of 4 right. Another seed gives other questions." in output
    assert "B: The first row sums to 1.734." in output


def test_carets_point_to_what_a_question_names_the_inner_mark_first() -> None:
    sheet = vivas.sheet()
    marks = labelled_marks(sheet.questions[0], sheet)

    *_, (line, *carets), _, _, _ = numbered(sheet.listings[0], marks)

    marked_code = [
        (line[match.start(1) : match.end(1)], match[2])
        for caret_line in carets
        for match in re.finditer(r"(\^+)(\d+)", caret_line)
    ]
    assert len(carets) == 4
    assert marked_code == [
        ("scores", "6"),
        ("dim=-1", "7"),
        ("scores + mask", "5"),
        ("F.softmax(scores + mask, dim=-1)", "4"),
        ("self.dropout(F.softmax(scores + mask, dim=-1))", "3"),
    ]


def test_carets_are_aligned_after_tabs_and_under_escaped_letters() -> None:
    listing = Listing("f", "a.py", ((1, "\tdef f(x):"), (2, "\t\treturn '\u202e' + g(x)  # \t.")))
    marks = (Mark("f", 2, 21, 25, "1"), Mark("f", 2, 23, 24, "2"), Mark("f", 2, 15, 18, "3"))

    assert numbered(listing, marks) == [
        ["1  def f(x):"],
        [
            "2      return '\\u202e' + g(x)  #    .",
            "              ^^^^^^^^3    ^2",
            "                         ^^^^1",
        ],
    ]


def test_only_the_marks_of_the_question_that_is_asked_are_shown(practise: Practice) -> None:
    output = practise("a\nB\n")

    first, second, *_ = output.split(terminal.ASK)
    assert set(re.findall(r"\^+(\d+)", first)) == {"3", "4", "5", "6", "7"}
    assert "^" not in second


@pytest.mark.parametrize("answers", ["a\nq\n", "a\nQ", "a\n", "a"])
def test_practice_stops_on_request_or_at_the_end_of_the_input(
    practise: Practice, answers: str
) -> None:
    output = practise(answers)

    assert "1 of 1 right" in output
    assert "3 of 5." not in output


def test_after_an_invalid_answer_the_question_is_repeated_but_not_for_ever(
    practise: Practice,
) -> None:
    output = practise("AB\nE\n\x1b[2J\na\n" + "yes\n" * 200)

    assert "1 of 1 right" in output
    assert "'AB' is not one of the answers." in output
    assert "\x1b" not in output
    assert output.count("'YES' is not one of the answers.") == 4 * terminal.TRIES
    assert output.count("Skipped") == 4


def test_ctrl_c_ends_practice_with_the_number_of_right_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter(["a\n"])

    def line() -> str:
        for answer in answers:
            return answer
        raise KeyboardInterrupt

    monkeypatch.setattr(terminal, "_line", line)

    terminal.practice(vivas.sheet())

    assert "1 of 1 right" in capsys.readouterr().out


@pytest.mark.parametrize("payload", [*PAYLOADS, "\x00", "\u202e", "\ud800"], ids=ascii)
def test_texts_of_a_student_are_harmless(practise: Practice, payload: str) -> None:
    sheet = vivas.with_text(vivas.sheet(), lambda text: payload + text)

    output = practise("a\n" * 5, sheet)

    assert all(char == "\n" or char.isprintable() for char in output)
