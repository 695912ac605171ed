"""gradebook.html: the whole class on one page that needs no other file and no network.

Its content security policy allows no requests, only its own script and styles. Every text is
escaped where it becomes an element (reports/markup.py). Without the script the page is complete,
but cannot be sorted or searched.
"""

import statistics
from collections.abc import Sequence
from pathlib import Path

from tensormark.classroom import summary
from tensormark.classroom.entry import Entry, number_of
from tensormark.classroom.reports.page_table import LONGEST, UNIMPORTABLE, Class, table, tools
from tensormark.classroom.reports.similar import Similar
from tensormark.reports import html
from tensormark.reports.markup import Element, drawing, element, joined
from tensormark.reports.text import points
from tensormark.usage import option

STYLE = Path(__file__).with_name("gradebook.css")
SCRIPT = Path(__file__).with_name("gradebook.js")
LISTED = 15  # lines of a list; the table's filter shows everybody
NAMES = 30  # students named in one line
FLAGS = 5  # flags shown per student
WIDTH, HEIGHT, BELOW = 440, 190, 24  # of the histogram, and the height left for its labels
ALIKE = (
    "Their files are equal, or their statements are nearly the same, regardless of names, comments "
    "and order, and not counting what the starter, known solutions or many of the class have. "
    "There may be good reasons: this shows where a person may want to look, not who wrote what. "
    "Files that are not Python, take too long to read or have too many statements are not compared "
    "in full."
)
PUBLIC = (
    "Graded on the public inputs, which every student has: correct answers may have been copied "
    "from them. Use {} to grade on private ones."
)


def _show_button(tag: str, target: str) -> Element:
    return element("button", "show", type="button", data_show=tag, aria_label=f"show {target}")


def _line(count: object, *content: object, button: Element | None = None) -> Element:
    amount = element("span", count, class_="count")
    return element("li", amount, element("span", *content, class_="what"), button)


def _section(name: str, title: str, *parts: object) -> Element:
    heading = element("h2", title, id=f"{name}-title")
    return element("section", heading, *parts, id=name, aria_labelledby=f"{name}-title")


def _list_section(
    name: str, title: str, lines: Sequence[Element], about: Element | None = None
) -> Element | None:
    """Return a section that lists the first lines; None if there are no lines."""
    more = len(lines) - LISTED
    rest = element("li", f"and {more} more") if more > 0 else None
    items = element("ul", *lines[:LISTED], rest, class_="listed")
    return _section(name, title, about, items) if lines else None


def _overview(view: Class, assignment: str) -> Element:
    counts: list[tuple[object, str]] = [(len(view.entries), "students")]
    counts += [(view.kinds.count(kind), kind) for kind in summary.KINDS if kind in view.kinds]
    if view.graded:
        scores = [result["score"] for result in view.graded]
        most = points(max(result["max_score"] for result in view.graded))
        counts.append((points(round(statistics.median(scores), 1)), f"median of {most}"))
        counts.append((points(round(statistics.mean(scores), 1)), "mean"))
    items = (element("li", element("b", count), what) for count, what in counts)
    title = f"{assignment}: the class" if assignment else "The class"
    public = any(not result["private"] for result in view.graded)
    about = PUBLIC.format(option("references"))
    note = element("p", about, class_="about") if public else None
    return element("header", element("h1", title), note, element("ul", *items, class_="kinds"))


def _histogram_figure(counts: Sequence[int]) -> Element:
    """Return the histogram of scores; its last bar counts full marks."""
    most, wide, tall = max([*counts, 1]), WIDTH / len(counts), HEIGHT - BELOW
    labels = [*(f"{100 * n // summary.BINS}" for n in range(summary.BINS)), "100"]
    parts = [element("line", x1=0, x2=WIDTH, y1=tall, y2=tall, class_="axis")]
    for index, (count, label) in enumerate(zip(counts, labels, strict=True)):
        size, x = (tall - 18) * count / most, index * wide
        middle = {"x": f"{x + wide / 2:.1f}", "text_anchor": "middle"}
        where = {"x": f"{x + 2:.1f}", "y": f"{tall - size:.1f}", "class_": "bar"}
        parts.append(element("rect", **where, width=f"{wide - 4:.1f}", height=f"{size:.1f}"))
        parts.append(element("text", label, **middle, y=HEIGHT - 8))
        if count:
            parts.append(element("text", count, **middle, y=f"{tall - size - 5:.1f}"))
    text = ", ".join(f"{n} from {label}" for n, label in zip(counts, labels, strict=True) if n)
    figure = drawing(WIDTH, HEIGHT, f"Scores in percent: {text}", *parts)
    caption = element("figcaption", "Scores, in percent of the maximum")
    return element("figure", caption, figure)


def _pass_rates(exercises: Sequence[summary.Exercise]) -> Element:
    rows = []
    for exercise in exercises:
        total = exercise.begun if exercise.bonus else exercise.graded
        bonus = joined(" ", element("span", "bonus", class_="bonus")) if exercise.bonus else None
        label = f"{exercise.id}: {exercise.passed} of {total} passed"
        full = element("rect", width=f"{100 * exercise.passed / (total or 1):.1f}", height=8)
        size = {"viewBox": "0 0 100 8", "preserveAspectRatio": "none"}
        bar = element("svg", full, **size, role="img", aria_label=label)
        percent = f", {100 * exercise.passed / total:.0f}%" if total else ""
        share = f"{exercise.passed} of {total}{percent}"
        head = element("th", exercise.id, bonus, scope="row")
        rows.append(element("tr", head, element("td", bar), element("td", share)))
    caption = element("caption", "Passed (bonus: of those who attempted it)")
    return element("table", caption, element("tbody", *rows), class_="rates")


def _mistakes(view: Class) -> Element | None:
    total = len(view.graded)
    lines = [
        _line(
            f"{len(mistake.places)} of {total}",
            *(element("b", mistake.exercise), ": ", mistake.text),
            button=_show_button(f"m{index}", f"the {len(mistake.places)} with: {mistake.text}"),
        )
        for index, mistake in enumerate(view.mistakes)
    ]
    return _list_section("mistakes", "The commonest mistakes", lines)


def _problems(view: Class) -> Element | None:
    """List who could not be graded or read, and why; count those who handed in nothing."""
    lines = [
        _line(kind, view.name(index), ": ", summary.problem_of(view.entries[index])[:LONGEST])
        for kind in (*summary.OURS, summary.UNREAD)
        for index, actual in enumerate(view.kinds)
        if actual == kind
    ]
    if absent := view.kinds.count(summary.NOT_IN):
        button = _show_button(
            f"k{summary.KINDS.index(summary.NOT_IN)}", f"the {absent} who handed in nothing"
        )
        lines.insert(0, _line(number_of(absent, "student"), "handed in nothing", button=button))
    return _list_section("problems", "Not graded, or not in full", lines)


def _imports(view: Class) -> Element | None:
    affected = [index for index, files in enumerate(view.unimportable) if files]
    lines = [_line(", ".join(view.unimportable[index]), view.name(index)) for index in affected]
    if affected:
        button = _show_button(
            UNIMPORTABLE, f"the {len(affected)} with a file that cannot be imported"
        )
        lines.insert(0, _line(number_of(len(affected), "student"), "in all", button=button))
    return _list_section("imports", "Files that cannot be imported", lines)


def _flags(view: Class) -> Element | None:
    lines = []
    for index, flags in enumerate(view.flags):
        if flags:
            rest = [f"and {len(flags) - FLAGS} more"] if len(flags) > FLAGS else []
            text = "; ".join(flag[:LONGEST] for flag in (*flags[:FLAGS], *rest))
            content = element("span", view.name(index), ": ", text, class_="what")
            lines.append(element("li", content))
    about = element("p", "For a person to check; most of these are harmless.", class_="about")
    return _list_section("flags", "Flags", lines, about)


def _changes(view: Class) -> Element | None:
    lines = []
    for index, changes in enumerate(view.changes):
        before, after = view.entries[index].previous, view.entries[index].result
        if changes and before is not None and after is not None:
            outcomes = [
                f"{change['id']} {change['before']['outcome']} → {change['after']['outcome']}"
                for change in changes
            ]
            scores = f"{points(before['score'])} → {points(after['score'])}"
            lines.append(_line(scores, view.name(index), ": ", "; ".join(outcomes)))
    return _list_section("changes", "Changed since the previous run", lines)


def _names(view: Class, places: Sequence[int]) -> list[object]:
    names: list[object] = []
    for index in places[:NAMES]:
        names += [", " if names else None, view.name(index)]
    return [*names, f" and {len(places) - NAMES} more" if len(places) > NAMES else None]


def _group_line(view: Class, index: int) -> Element:
    group = view.similar.groups[index]
    size, where = len(group.members), ", ".join(group.places[:6])
    same = f"{100 * group.share:.0f}% the same, in {where}"
    likeness = f"equal byte for byte: {where}" if group.equal else same
    button = _show_button(f"g{index}", f"these {size} students")
    beside = element("a", "side by side", href=f"similar.html#group-{index + 1}")
    about = element("p", likeness[:LONGEST], ". ", beside, class_="about")
    names = _names(view, group.members)
    return _line(number_of(size, "student"), *names, about, button=button)


def _similar(view: Class) -> Element | None:
    lines = [_group_line(view, index) for index in range(len(view.similar.groups))]
    if not lines and view.similar.compared > 1:
        lines.append(_line("none", f"among {view.similar.compared} submissions"))
    if unread := view.similar.unread:
        lines.append(_line("not compared in full", *_names(view, unread)))
    about = element("p", ALIKE, class_="about") if view.similar.groups or unread else None
    return _list_section("similar", "Near-identical submissions", lines, about)


def _times(view: Class) -> Element | None:
    durations = sorted(entry.seconds for entry in view.entries if entry.seconds)
    if not durations:
        return None
    median = statistics.median(durations)
    amount = number_of(len(durations), "submission")
    total = f"{sum(durations) / 60:.1f} minutes for {amount}: median {median:.1f} s"
    rest = f"slowest {durations[-1]:.1f} s. The “seconds” column lists them all."
    retried = sum(entry.attempts > 1 for entry in view.entries)
    retries = (
        f" {retried} {'was' if retried == 1 else 'were'} tried more than once." if retried else ""
    )
    return _section("times", "Time", element("p", f"{total}, {rest}{retries}"))


def page(
    entries: Sequence[Entry],
    folders: Sequence[str],
    similar: Similar,
    says: summary.Says | None = None,
) -> str:
    """Return the page of a class.

    Args:
        folders: of the entries' feedback, relative to the page; "" where there is none.
        says: descriptions of known mistakes.
    """
    view = Class(entries, folders, similar, says)
    assignment = str(view.graded[0]["assignment"]) if view.graded else ""
    figures = [_histogram_figure(summary.histogram(entries)), _pass_rates(view.exercises)]
    body = element(
        "main",
        _overview(view, assignment),
        _section("scores", "Scores", element("div", *figures, class_="pair"))
        if view.graded
        else None,
        _mistakes(view),
        _section("class", "Students", tools(view), table(view)),
        _problems(view),
        _imports(view),
        _similar(view),
        _flags(view),
        _changes(view),
        _times(view),
    )
    title = f"{assignment}: gradebook" if assignment else "Gradebook"
    return html.document(title, body, STYLE, script=SCRIPT)
