"""Tests of the pages of a sheet: what they show, what a paper hides, and students' texts."""

import dataclasses

import pytest

from tensormark.viva import page
from tensormark.viva.question import Listing, Mark, Picture, Sheet
from tensormark.viva.texts import dedented, parts

import vivas
from formats import Tags
from payloads import PAYLOADS

PAGES = {
    "practice": page.practice,
    "paper": lambda sheet: page.paper(sheet.for_students(), "Ada"),
    "key": lambda sheet: page.key(sheet, "Ada"),
}
HOSTILE = [*PAYLOADS, "\x00", "\u202e", "\ud800", "`", "``", "`<b>`", "</style>", "e\u0301" * 9]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_the_code_with_its_numbers_and_every_question(name: str) -> None:
    text = PAGES[name](vivas.sheet())

    tags = Tags(text)
    lines = [attrs["value"] for tag, attrs in tags.elements if tag == "li" and "value" in attrs]
    assert tags.open == []
    assert lines == [str(number) for listing in vivas.LISTINGS for number, _ in listing.lines]
    assert text.count('class="prompt"') == len(vivas.QUESTIONS)
    assert "the rows of <code>probs</code> no longer sum to 1" in text


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_line_or_a_question_of_the_page(name: str) -> None:
    tags = Tags(PAGES[name](vivas.sheet())).elements

    ids = {attrs["id"] for _, attrs in tags if "id" in attrs}
    links = [str(attrs["href"]) for tag, attrs in tags if tag == "a"]
    assert len(links) == 2 * len(vivas.QUESTIONS)
    assert {link.removeprefix("#") for link in links} <= ids


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("payload", HOSTILE, ids=ascii)
def test_texts_of_a_student_change_no_element(name: str, payload: str) -> None:
    plain = vivas.with_text(vivas.sheet(), lambda text: f"x {text.replace('`', '')}")
    hostile = vivas.with_text(plain, lambda text: payload.replace("`", "") + text)

    tags = Tags(PAGES[name](hostile)).tags

    assert tags == Tags(PAGES[name](plain)).tags


@pytest.mark.parametrize("payload", ["`", "a`b", "`<script>`", "``", "`a` `b"])
def test_backticks_lose_no_letter_and_open_nothing(payload: str) -> None:
    sheet = vivas.with_text(vivas.sheet(), lambda _: payload)

    assert Tags(page.practice(sheet)).open == []
    assert "<script>`" not in page.practice(sheet)
    assert "".join(piece for _, piece in parts("`a` `b")) == "a `b"


def test_a_paper_shows_only_what_students_may_see() -> None:
    sheet = vivas.sheet()
    others = tuple(
        dataclasses.replace(question, key=(question.key + 1) % 4) for question in sheet.questions
    )

    text = page.paper(sheet.for_students(), "Ada")
    other = page.paper(dataclasses.replace(sheet, questions=others, seed="8").for_students(), "Ada")

    assert text == other
    assert "<script" not in text
    assert all(question.code in text for question in sheet.questions)
    for question in sheet.questions:
        for secret in (question.explanation, *question.others, question.ask_next):
            longest = max(secret.split("`"), key=len).strip()
            assert not longest or longest not in text


def test_the_key_has_answer_reasons_numbers_and_what_to_ask_next() -> None:
    text = page.key(vivas.sheet(), "Ada")

    for question in vivas.QUESTIONS:
        assert f"The answer is <b>{'ABCD'[question.key]}</b>" in text
        assert question.code in text
    assert text.count("Ask next:") == len(vivas.QUESTIONS)
    assert "changed: 11 of 12 differ" in text
    assert "<script" not in text


def test_practice_opens_answers_without_the_script() -> None:
    tags = Tags(page.practice(vivas.sheet())).elements

    assert sum(tag == "details" for tag, _ in tags) == len(vivas.QUESTIONS)
    assert all("hidden" in attrs for tag, attrs in tags if tag == "button")


def test_the_same_sheet_gives_the_same_pages() -> None:
    assert [make(vivas.sheet()) for make in PAGES.values()] == [
        make(Sheet.from_json(dataclasses.asdict(vivas.sheet()))) for make in PAGES.values()
    ]


def test_code_is_shown_without_the_indentation_of_all_lines() -> None:
    listing = Listing("f", "a.py", ((3, "\tdef f():"), (4, ""), (5, "\t    return 1  ")))
    marks = Mark("f", 5, 15, 16, "2"), Mark("f", 5, 8, 16, "1"), Mark("g", 5, 8, 16, "3")

    (*before, last) = dedented(listing, marks)

    assert before == [(3, "def f():", ()), (4, "", ())]
    assert (last.number, last.text) == (5, "    return 1")
    assert [last.text[mark.start : mark.end] for mark in last.marks] == ["return 1", "1"]


@pytest.mark.parametrize("name", PAGES)
def test_marks_lie_around_their_code_and_in_one_another(name: str) -> None:
    text = PAGES[name](vivas.sheet()).replace("<wbr></wbr>", "")

    inner = '<mark data-label="5"><mark data-label="6">scores</mark> + mask</mark>'
    softmax = f'<mark data-label="4">F.softmax({inner}, <mark data-label="7">dim=-1</mark>)</mark>'
    assert f'probs = <mark data-label="3">self.dropout({softmax})</mark></code>' in text
    assert text.count("<mark ") == len(vivas.MARKS)


def test_marks_outside_the_code_harm_no_page() -> None:
    wild = [(0, 99), (10, 20), (15, 25), (15, 15), (15, 25), (90, 99)]
    marks = tuple(Mark("Mixer.mix", 69, *place, '"<b>') for place in wild)

    for make in PAGES.values():
        text = make(dataclasses.replace(vivas.sheet(), marks=marks))
        assert Tags(text).open == []
        assert text.count("<mark ") == text.count('data-label="&quot;&lt;b&gt;"') == len(wild)


def test_a_picture_marks_differences_if_few_and_accepts_any_number() -> None:
    wild = float("nan"), float("inf"), -0.0, 1e30
    picture = Picture("numbers", (wild, (1, 2, 3, 4)), (wild, (1, 2, 3, 5)))
    first, *rest = vivas.QUESTIONS
    sheet = dataclasses.replace(
        vivas.sheet(), questions=(dataclasses.replace(first, picture=picture), *rest)
    )

    text = page.key(sheet, "Ada")

    assert "changed: 1 of 8 differ" in text
    assert "<b>4</b>" in text
    assert "<b>5</b>" in text
    assert "<td>nan</td><td>inf</td><td>0</td>" in text


def test_a_sheet_without_questions_is_a_page() -> None:
    sheet = Sheet("minimodel", "ada", "7", (), (), ("Nothing is right yet.",))

    assert all("Nothing is right yet." in make(sheet) for make in PAGES.values())
