"""teach.html: what a class did, without anything that could identify one of its members."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from teaching import CONV, DEADLINE, MISSING, PASSED, lesson, made, result, shown, students, words

from tensormark.authoring.course import open_course
from tensormark.classroom.entry import Entry, HandIn, legible
from tensormark.classroom.reports import teach
from tensormark.classroom.reports.lesson import lesson_of
from tensormark.exercise import Assignment
from tensormark.judging import general

import formats
import toy
from test_payloads import PAYLOADS, is_clean


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_whatever_a_student_writes_the_page_is_the_same(
    assignment: Assignment, payload: str
) -> None:
    def draw(text: str) -> str:
        mistakes = [f"{text}|bias_forgotten", "last_window_missing", text, None]
        entries = students(*(result(mistake, text) for mistake in mistakes * 5), name=text)
        details = {"notes": (text,), "others": (Path(text),), "keys": (text,), "fault": text}
        details["submitted"] = DEADLINE
        entries = [replace(e, problem=text, hand_in=replace(e.hand_in, **details)) for e in entries]
        entries = [replace(e, previous=e.result, sources={text: text}) for e in entries]
        versions = {legible(entry.hand_in.student): 2 for entry in entries}
        options = {"deadline": DEADLINE, "versions": versions}
        last = lesson(assignment, entries).term
        return teach.page(lesson(assignment, entries, last=last, **options))

    page = draw(payload)

    assert page == draw("harmless")
    assert MISSING in page
    assert "This term and the last" in page


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_texts_of_an_assignment_stay_text(assignment: Assignment, payload: str) -> None:
    hostile = {"conv": {"variants": {"a": {"says": payload, "section": payload}}}}
    plain = {"conv": {"variants": {"a": {"says": "a", "section": "b"}}}}

    def draw(recorded: dict[str, Any], name: str) -> str:
        renamed = replace(assignment, name=name)
        return teach.page(lesson_of(renamed, recorded, made(*["a"] * 12)))

    page = draw(hostile, payload)
    assert formats.Tags(page).tags == formats.Tags(draw(plain, "plain")).tags
    assert is_clean(page)


def test_mistakes_are_counted_one_by_one_and_once_for_each_student(assignment: Assignment) -> None:
    both = "last_window_missing+bias_forgotten"
    twice = result(both)
    twice["exercises"][0]["findings"] *= 2
    entries = students(twice, *map(result, [both] * 3 + ["bias_forgotten"] * 4 + [PASSED] * 8))

    text = shown(assignment, entries, CONV)

    assert f"{MISSING} 4 of 16, 25%" in text
    assert "the bias is forgotten 8 of 16, 50%" in text
    assert text.index("the bias is forgotten") < text.index(MISSING)


def test_a_mistake_with_several_possible_names_is_unsure(assignment: Assignment) -> None:
    either = "last_window_missing+bias_forgotten|patterns_reversed+bias_forgotten"
    entries = made(*[either] * 4, *["patterns_reversed"] * 5, *[PASSED] * 11)

    text = shown(assignment, entries, CONV)

    assert "the bias is forgotten 4 of 20, 20%" in text
    assert f"the patterns are reversed 5 of 20, 25%; perhaps 4 more: {teach.UNSURE}" in text
    assert f"{MISSING} perhaps 4 of 20, 20%: {teach.UNSURE}" in text


def test_a_mistake_of_two_students_is_not_named(assignment: Assignment) -> None:
    rare = ["bias_forgotten"] * 2 + ["patterns_reversed"]
    entries = made(*rare, *["last_window_missing"] * 3, *[PASSED] * 10)

    text = shown(assignment, entries, CONV)

    assert "bias is forgotten" not in text
    assert "patterns are reversed" not in text
    assert "other mistakes, rare or without a name 3 of 16, 19%" in text


def test_a_team_counts_as_one_student_where_small_counts_are_hidden(assignment: Assignment) -> None:
    entries = made(*["bias_forgotten"] * 4, *[PASSED] * 10)
    team = [replace(e, hand_in=replace(e.hand_in, path=Path("in/team"))) for e in entries[:4]]

    assert "bias is forgotten" in shown(assignment, entries, CONV)
    assert "bias is forgotten" not in shown(assignment, [*team, *entries[4:]], CONV)


def test_a_general_mistake_has_its_words_and_an_unknown_one_has_none(
    assignment: Assignment,
) -> None:
    entries = made(*["input_changed"] * 4, *["forbidden"] * 3, *["new_one"] * 3)

    text = shown(assignment, entries, CONV)

    assert "inputs are changed in place 4 of 10" in text
    assert "the code calls something that is not allowed in this assignment 3 of 10" in text
    assert "other mistakes, rare or without a name 3 of 10" in text


def test_every_name_that_judging_gives_has_words() -> None:
    source = Path(general.__file__).read_text(encoding="utf-8")
    names = {general.RETURNED, general.CARRIED_OVER}
    names |= set(re.findall(r'General\(\s*"(\w+)"', source))

    assert len(names) > 12
    assert names == set(general.WORDS)


def test_equal_scores_are_not_shown_as_a_range(assignment: Assignment) -> None:
    scores = [40.0, 60.0, *[80.0] * 9, 100.0]
    entries = students(*(result(PASSED) | {"score": score} for score in scores))

    assert "at least half of them have 80." in shown(assignment, entries, "class")


def test_the_mark_is_explained_where_a_number_has_it(assignment: Assignment) -> None:
    def text_with(few: int) -> str:
        graded = [result(None, score=score) for score in [0.0] * 5 + [25.0] * few]
        return shown(assignment, students(*graded, *map(result, [PASSED] * 9)), "class")

    assert teach.MIXED in text_with(2)
    assert teach.MIXED not in text_with(3)
    assert teach.FEW in text_with(3)


def test_outcomes_are_a_histogram_by_points(assignment: Assignment) -> None:
    graded = [result(None, score=score) for score in [0.0] * 3 + [25.0] * 4]
    entries = students(*graded, *map(result, [PASSED] * 13))

    page = teach.page(lesson(assignment, entries))

    labels = re.findall(r'<svg[^>]* aria-label="(not [^"]*|passed[^"]*)"', page)
    assert labels[:3] == [
        "not passed, 0 points: 3 of 20, 15%",
        "not passed, 25 points: 4 of 20, 20%",
        "passed: 13 of 20, 65%",
    ]
    assert "not written all" in words(page, "exercise-detection")


@pytest.mark.parametrize("few", [1, 2])
@pytest.mark.parametrize("others", [0, 5])
def test_one_or_two_students_are_in_no_number_and_no_difference_of_two(
    assignment: Assignment, few: int, others: int
) -> None:
    graded = [result(None, score=25.0)] * few + [result(None)] * others
    entries = students(*graded, *map(result, [PASSED] * 14))

    text = shown(assignment, entries, CONV)

    numbers = [int(number) for number in re.findall(r"(\d+) of \d+, ", text)]
    assert sorted(set(numbers)) == ([5 + few, 14] if others else [])
    assert ("passed nearly all" in text) == (not others)


def test_what_overview_and_histogram_say_of_the_passed_is_the_same(assignment: Assignment) -> None:
    scores = [0.0] * 5 + [25.0] * 2
    entries = students(*(result(None, score=s) for s in scores), *map(result, [PASSED] * 4))

    page = teach.page(lesson(assignment, entries))

    assert "conv 6 of 11, 55% *" in words(page, "class")
    assert "passed 6 of 11, 55% *" in words(page, CONV)


def test_a_small_class_has_no_number_at_all(assignment: Assignment) -> None:
    entries = made(*["last_window_missing"] * 4, "bias_forgotten", *[PASSED] * 4)
    versions = {entry.hand_in.student: 2 for entry in entries}

    page = teach.page(lesson(assignment, entries, versions=versions))

    assert "<svg" not in page
    assert MISSING in page
    assert "bias is forgotten" not in page
    assert not re.search(r"\d+ of \d|%", words(page))


def test_a_class_without_a_graded_submission_has_a_page(assignment: Assignment) -> None:
    assert "nothing is counted here" in shown(assignment, [Entry(HandIn("a", "a", None))])


def test_the_example_is_the_projects_with_the_wrong_line_and_the_right_one(
    assignment: Assignment,
) -> None:
    page = teach.page(lesson(assignment, made(*["last_window_missing"] * 10)))

    wrong = toy.WINDOWS.replace(".unfold", "[..., :-1].unfold")
    assert f'<dt>wrong</dt><dd class="wrong"><pre>{wrong}  # (' in page
    assert f'<dt>right</dt><dd class="right"><pre>{toy.WINDOWS}  # (' in page
    assert "→ handout.md, Problem (conv), “The windows”" in words(page)


def test_without_mistakes_or_solution_the_page_has_words_alone(
    assignment: Assignment, tmp_path: Path
) -> None:
    complete = lesson(assignment, made(*["last_window_missing"] * 10))
    without = replace(complete.course, variants=())
    elsewhere = replace(complete.course, assignment=replace(assignment, folder=tmp_path))

    assert open_course(assignment).variants
    for course in (without, elsewhere):
        page = teach.page(replace(complete, course=course))
        assert MISSING in page
        assert "<pre>" not in page
