"""What a class's questions are written to: sheets, keys, and quizzes that platforms import.

viva/sheets/    a page for each student, to be given to them: no answers
viva/keys/      a page for each student, for staff; viva/keys.html lists them
viva/canvas-quiz.zip, viva/moodle-quiz.xml
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from tensormark.classroom.earlier import Earlier
from tensormark.classroom.entry import first_of, number_of
from tensormark.classroom.feedback import folder_names
from tensormark.classroom.viva import Drawn
from tensormark.reports import html
from tensormark.reports.markup import Element, element, joined
from tensormark.reports.text import visible
from tensormark.viva import canvas_quiz, moodle_quiz, page
from tensormark.viva.question import Sheet

FOLDER = "viva"
SHEETS, KEYS, INDEX = "sheets", "keys", "keys.html"
CANVAS, MOODLE = "canvas-quiz.zip", "moodle-quiz.xml"
STYLES = (html.STYLE, Path(__file__).with_name("gradebook.css"))
TITLE = "Questions about their own code: keys"
STAFF = (
    "For staff. Keys have the answers: give a student their own sheet, and nothing else of this."
)


def _called(drawn: Drawn) -> str:
    return visible(drawn.entry.hand_in.called, 200)


def _row(name: str, drawn: Drawn) -> Element:
    student = element("th", _called(drawn), scope="row")
    if drawn.sheet is None:
        return element("tr", student, element("td", 0), element("td"), element("td", drawn.note))
    file = quote(f"{name}.html")
    links = joined(
        element("a", "key", href=f"{KEYS}/{file}"),
        ", ",
        element("a", "sheet", href=f"{SHEETS}/{file}"),
    )
    count, notes = len(drawn.sheet.questions), "; ".join(drawn.sheet.notes)
    return element("tr", student, *(element("td", cell) for cell in (count, links, notes)))


def _index(named: Sequence[tuple[str, Drawn]]) -> str:
    """Return the page that lists everybody."""
    heads = ("student", "questions", "pages", "notes")
    head = element("tr", *(element("th", text, scope="col") for text in heads))
    rows = (_row(name, drawn) for name, drawn in named)
    table = element("table", element("thead", head), element("tbody", *rows))
    body = element(
        "main",
        element("header", element("h1", TITLE), element("p", element("b", STAFF))),
        element("div", table, class_="scroll"),
    )
    style = "".join(path.read_text(encoding="utf-8") for path in STYLES)
    return html.document(TITLE, style, body)


def _quizzes(named: Sequence[tuple[str, Drawn]]) -> Mapping[str, Sheet]:
    """Return the sheets by what students are called; where two share it, by the names of files."""
    counts = Counter(_called(drawn) for _, drawn in named)
    return {
        called if counts[called := _called(drawn)] == 1 else name: drawn.sheet
        for name, drawn in named
        if drawn.sheet is not None
    }


def _files(everybody: Sequence[Drawn]) -> Iterator[tuple[str, bytes]]:
    """Yield the names of files in the folder, and what is in them."""
    names = folder_names([drawn.entry.hand_in.student for drawn in everybody])
    named = list(zip(names, everybody, strict=True))
    for name, drawn in named:
        if drawn.sheet is not None:
            called = _called(drawn)
            yield f"{SHEETS}/{name}.html", _page(page.paper(drawn.sheet.for_students(), called))
            yield f"{KEYS}/{name}.html", _page(page.key(drawn.sheet, called))
    yield INDEX, _page(_index(named))
    if sheets := _quizzes(named):
        yield CANVAS, canvas_quiz.quizzes(sheets)
        yield MOODLE, moodle_quiz.quizzes(sheets).encode("utf-8", "backslashreplace")


def _page(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _told(everybody: Sequence[Drawn], folder: Path) -> Iterator[str]:
    """Yield what to tell staff, a line each."""
    sizes = Counter(len(drawn.sheet.questions) for drawn in everybody if drawn.sheet)
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
    for drawn in everybody:
        if drawn.sheet is None:
            without.setdefault(drawn.note, []).append(visible(drawn.entry.hand_in.called, 60))
    for note, names in without.items():
        count = number_of(len(names), "student")
        yield f"viva: no questions for {count} ({note}): {first_of(names)}"


def write_sheets(everybody: Sequence[Drawn], out: Path) -> list[str]:
    """Write the questions of a class; nobody's: move those of an earlier run away.

    Returns: what to tell staff, a line each.

    Raises:
        OSError: a file cannot be written.
    """
    earlier = Earlier(out)
    earlier.write_folder(FOLDER, _files(everybody) if everybody else ())
    return [*_told(everybody, out / FOLDER), *earlier.lines()]
