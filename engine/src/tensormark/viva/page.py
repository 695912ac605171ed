"""Sheets of questions as pages: to practise with, for a student to fill in, and for staff.

The parts that the pages share are built from the result of `Sheet.for_students`, so a printed sheet
cannot hold an answer. Every text is escaped where it becomes an element (reports/markup.py).
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tensormark.reports import html
from tensormark.reports.markup import Element, element, joined, say
from tensormark.viva.picture import figure
from tensormark.viva.question import Listing, Mark, Question, Sheet
from tensormark.viva.texts import LETTERS, Row, dedented, labelled_marks, marked

STYLE = Path(__file__).with_name("viva.css")
SCRIPT = Path(__file__).with_name("viva.js")
PAGE_ROWS = (90, 112)  # of a printed page in large and in medium type
ROW_WIDTH = 62  # characters of such a row
PRACTICE_TEXT = "Questions on your own code. Each has one right answer, found by running your code."
PAPER_TEXT = (
    "Questions on your own code. One answer is right: tick it. Lines are numbered as in your file."
)
MARKS_TEXT = " Small numbers mark the code that questions refer to."
STAFF_TEXT = "Questions on a student's own code, with the answers. For staff only."
PublicQuestion = Mapping[str, Any]  # a question as students may see it
Options = Callable[[int, PublicQuestion], Element]


def _line_id(listings: Sequence[Listing], function: str, line: int) -> str | None:
    """Return the id of the line that a question is about; None if it is not shown."""
    for place, listing in enumerate(listings):
        if listing.name == function and any(number == line for number, _ in listing.lines):
            return f"f{place}-{line}"
    return None


def _code(text: str, marks: Sequence[Mark]) -> Element:
    """Return code with an element around each mark; marks may be nested."""
    parts, at = list[Element](), 0
    for place, mark in enumerate(marks):
        if mark.start < at:  # inside the last one
            continue
        inner = [
            dataclasses.replace(other, start=other.start - mark.start, end=other.end - mark.start)
            for other in marks[place + 1 :]
            if other.start < mark.end
        ]
        content = _code(text[mark.start : mark.end], inner)
        whole = element("mark", content, data_label=mark.label)
        before = joined(say(text[at : mark.start]), element("wbr") if mark.start else None)
        parts += before, whole
        at = mark.end
    return joined(*parts, say(text[at:]))


def _line(name: str, row: Row, question_numbers: Sequence[int], after_gap: bool) -> Element:
    links = [
        element("a", f"Q{number}", href=f"#q{number}", aria_label=f"to question {number}")
        for number in question_numbers
    ]
    kinds = ["asked"] * bool(links) + ["gap"] * after_gap
    code = element("code", _code(row.text, row.marks) or " ")
    return element("li", code, *links, value=row.number, id=name, class_=" ".join(kinds) or None)


def _listing(
    place: int,
    listing: Listing,
    numbers_by_line: Mapping[str, Sequence[int]],
    marks: Sequence[Mark],
) -> Element:
    """Return a function; a line that questions are about links to them."""
    rows, before = [], None
    for row in dedented(listing, marks):
        name, after_gap = f"f{place}-{row.number}", before is not None and row.number > before + 1
        rows.append(_line(name, row, numbers_by_line.get(name, ()), after_gap))
        before = row.number
    caption = element("figcaption", element("code", listing.name), " in ", listing.file)
    return element("figure", caption, element("ol", *rows, class_="lines"), class_="listing")


def _listings(
    listings: Sequence[Listing], questions: Sequence[PublicQuestion], marks: Sequence[Mark]
) -> Element:
    numbers_by_line: dict[str, list[int]] = {}
    for number, question in enumerate(questions, start=1):
        if name := _line_id(listings, question["function"], question["line"]):
            numbers_by_line.setdefault(name, []).append(number)
    return joined(
        *(_listing(place, each, numbers_by_line, marks) for place, each in enumerate(listings))
    )


def _place_link(listings: Sequence[Listing], question: PublicQuestion) -> Element:
    name = _line_id(listings, question["function"], question["line"])
    line = f"line {question['line']}"
    place = element("a", line, href=f"#{name}") if name else line
    return element("span", place, " of ", element("code", question["function"]), class_="title")


def _options(question: PublicQuestion) -> Iterator[tuple[str, Element]]:
    """Yield the options, each after its letter."""
    for letter, option in zip(LETTERS, question["options"], strict=False):
        yield letter, joined(element("b", letter), " ", element("span", marked(option)))


def _radios(number: int, question: PublicQuestion) -> Element:
    return joined(
        *(
            element("label", element("input", type="radio", name=f"q{number}", value=letter), text)
            for letter, text in _options(question)
        )
    )


def _boxes(number: int, question: PublicQuestion) -> Element:
    box = element("span", class_="box")
    items = (element("li", box, text) for _, text in _options(question))
    return element("ul", *items, aria_label=f"answers to question {number}")


def _question(
    number: int,
    question: PublicQuestion,
    listings: Sequence[Listing],
    options: Options,
    tag: str = "",
) -> Element:
    place = _place_link(listings, question)
    name = element("span", tag, class_="tag") if tag else None
    prompt = element("p", marked(question["prompt"]), class_="prompt", id=f"p{number}")
    return joined(
        element("h2", f"Question {number} ", place, name), prompt, options(number, question)
    )


def _explained(question: Question) -> Element:
    """Return the answer, why it is right, and why the others are not."""
    others = [
        element("li", element("b", letter), " ", element("span", marked(why)))
        for letter, why in zip(LETTERS, question.others, strict=False)
        if why
    ]
    letter = element("b", LETTERS[question.key])
    return joined(
        element("p", "The answer is ", letter, ". ", marked(question.explanation)),
        element("p", "Why not the others:") if others else None,
        element("ul", *others, class_="others") if others else None,
        figure(question.picture) if question.picture else None,
    )


def _document(title: str, classes: str, parts: Iterable[object], script: Path | None = None) -> str:
    return html.document(title, element("main", *parts, class_=classes), STYLE, script=script)


def _head(
    title: str, name: str, about: str, notes: Sequence[str], marks: Sequence[object]
) -> Element:
    items = [element("li", marked(note)) for note in notes]
    return element(
        "header",
        element("h1", f"{title}: ", element("span", name, class_="name")),
        element("p", about, MARKS_TEXT if marks else None, class_="about"),
        element("ul", *items, class_="notes") if items else None,
    )


def _columns(listings: Element, questions: Iterable[Element]) -> Element:
    code = element(
        "div",
        listings,
        class_="code",
        tabindex=0,
        role="region",
        aria_label="the functions that the questions are about",
    )
    return element("div", code, element("div", *questions, class_="questions"), class_="columns")


def _question_pairs(sheet: Sheet) -> Iterator[tuple[int, PublicQuestion, Question]]:
    """Yield each question's number, the question as students see it, and the whole question."""
    shown = sheet.for_students()["questions"]
    for number, (public_question, question) in enumerate(
        zip(shown, sheet.questions, strict=True), start=1
    ):
        yield number, public_question, question


def _practice_form(
    number: int, public_question: PublicQuestion, question: Question, sheet: Sheet
) -> Element:
    choice = _question(number, public_question, sheet.listings, _radios)
    return element(
        "form",
        element("fieldset", choice, aria_labelledby=f"p{number}"),
        element("button", "Check", type="submit", hidden="hidden"),
        element("p", class_="verdict", tabindex=-1, hidden="hidden"),
        element("details", element("summary", "Answer"), _explained(question)),
        class_="question",
        id=f"q{number}",
        data_key=LETTERS[question.key],
        data_line=_line_id(sheet.listings, question.function, question.line),
        data_marks=" ".join(mark.label for mark in labelled_marks(question, sheet)),
    )


def practice(sheet: Sheet) -> str:
    """Return the page to practise with: a script marks answers; without it, explanations open."""
    questions = [_practice_form(*each, sheet) for each in _question_pairs(sheet)]
    code = _listings(sheet.listings, sheet.for_students()["questions"], sheet.marks)
    seed = f"Drawn with seed {sheet.seed}; another seed gives other questions."
    parts = (
        _head(sheet.assignment, sheet.submission, PRACTICE_TEXT, sheet.notes, sheet.marks),
        element("p", id="count", role="status", hidden="hidden"),
        _columns(code, questions),
        element("footer", element("p", seed, class_="about")),
    )
    title = f"{sheet.assignment}: questions"
    return _document(title, "viva practice", parts, SCRIPT)


def _rows(
    listings: Sequence[Listing], questions: Iterable[PublicQuestion], marks: Sequence[Mark]
) -> int:
    """Return about how many rows a sheet takes on paper, over both columns."""
    lines = [row.text + "  " * len(row.marks) for each in listings for row in dedented(each, marks)]
    texts = [text for each in questions for text in (each["prompt"], *each["options"])]
    rows = sum(1 + len(text) // ROW_WIDTH for text in (*lines, *texts))
    return rows + 2 * len(listings) + len(texts) // 2


def paper(sheet: Mapping[str, Any], name: str) -> str:
    """Return a student's sheet, to print on one page and fill in by hand; it holds no answer.

    Args:
        sheet: what `Sheet.for_students` returned.
    """
    listings = [Listing(**each) for each in sheet["listings"]]
    marks = [Mark(**each) for each in sheet["marks"]]
    questions = [
        element(
            "section",
            _question(number, public_question, listings, _boxes, public_question["code"]),
            class_="question",
            id=f"q{number}",
        )
        for number, public_question in enumerate(sheet["questions"], start=1)
    ]
    size = sum(_rows(listings, sheet["questions"], marks) > limit for limit in PAGE_ROWS)
    parts = (
        _head(sheet["assignment"], name, PAPER_TEXT, sheet["notes"], marks),
        _columns(_listings(listings, sheet["questions"], marks), questions),
    )
    return _document(f"{sheet['assignment']}: {name}", f"viva paper size{size}", parts)


def _staff_section(
    number: int, public_question: PublicQuestion, question: Question, sheet: Sheet
) -> Element:
    tag = f"{question.family} {question.code}"
    follow_up = element("p", element("b", "Ask next: "), marked(question.ask_next))
    return element(
        "section",
        _question(number, public_question, sheet.listings, _boxes, tag),
        element(
            "div",
            _explained(question),
            follow_up if question.ask_next else None,
            class_="answer",
        ),
        class_=f"question is{LETTERS[question.key]}",
        id=f"q{number}",
    )


def key(sheet: Sheet, name: str) -> str:
    """Return the questions for staff, with the answers and what to ask next."""
    questions = [_staff_section(*each, sheet) for each in _question_pairs(sheet)]
    code = _listings(sheet.listings, sheet.for_students()["questions"], sheet.marks)
    parts = (
        _head(sheet.assignment, name, STAFF_TEXT, sheet.notes, sheet.marks),
        _columns(code, questions),
    )
    return _document(f"{sheet.assignment}: key of {name}", "viva staff", parts)
