"""Sheets of questions as pages: to practise with, for a student to fill in, and for staff.

The parts that the pages share are built from a `Paper`, so a printed sheet cannot hold an answer.
Every text is escaped where it becomes an element (reports/markup.py).
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tensormark.reports import pages
from tensormark.reports.markup import Element, element, joined, say
from tensormark.viva.picture import figure
from tensormark.viva.question import Asked, Listing, Mark, Paper, Question, Sheet
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
Options = Callable[[int, Asked], Element]


def _line_id(listings: Sequence[Listing], question: Asked) -> str | None:
    """Return the id of the line that a question is about; None if it is not shown."""
    for place, listing in enumerate(listings):
        numbers = (number for number, _ in listing.lines)
        if listing.name == question.function and question.line in numbers:
            return f"f{place}-{question.line}"
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


def _listings(shown: Paper) -> Iterator[Element]:
    numbers_by_line: dict[str, list[int]] = {}
    for number, question in enumerate(shown.questions, start=1):
        if name := _line_id(shown.listings, question):
            numbers_by_line.setdefault(name, []).append(number)
    for place, listing in enumerate(shown.listings):
        yield _listing(place, listing, numbers_by_line, shown.marks)


def _place_link(listings: Sequence[Listing], question: Asked) -> Element:
    name, line = _line_id(listings, question), f"line {question.line}"
    place = element("a", line, href=f"#{name}") if name else line
    return element("span", place, " of ", element("code", question.function), class_="title")


def _options(question: Asked) -> Iterator[tuple[str, Element]]:
    """Yield the options, each after its letter."""
    for letter, option in zip(LETTERS, question.options, strict=False):
        yield letter, joined(element("b", letter), " ", element("span", marked(option)))


def _radios(number: int, question: Asked) -> Element:
    return joined(
        *(
            element("label", element("input", type="radio", name=f"q{number}", value=letter), text)
            for letter, text in _options(question)
        )
    )


def _boxes(number: int, question: Asked) -> Element:
    box = element("span", class_="box")
    items = (element("li", box, text) for _, text in _options(question))
    return element("ul", *items, aria_label=f"answers to question {number}")


def _question(number: int, shown: Paper, options: Options, tag: str = "") -> Element:
    question = shown.questions[number - 1]
    place = _place_link(shown.listings, question)
    name = element("span", tag, class_="tag") if tag else None
    prompt = element("p", marked(question.prompt), class_="prompt", id=f"p{number}")
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
    return pages.document(title, element("main", *parts, class_=classes), STYLE, script=script)


def _head(shown: Paper, name: str, about: str) -> Element:
    items = [element("li", marked(note)) for note in shown.notes]
    return element(
        "header",
        element("h1", f"{shown.assignment}: ", element("span", name, class_="name")),
        element("p", about, MARKS_TEXT if shown.marks else None, class_="about"),
        element("ul", *items, class_="notes") if items else None,
    )


def _columns(shown: Paper, questions: Iterable[Element]) -> Element:
    code = element(
        "div",
        *_listings(shown),
        class_="code",
        tabindex=0,
        role="region",
        aria_label="the functions that the questions are about",
    )
    return element("div", code, element("div", *questions, class_="questions"), class_="columns")


def _practice_form(number: int, question: Question, sheet: Sheet, shown: Paper) -> Element:
    choice = _question(number, shown, _radios)
    return element(
        "form",
        element("fieldset", choice, aria_labelledby=f"p{number}"),
        element("button", "Check", type="submit", hidden="hidden"),
        element("p", class_="verdict", tabindex=-1, hidden="hidden"),
        element("details", element("summary", "Answer"), _explained(question)),
        class_="question",
        id=f"q{number}",
        data_key=LETTERS[question.key],
        data_line=_line_id(sheet.listings, question),
        data_marks=" ".join(mark.label for mark in labelled_marks(question, sheet)),
    )


def practice(sheet: Sheet) -> str:
    """Return the page to practise with: a script marks answers; without it, explanations open."""
    shown, numbered = sheet.for_students(), enumerate(sheet.questions, start=1)
    questions = [_practice_form(number, question, sheet, shown) for number, question in numbered]
    seed = f"Drawn with seed {sheet.seed}; another seed gives other questions."
    parts = (
        _head(shown, sheet.submission, PRACTICE_TEXT),
        element("p", id="count", role="status", hidden="hidden"),
        _columns(shown, questions),
        element("footer", element("p", seed, class_="about")),
    )
    title = f"{sheet.assignment}: questions"
    return _document(title, "viva practice", parts, SCRIPT)


def _rows(shown: Paper) -> int:
    """Return about how many rows a sheet takes on paper, over both columns."""
    rows = (row for listing in shown.listings for row in dedented(listing, shown.marks))
    lines = [row.text + "  " * len(row.marks) for row in rows]
    texts = [text for each in shown.questions for text in (each.prompt, *each.options)]
    count = sum(1 + len(text) // ROW_WIDTH for text in (*lines, *texts))
    return count + 2 * len(shown.listings) + len(texts) // 2


def paper(shown: Paper, name: str) -> str:
    """Return a student's sheet, to print on one page and fill in by hand; it holds no answer."""
    questions = [
        element(
            "section",
            _question(number, shown, _boxes, question.code),
            class_="question",
            id=f"q{number}",
        )
        for number, question in enumerate(shown.questions, start=1)
    ]
    size = sum(_rows(shown) > limit for limit in PAGE_ROWS)
    parts = _head(shown, name, PAPER_TEXT), _columns(shown, questions)
    return _document(f"{shown.assignment}: {name}", f"viva paper size{size}", parts)


def _staff_section(number: int, question: Question, shown: Paper) -> Element:
    tag = f"{question.family} {question.code}"
    follow_up = element("p", element("b", "Ask next: "), marked(question.ask_next))
    return element(
        "section",
        _question(number, shown, _boxes, tag),
        element(
            "div", _explained(question), follow_up if question.ask_next else None, class_="answer"
        ),
        class_=f"question is{LETTERS[question.key]}",
        id=f"q{number}",
    )


def key(sheet: Sheet, name: str) -> str:
    """Return the questions for staff, with the answers and what to ask next."""
    shown = sheet.for_students()
    questions = [_staff_section(n, each, shown) for n, each in enumerate(sheet.questions, start=1)]
    parts = _head(shown, name, STAFF_TEXT), _columns(shown, questions)
    return _document(f"{sheet.assignment}: key of {name}", "viva staff", parts)
