"""Writes a class's questions: sheets, keys, and quizzes for platforms to import.

viva/sheets/    a page to give to each student, without answers
viva/keys/      a page for each student, for staff; viva/keys.html lists them
viva/canvas-quiz.zip, viva/moodle-quiz.xml
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from tensormark.classroom.earlier import Earlier
from tensormark.classroom.entry import first_of, number_of
from tensormark.classroom.reports.feedback import folder_names
from tensormark.classroom.viva.sheets import StudentSheet
from tensormark.files import encoded
from tensormark.reports import html
from tensormark.reports.markup import Element, element, joined, table
from tensormark.reports.text import visible
from tensormark.usage import option
from tensormark.viva import canvas_quiz, moodle_quiz, page
from tensormark.viva.question import Sheet

FOLDER = "viva"
SHEETS, KEYS, INDEX = "sheets", "keys", "keys.html"
CANVAS, MOODLE = "canvas-quiz.zip", "moodle-quiz.xml"
STYLE = Path(__file__).with_name("keys.css")
TITLE = "Questions about their own code: keys"
STAFF = "For staff only. Keys have the answers: give students their own sheets and nothing else."

NEXT = "Give that folder to the next run: {}."
HOW = {
    "On Canvas": (
        f"Settings, Import Course Content, QTI .zip file: {CANVAS}. Each student's quiz arrives "
        "unpublished, does not count and shows no results.",
        "Publish the quizzes. Each asks for its code, which is in the list below: give students "
        "their own only. The class can see all titles, which contain names; to show a quiz to one "
        "student only, assign it to them.",
        "Afterwards, in each quiz: Statistics, Student Analysis. Put the files into a folder.",
        NEXT,
    ),
    "On Moodle": (
        f"Question bank, Import, Moodle XML format: {MOODLE}. Each student's questions are a "
        "category below “viva”.",
        "Make a quiz for each student, add the questions of their category, and restrict access to "
        "the student. Explanations of the answers are feedback: set when it is shown.",
        "Afterwards, in each quiz: Results, Responses, with “question text” and “response” ticked, "
        "downloaded as CSV. Put the files into a folder.",
        NEXT,
    ),
}


def _label(student: StudentSheet) -> str:
    return visible(student.entry.hand_in.called, 200)


def _row(name: str, student: StudentSheet) -> Element:
    heading = element("th", _label(student), scope="row")
    if student.sheet is None:
        return element("tr", heading, *(element("td", each) for each in (0, "", "", student.note)))
    file = quote(f"{name}.html")
    links = joined(
        element("a", "key", href=f"{KEYS}/{file}"),
        ", ",
        element("a", "sheet", href=f"{SHEETS}/{file}"),
    )
    count = len(student.sheet.questions)
    return element(
        "tr", heading, *(element("td", cell) for cell in (count, links, student.code, student.note))
    )


def index(named: Sequence[tuple[str, StudentSheet]]) -> str:
    """Return the page that lists everybody."""
    heads = ("student", "questions", "pages", "code on Canvas", "notes")
    everybody = table(heads, (_row(name, student) for name, student in named))
    body = element(
        "main",
        element("header", element("h1", TITLE), element("p", element("b", STAFF))),
        *(_how(title, steps) for title, steps in HOW.items()),
        element(
            "div", everybody, class_="scroll", role="region", aria_label="all students", tabindex=0
        ),
    )
    return html.document(TITLE, body, STYLE)


def _how(title: str, steps: Sequence[str]) -> Element:
    items = (element("li", step.format(option("answers", "folder"))) for step in steps)
    return element("details", element("summary", title), element("ol", *items))


def _quizzes(named: Sequence[tuple[str, StudentSheet]]) -> Iterator[tuple[str, bytes]]:
    """Yield the quizzes to import; students with the same name go by the names of their files."""
    counts = Counter(_label(student) for _, student in named)
    sheets, codes = dict[str, Sheet](), dict[str, str]()
    for name, student in named:
        if student.sheet is not None:
            label = _label(student) if counts[_label(student)] == 1 else name
            sheets[label], codes[label] = student.sheet, student.code
    if sheets:
        title = f"{next(iter(sheets.values())).assignment}: questions"
        yield CANVAS, canvas_quiz.quizzes(sheets, title, codes)
        yield MOODLE, moodle_quiz.quizzes(sheets)


def _files(everybody: Sequence[StudentSheet]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files in the folder."""
    names = folder_names([student.entry.hand_in.student for student in everybody])
    named = list(zip(names, everybody, strict=True))
    for name, student in named:
        if student.sheet is not None:
            label = _label(student)
            yield f"{SHEETS}/{name}.html", encoded(page.paper(student.sheet.for_students(), label))
            yield f"{KEYS}/{name}.html", encoded(page.key(student.sheet, label))
    yield INDEX, encoded(index(named))
    yield from _quizzes(named)


def _report(everybody: Sequence[StudentSheet], folder: Path) -> Iterator[str]:
    sizes = Counter(len(student.sheet.questions) for student in everybody if student.sheet)
    each = ", ".join(
        f"{number_of(size, 'question')} for {number_of(count, 'student')}"
        if index == 0
        else f"{size} for {count}"
        for index, (size, count) in enumerate(sorted(sizes.items(), reverse=True))
    )
    if sizes:
        yield f"viva: {each}: {folder / SHEETS}; for staff: {folder / INDEX}"
        yield f"viva: to import as quizzes: {folder / CANVAS}, {folder / MOODLE}"
    without: dict[str, list[str]] = {}
    for student in everybody:
        if student.sheet is None:
            without.setdefault(student.note, []).append(visible(student.entry.hand_in.called, 60))
    for note, names in without.items():
        count = number_of(len(names), "student")
        yield f"viva: no questions for {count} ({note}): {first_of(names)}"


def write_sheets(everybody: Sequence[StudentSheet], earlier: Earlier) -> list[str]:
    """Write the questions of a class; if there are none, move those of an earlier run away.

    Returns: lines for staff.

    Raises:
        OSError: a file cannot be written.
    """
    earlier.write_folder(FOLDER, _files(everybody) if everybody else ())
    return list(_report(everybody, earlier.out / FOLDER))
