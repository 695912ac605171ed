"""Tests of drawing sheets: by a seed, about correct functions, and for students without answers."""

import collections
import dataclasses
import json
import random
from pathlib import Path

import pytest

from tensormark.folder import open_assignment
from tensormark.viva.draw import LEFT_BEHIND, NOTHING_RIGHT, askable
from tensormark.viva.family import draw_options, width
from tensormark.viva.question import OPTIONS, Question, Sheet

import toy
from graded import edited
from studies import sheet_of

SHAPES = {  # with the sizes of the first call: B = 2, D = 3, T = 10, P = 4, K = 5, W = 6, C = 7
    "signals": (2, 3, 10),
    "signals.unfold(-1, self.weight.shape[-1], 1)": (2, 3, 6, 5),
    "windows": (2, 3, 6, 5),
    'torch.einsum("bdwk,pdk->bpw", windows, self.weight)': (2, 4, 6),
    "self.conv(signals)": (2, 4, 6),
    "torch.relu(self.conv(signals))": (2, 4, 6),
    "torch.relu(self.conv(signals)).amax(-1)": (2, 4),
    "found": (2, 4),
    'torch.einsum("bdwk,pdk->bpw", windows, self.weight) + self.bias[:, None]': (2, 4, 6),
    "self.head(found)": (2, 7),
}
INPUTS_WITHOUT_GRADIENT = {  # what gets no gradient if this is detached
    "signals": "`signals`",
    "signals.unfold(-1, self.weight.shape[-1], 1)": "`signals`",
    "windows": "`signals`",
    'torch.einsum("bdwk,pdk->bpw", windows, self.weight)': "`signals` and `weight`",
}


def marked_code(sheet: Sheet, question: Question) -> str:
    """Return the code that a question is about."""
    (mark,) = question.marks
    lines = {listing.name: dict(listing.lines) for listing in sheet.listings}
    return lines[mark.function][mark.line][mark.start : mark.end]


@pytest.fixture(scope="module")
def sheet(folder: Path, solution_source: str) -> Sheet:
    """All questions that a seed has on the solution."""
    return sheet_of(folder, solution_source, number=20)


def test_the_same_seed_draws_the_same_sheet_and_another_one_another(
    folder: Path, solution_source: str, sheet: Sheet
) -> None:
    assert sheet_of(folder, solution_source, number=20) == sheet

    other = sheet_of(folder, solution_source, seed="8")
    assert {question.code for question in other.questions} - {q.code for q in sheet.questions}
    assert len({question.family for question in other.questions}) >= 3
    assert len(other.questions) == 5


def test_a_question_has_one_correct_answer_and_says_why(sheet: Sheet) -> None:
    assert len({question.code for question in sheet.questions}) == len(sheet.questions)
    for question in sheet.questions:
        assert len({*question.options}) == OPTIONS
        assert [n for n, why in enumerate(question.others) if not why] == [question.key]
        assert question.explanation
        (listing,) = (
            candidate for candidate in sheet.listings if candidate.name == question.function
        )
        assert question.line in dict(listing.lines)


def test_shapes_are_those_worked_out_by_hand(sheet: Sheet) -> None:
    questions = [question for question in sheet.questions if question.family == "shapes"]

    assert len(questions) >= 4
    for question in questions:
        assert question.options[question.key] == f"`{SHAPES[marked_code(sheet, question)]}`"


def test_gradients_stop_where_they_are_cut_off(sheet: Sheet) -> None:
    questions = [
        question
        for question in sheet.questions
        if (question.family, question.function) == ("gradient", "Convolution.forward")
    ]

    assert questions
    for question in questions:
        assert (
            question.options[question.key] == INPUTS_WITHOUT_GRADIENT[marked_code(sheet, question)]
        )


def test_only_correct_functions_that_call_correct_ones_are_asked_about(
    folder: Path, solution_source: str
) -> None:
    assignment = open_assignment(folder)

    assert [subject.exercise for subject in askable(assignment, {"conv"})] == ["conv"]
    assert askable(assignment, {"detector"}) == []
    assert [
        subject.exercise for subject in askable(assignment, {"conv", "detector"})
    ] == toy.EXERCISES
    empty = sheet_of(folder, solution_source, right={"detector"})
    assert (empty.questions, empty.notes) == ((), (NOTHING_RIGHT.format(check="tensormark check"),))


SIGNATURE = 'forward(self, signals: Tensor) -> Tensor:\n        """Score'
END_OF_DETECTOR = "        ### END SOLUTION detector\n"


@pytest.mark.parametrize(
    ("edits", "note"),
    [
        (
            [("        return self.head", "        eval('1')\n        return self.head")],
            "no questions about detector: line 41 uses eval",
        ),
        (
            [("        return self.head", "        # why\n" * 60 + "        return self.head")],
            "no questions about detector: it is too long",
        ),
        (
            [
                (SIGNATURE, SIGNATURE.replace("forward", "score")),
                (END_OF_DETECTOR, f"{END_OF_DETECTOR}    forward = score\n"),
            ],
            "no questions about detector: it was not found",
        ),
    ],
)
def test_a_note_names_what_cannot_be_asked_about(
    folder: Path, solution_source: str, edits: list[tuple[str, str]], note: str
) -> None:
    drawn = sheet_of(folder, edited(solution_source, *edits), number=2)

    assert note in drawn.notes
    assert "Detector.forward" not in {question.function for question in drawn.questions}
    assert len(drawn.questions) == 2


def test_copies_that_change_what_others_answer_give_no_questions(
    folder: Path, solution_source: str
) -> None:
    line = "        found ="
    patched = f"        k = 1\n        if k != 1: torch.relu = torch.sigmoid\n{line}"

    drawn = sheet_of(folder, edited(solution_source, (line, patched)), number=12)

    assert (drawn.questions, drawn.notes) == ((), (LEFT_BEHIND,))


def test_students_get_no_answer(sheet: Sheet) -> None:
    text = json.dumps(dataclasses.asdict(sheet.for_students()))

    assert json.loads(text)["questions"][0].keys() == {
        *("family", "function", "line", "prompt", "options")
    }
    for question in sheet.questions:
        assert json.dumps(question.explanation) not in text
        assert json.dumps(question.ask_next) not in text


def test_the_line_of_a_question_is_not_that_of_its_answer(sheet: Sheet) -> None:
    for question in sheet.questions:
        assert question.line <= min(mark.line for mark in question.marks)


def test_the_length_of_an_option_does_not_reveal_the_answer() -> None:
    ranks, places = collections.Counter[int](), collections.Counter[int]()
    distractors = ["x" * n for n in (2, 3, 4, 5, 6, 14, 15, 16, 17, 18)]
    for seed in range(400):
        selection = draw_options(
            random.Random(seed), "x" * 10, [*distractors, *distractors, "x" * 10]
        )
        options, key = selection
        assert len({*options}) == OPTIONS
        assert options[key] == "x" * 10
        ranks[sorted(map(width, options)).index(10)] += 1
        places[key] += 1

    assert {*ranks} == {*places} == {*range(OPTIONS)}
    assert max(*ranks.values(), *places.values()) < 140


def test_without_enough_distractors_there_is_no_question() -> None:
    assert draw_options(random.Random(1), "a", ["a", "b", "c", "b"]) is None
