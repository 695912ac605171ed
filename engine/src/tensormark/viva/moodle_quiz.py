"""Sheets as questions that Moodle imports: one XML file, with a category for each student.

A category holds one student's questions in the question bank; a quiz takes them from there. Their
explanations are feedback, which Moodle shows after the attempt if the quiz is set to do so.
"""

from collections.abc import Iterator, Mapping
from html import escape

from tensormark.reports.markup import Element, element
from tensormark.viva.question import Question, Sheet
from tensormark.viva.texts import fragment, marked

PARENT = "$course$/viva"  # the category above all students'


def _text(tag: str, html: Element, **attributes: object) -> Element:
    text = element("text", Element(escape(html, quote=False)))
    return element(tag, text, format="html", **attributes)


def _category(student: str) -> Element:
    name = student.strip().replace("/", "//")
    name = f" {name} " if name[:1] == "/" or name[-1:] == "/" else name  # or it would be a path
    path = f"{PARENT}/{name}"
    return element("question", element("category", element("text", path)), type="category")


def _answers(question: Question) -> Iterator[Element]:
    whys = (*question.others, *[""] * len(question.options))
    for place, (option, why) in enumerate(zip(question.options, whys, strict=False)):
        feedback = _text("feedback", marked(why))
        fraction = 100 if place == question.key else 0
        text = element("text", Element(escape(marked(option), quote=False)))
        yield element("answer", text, feedback, fraction=fraction, format="html")


def _question(question: Question, sheet: Sheet) -> Element:
    settings = {
        "defaultgrade": 1,
        "penalty": 0,
        "hidden": 0,
        "idnumber": question.code,
        "single": "true",
        "shuffleanswers": 0,
        "answernumbering": "ABCD",
    }
    return element(
        "question",
        element("name", element("text", f"[{question.code}] {question.family}")),
        _text("questiontext", fragment(question, sheet)),
        _text("generalfeedback", marked(question.explanation)),
        *(element(tag, value) for tag, value in settings.items()),
        *_answers(question),
        type="multichoice",
    )


def quizzes(sheets: Mapping[str, Sheet]) -> bytes:
    """Return the file: Moodle XML, in the order of the students.

    Args:
        sheets: by the student's name.
    """
    entries = [
        entry
        for student, sheet in sheets.items()
        for entry in (_category(student), *(_question(each, sheet) for each in sheet.questions))
    ]
    quiz = element("quiz", *entries)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{quiz}\n'.encode()
