"""teach.html: what a class did, to be shown to that class, without students' words.

All text is from the engine, the assignment and its solution. Mistakes are described by their ids,
since what a student was told may quote the submission. Counts are from anonymous.py.
"""

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tensormark.classroom.reports.anonymous import (
    FEWEST,
    SMALLEST,
    Bar,
    Mistake,
    Places,
    Share,
    Term,
)
from tensormark.classroom.reports.lesson import Lesson
from tensormark.exercise import Exercise
from tensormark.reports import html
from tensormark.reports.markup import Element, element, joined, say, table
from tensormark.reports.text import points

STYLE = Path(__file__).with_name("teach.css")
LISTED, QUOTED = 6, 3  # mistakes of an exercise that are listed, and that are shown with code
COMPARED = 5  # mistakes of each of two terms
FEW = f"No bar represents fewer than {FEWEST} hand-ins, and rarer mistakes are not named."
MIXED = "* includes a few with a different result."
TOO_FEW = (
    f"Fewer than {SMALLEST} hand-ins were graded, so nothing is counted here. Mistakes are named "
    f"if at least {FEWEST} made them."
)
UNSURE = "their results fit another mistake, too"
CONTENTS = "contents"


class Screen(NamedTuple):
    """A section that fills the screen or a printed page; `short` is its name in links."""

    id: str
    short: str
    title: object
    parts: Sequence[object]


def _bar_row(head: object, label: str, amount: object, percent: float, kind: str) -> Element:
    full = element("rect", width=f"{percent:.1f}", height=8, class_=kind)
    size = {"viewBox": "0 0 100 8", "preserveAspectRatio": "none"}
    figure = element("svg", full, **size, role="img", aria_label=f"{label}: {amount}")
    cells = element("td", figure), element("td", amount)
    return element("tr", element("th", head, scope="row"), *cells)


def _bar_table(caption: str, rows: Iterable[Element]) -> Element:
    return element("table", element("caption", caption), element("tbody", *rows), class_="bars")


def _shares(term: Term, bars: Sequence[Bar]) -> list[Share]:
    whole = Places().union(*(bar.places for bar in bars))
    return [term.amount(bar, whole) for bar in bars]


def _histogram(term: Term, bars: Sequence[Bar], caption: str) -> Element:
    rows = (
        _bar_row(bar.label, bar.label, share, share.percent, bar.kind)
        for bar, share in zip(bars, _shares(term, bars), strict=True)
    )
    return _bar_table(caption, rows)


def _code(wrong: Sequence[str], right: Sequence[str]) -> Element | None:
    parts = []
    shown = (("wrong", "wrong", wrong), ("right" if wrong else "missing", "right", right))
    for name, kind, lines in shown:
        if lines:
            block = element("pre", say(textwrap.dedent("\n".join(lines)), keep="\n"))
            parts += [element("dt", name), element("dd", block, class_=kind)]
    return element("dl", *parts, class_="code") if parts else None


def _amount(term: Term, mistake: Mistake) -> str:
    """Say how many made a mistake, or may have."""
    whole, unsure = term.having(mistake.exercise), mistake.unsure
    if not mistake.sure:
        return f"perhaps {term.share(unsure, whole) if term.counted else 'some'}: {UNSURE}"
    if not term.counted:
        return ""
    more = f"; perhaps {len(unsure)} more: {UNSURE}" if unsure else ""
    return f"{term.share(mistake.sure, whole)}{more}"


def _mistakes(lesson: Lesson, exercise: str) -> Element | None:
    term, words = lesson.term, lesson.words(exercise)
    mistakes = lesson.mistakes(exercise, term)[:LISTED]
    items = []
    for index, mistake in enumerate(mistakes):
        amount = element("span", _amount(term, mistake), class_="amount")
        title = element("p", element("b", words[mistake.id]), " ", amount)
        code = _code(*lesson.code(mistake)) if index < QUOTED else None
        place = element("p", "→ ", lesson.place(mistake), class_="about")
        items.append(element("li", title, code, place))
    others = term.others(exercise, mistakes)
    if term.counted and term.countable(others):
        share = element("span", term.share(others, term.having(exercise)), class_="amount")
        rest = f"{'other ' if mistakes else ''}mistakes, rare or without a name"
        items.append(element("li", element("p", rest, " ", share)))
    examples = element("span", "code: made-up examples", class_="amount")
    heading = element("h3", "The commonest mistakes ", examples if mistakes else None)
    return joined(heading, element("ul", *items, class_="mistakes")) if items else None


def _exercise(lesson: Lesson, exercise: Exercise) -> Screen:
    bonus = ", bonus" if exercise.extension else ""
    caption = f"Outcomes, and points of {points(exercise.max_score)}{bonus}"
    bars = lesson.term.outcomes(exercise.id) if lesson.term.counted else []
    figure = _histogram(lesson.term, bars, caption) if bars else None
    title = joined(exercise.id, " ", element("span", exercise.title, class_="title"))
    parts = figure, _mistakes(lesson, exercise.id)
    return Screen(f"exercise-{exercise.id}", exercise.id, title, parts)


def _about_numbers(lesson: Lesson) -> str:
    """Return a note on the page's numbers, and on the asterisk if any of them has one."""
    term, last = lesson.term, lesson.last
    figures = [*(term.outcomes(each.id) for each in lesson.exercises), *lesson.more.values()]
    shares = [share for bars in figures for share in _shares(term, bars)]
    if last and last.counted:
        shares += [last.passed(each.id) for each in lesson.exercises]
    return f"{FEW} {MIXED}" if any(share.is_marked for share in shares) else FEW


def _overview(lesson: Lesson) -> Screen:
    term, title = lesson.term, f"{lesson.course.assignment.name}: what the class did"
    links = [element("a", each.id, href=f"#exercise-{each.id}") for each in lesson.exercises]
    if not term.counted:
        contents = element("ul", *(element("li", link) for link in links), class_="read")
        return Screen("class", CONTENTS, title, [element("p", TOO_FEW), contents])
    rows = []
    for each, link in zip(lesson.exercises, links, strict=True):
        share = term.passed(each.id)
        head = joined(link, " (bonus)" if each.extension else None)
        rows.append(_bar_row(head, each.id, share, share.percent, "passed"))
    low, middle, high = (points(round(score)) for score in term.quartiles())
    most = points(max(result["max_score"] for result in term.results))
    graded = f"{len(term.results)} students were graded. The median of their scores is {middle} "
    middle_half = f"half of them are between {low} and {high}"
    spread = f"at least half of them have {low}" if low == high else middle_half
    scores = element("p", f"{graded}of {most}; {spread}.")
    about = element("p", _about_numbers(lesson), class_="about")
    parts = scores, _bar_table("Passed", rows), about
    return Screen("class", CONTENTS, title, parts)


def _compared(caption: str, rows: Iterable[Sequence[object]]) -> Element:
    lines = (
        element("tr", element("th", first, scope="row"), *(element("td", text) for text in others))
        for first, *others in rows
    )
    return table((caption, "last term", "this term"), lines, class_="compared")


def _passed_then_and_now(lesson: Lesson, terms: Sequence[Term]) -> Element:
    rows = [
        (each.id, *(t.passed(each.id).text if t.having(each.id) else "-" for t in terms))
        for each in lesson.exercises
    ]
    return _compared("Passed", rows)


def _mistakes_then_and_now(lesson: Lesson, terms: Sequence[Term]) -> Element | None:
    common: dict[tuple[str, str], None] = {}
    shares = []
    for term in terms:
        mistakes = [m for e in lesson.exercises for m in lesson.mistakes(e.id, term) if m.sure]
        mistakes.sort(key=lambda mistake: -len(mistake.sure))
        common |= dict.fromkeys((m.exercise, m.id) for m in mistakes[:COMPARED])
        shares.append(
            {(m.exercise, m.id): term.share(m.sure, term.having(m.exercise)) for m in mistakes}
        )
    rows = [
        (joined(element("b", key[0]), ": ", lesson.words(key[0])[key[1]]), *texts)
        for key in common
        for texts in [[own[key].text if key in own else "-" for own in shares]]
    ]
    return _compared("The commonest mistakes", rows) if rows else None


def _two_terms(lesson: Lesson, last: Term) -> Screen:
    terms, title, name = (last, lesson.term), "This term and the last", "last term"
    if not all(term.counted for term in terms):
        text = f"In one of them fewer than {SMALLEST} hand-ins were graded, so nothing is compared."
        return Screen("terms", name, title, [element("p", text)])
    about = element("p", f"-: not asked for, or made by fewer than {FEWEST}", class_="about")
    tables = _passed_then_and_now(lesson, terms), _mistakes_then_and_now(lesson, terms)
    return Screen("terms", name, title, [*tables, about])


def _screens(lesson: Lesson) -> list[Screen]:
    screens = [_overview(lesson), *(_exercise(lesson, each) for each in lesson.exercises)]
    if lesson.more:
        figures = [_histogram(lesson.term, bars, text) for text, bars in lesson.more.items()]
        screens.append(Screen("times", "handing in", "How it was handed in", figures))
    return [*screens, *([_two_terms(lesson, lesson.last)] if lesson.last else [])]


def page(lesson: Lesson) -> str:
    """Return the page."""
    screens = _screens(lesson)
    sections: list[Element] = []
    for screen, after in zip(screens, [*screens[1:], screens[0]], strict=True):
        tag = "h2" if sections else "h1"
        title = element(tag, screen.title, id=f"{screen.id}-title")
        link = element("p", "→ ", element("a", after.short, href=f"#{after.id}"), class_="on")
        names = {"id": screen.id, "aria_labelledby": f"{screen.id}-title"}
        sections.append(element("section", title, *screen.parts, link, **names, class_="screen"))
    return html.document(str(screens[0].title), element("main", *sections), STYLE)
