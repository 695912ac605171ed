"""The rubric of the written questions: read strictly, and in agreement with the handout."""

import dataclasses
from pathlib import Path

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.authoring.course import Staff
from tensormark.classroom.failure import FileError
from tensormark.classroom.marks import Question
from tensormark.classroom.points import rubric
from tensormark.classroom.points.rubric import RESERVED, read_rubric
from tensormark.classroom.reports.gradebook import FINAL, FIRST, LAST, WRITTEN

ASKED = """# Questions

## Question (memory): what it takes (4 points, about 15 minutes)

## Question (rate): a sweep (1.5 points)
"""
MEMORY = "## Memory (4 points)\n\n* an answer\n\n- 3 points: one; half\n  of it\n- 1 point: two.\n"
RATE = "## Rate (1.5 points)\n- 1.5 points: x.\n"


def read(folder: Path, patch: pytest.MonkeyPatch, text: str, handout: str) -> tuple[Question, ...]:
    patch.setattr(rubric, "staff_of", lambda _: Staff(rubric="rubric.md"))
    (folder / "rubric.md").write_text(text, encoding="utf-8")
    (folder / "handout.md").write_text(handout, encoding="utf-8")
    return read_rubric(dataclasses.replace(ASSIGNMENT, folder=folder))


def test_titles_are_those_of_the_handout_and_points_those_of_each_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, rate = read(tmp_path, monkeypatch, f"# Staff only\n\n{MEMORY}{RATE}", ASKED)

    assert (memory.id, memory.title, memory.most) == ("memory", "what it takes", 4)
    assert [*map(float, memory.items)] == [3, 1]
    assert (memory.column, memory.comment) == ("memory (3 + 1)", "memory comment")
    assert (rate.title, rate.column) == ("a sweep", "rate (1.5)")


BAD = {
    f"{MEMORY}{RATE}## Gate (4 points)": "line 10: the handout has no heading `Question (gate): ",
    f"{MEMORY}{MEMORY}{RATE}": "line 8: something else is called memory; rename the question",
    MEMORY: "has no section for Question (rate)",
    "# nothing\n- 2 points: x": "has no section for Question (memory)",
    MEMORY.replace("(4", "(5") + RATE: "line 1: has 5 points, but 4 in handout.md",
    MEMORY.replace("- 3", "- 2") + RATE: "has 4 points, and its items add up to 3; each must",
    MEMORY.replace("- 3 points", "- three points") + RATE: "line 5: must be like `- 2 points: ",
    MEMORY.replace("- 3 points:", "- 3 points") + RATE: "line 5: must be like `- 2 points: ",
    MEMORY + "- 0 points: for nothing.\n" + RATE: "line 1: has 4 points, and its items add up to",
    MEMORY.replace(" (4 points)", "") + RATE: "line 1: must be like `## Memory (4 points)`",
    f"## Memory (4 points)\n{RATE}": "line 1: has 4 points, and its items add up to 0",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_a_rubric_that_contradicts_itself_or_the_handout_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    with pytest.raises(FileError) as error:
        read(tmp_path, monkeypatch, text, ASKED)

    assert BAD[text] in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "rubric.md"))
    assert "\n" not in str(error.value)


BAD_QUESTIONS = {
    "## Question (memory): no points": "handout.md: 'Question (memory): no points' must be like",
    f"{ASKED}\n{ASKED}": "handout.md: two questions are called memory; rename one",
    ASKED.replace("memory", "attention"): "something else is called attention; rename the question",
    ASKED.replace("memory", "final"): "something else is called final; rename the question",
    "# nothing": "the handout has no heading `Question (memory): ",
}


@pytest.mark.parametrize("handout", BAD_QUESTIONS, ids=range(len(BAD_QUESTIONS)))
def test_a_question_without_points_or_with_a_taken_name_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handout: str
) -> None:
    text = MEMORY + RATE
    if "called" in BAD_QUESTIONS[handout]:
        text = text.replace("Memory", handout.partition("(")[2].partition(")")[0].capitalize())

    with pytest.raises(FileError, match=r"^[^\n]+$") as error:
        read(tmp_path, monkeypatch, text, handout)

    assert BAD_QUESTIONS[handout] in str(error.value)


def test_no_question_has_the_name_of_another_column() -> None:
    assert {*FIRST, *FINAL, WRITTEN, *LAST} <= RESERVED


def test_an_assignment_without_a_rubric_says_where_to_name_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rubric, "staff_of", lambda _: Staff())

    with pytest.raises(FileError, match="minBERT has no written questions; name a rubric in"):
        read_rubric(ASSIGNMENT)


def test_the_questions_of_this_assignment_have_their_34_points() -> None:
    assert sum(question.most for question in read_rubric(ASSIGNMENT)) == 34
