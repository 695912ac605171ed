"""The page: report.html, a single self-contained file that needs no network.

Its policy allows no scripts, no requests and only the style sheet inside it. Every text is escaped
when it becomes an element (markup.py).
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tensormark.reports.details import FINDINGS, finding_parts, measured_parts
from tensormark.reports.markup import Element, element, joined, say, table
from tensormark.reports.model import Model, headline, next_step, shown_exercises, ungraded
from tensormark.reports.text import out_of, points
from tensormark.result import Outcome

STYLE = Path(__file__).with_name("report.css")
MARKS = {
    Outcome.PASSED: ("passed", "✓"),
    Outcome.FAILED: ("failed", "✗"),
    Outcome.NOT_WRITTEN: ("unwritten", "○"),
    Outcome.BLOCKED: ("blocked", "…"),
    Outcome.COULD_NOT_GRADE: ("ungraded", "?"),
}
FORMS = (".html", ".md")  # formats of the handout's pages, the better one first
HANDOUT = re.compile(r"handout(/[\w-]+)?\.md")


class Handout(NamedTuple):
    """Where the page finds the handout that it links to.

    Attributes:
        folder: path from the page's folder, empty or ending in a slash.
        forms: the available formats; if there are none, the page has no links.
    """

    folder: str
    forms: Sequence[str]


HANDOUT_BESIDE_PAGE = Handout("", FORMS)
NO_HANDOUT = Handout("", ())


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def document(title: str, body: Element, *styles: Path, script: Path | None = None) -> str:
    """Return a page whose policy allows nothing but its style sheets and this script.

    Args:
        styles: style sheets besides that of reports.
    """
    style = "".join(path.read_text(encoding="utf-8") for path in (STYLE, *styles))
    policy = f"default-src 'none'; style-src 'sha256-{_digest(style)}'; "
    policy += "base-uri 'none'; form-action 'none'"
    program = ""
    if script:
        text = script.read_text(encoding="utf-8")
        policy += f"; script-src 'sha256-{_digest(text)}'"
        program = f"<script>{text}</script>\n"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"{element('title', title)}\n<style>{style}</style>\n"
        f"</head>\n<body>\n{body}\n{program}</body>\n</html>\n"
    )


def chip(outcome: str) -> Element:
    """Return an outcome as a word, with a mark and a colour."""
    name, mark = MARKS[Outcome(outcome)]
    icon = element("span", mark, aria_hidden="true")
    return element("span", icon, outcome, class_=f"chip {name}")


def _link(section: Model, handout: Handout) -> Element:
    """Return a section's title with a link to it in each format of its page."""
    file = str(section.get("page"))
    page = file.removesuffix(".md") if HANDOUT.fullmatch(file) else "handout"
    first, *others = (
        (Path(page + form).name, f"{handout.folder}{page}{form}#{section['anchor']}")
        for form in handout.forms
    )
    return joined(
        element("a", section["title"], href=first[1]),
        *(joined(" (", element("a", name, href=target), ")") for name, target in others),
    )


def _links(exercise: Model, handout: Handout) -> Element | None:
    sections = exercise["handout"] if handout.forms else []
    items = [element("li", _link(section, handout)) for section in sections]
    return element("ul", *items, class_="read", aria_label="In the handout") if items else None


def _row(exercise: Model) -> Element:
    name = exercise["id"]
    has_section = exercise["outcome"] == Outcome.FAILED or exercise["measured"]
    title = element("a", name, href=f"#{name}") if has_section else element("b", name)
    bonus = element("span", "bonus", class_="bonus") if exercise["bonus"] else None
    reason = headline(exercise)
    first = joined(title, " ", element("span", exercise["title"], class_="title"), " ", bonus)
    return element(
        "tr",
        element("th", first, element("p", reason, class_="said") if reason else None, scope="row"),
        element("td", chip(exercise["outcome"])),
        element("td", out_of(exercise["score"], exercise["max_score"]), class_="points"),
    )


def _table(result: Model) -> Element:
    shown = shown_exercises(result)
    hidden = len(result["exercises"]) - len(shown)
    subject = "One extension is" if hidden == 1 else f"{hidden} extensions are"
    more = element("p", f"{subject} not written yet.", class_="about") if hidden else None
    return joined(table(("exercise", "verdict", "points"), map(_row, shown)), more)


def _section(exercise: Model, handout: Handout) -> Element | None:
    """Return the part of the page about an exercise; None if there is nothing more to say."""
    findings = [
        part for finding in exercise["findings"][:FINDINGS] for part in finding_parts(finding)
    ]
    measured = measured_parts(exercise["measured"]) if exercise["measured"] else []
    if not findings and not measured:
        return None
    name = exercise["id"]
    head = element(
        "header",
        element("h2", name, " ", element("span", exercise["title"], class_="title")),
        chip(exercise["outcome"]),
        element("span", out_of(exercise["score"], exercise["max_score"]), class_="points"),
    )
    return element("section", head, *findings, _links(exercise, handout), *measured, id=name)


def _change(change: Model) -> list[object]:
    before, after = change["before"], change["after"]
    scores = " → ".join(points(state["score"] or 0) for state in (before, after))
    verdicts = chip(before["outcome"]), " → ", chip(after["outcome"])
    return [element("b", change["id"]), ": ", *verdicts, f" ({scores} points)"]


def _changes_section(result: Model) -> Element | None:
    changes = result.get("changes")
    if not changes:
        return None
    items = [element("li", *_change(change)) for change in changes["exercises"]]
    since = f"Since {str(changes['since'])[:16].replace('T', ' ')} (UTC)"
    body = element("ul", *items) if items else element("p", "Nothing has changed.")
    heading = element("h2", since, id="changes")
    return element("section", heading, body, class_="changes", aria_labelledby="changes")


def _large(label: str | None, value: float, most: float) -> Element:
    """Return points in large type, with a bar below."""
    share = {"value": min(max(value, 0), most), "max": most or 1}
    meter = element("progress", **share, aria_label=label or "score")
    total = element("b", points(value)), f" / {points(most)}"
    return joined(element("p", f"{label}: " if label else None, *total, class_="score"), meter)


def _totals(result: Model) -> Element:
    """Return the score, below the final points and how they came about if these are known."""
    score, most, final = result["score"], result["max_score"], result.get("final")
    if final is None:
        return _large(None, score, most)
    steps = element("ul", *(element("li", step) for step in final["steps"]), class_="notes")
    return joined(
        _large("final", final["points"], most),
        element("p", "score: ", element("b", out_of(score, most))),
        steps if final["steps"] else None,
    )


def _overview(result: Model) -> Element:
    """Return the head of the page: the submission's name, the score, and what to do next."""
    bonus = f"bonus {out_of(result['bonus'], result['bonus_max_score'])}"
    step = next_step(result)
    ungradable = ", ".join(ungraded(result))
    lost = f"{ungradable} could not be graded, which costs no points; tell your instructor."
    return element(
        "header",
        element("h1", f"{result['assignment']}: ", element("span", result["name"], class_="name")),
        _totals(result),
        element("p", bonus, class_="about") if result["bonus"] else None,
        element("p", lost, class_="lost") if ungradable else None,
        element("p", "Next: ", element("code", step), class_="next") if step else None,
    )


def _ending(result: Model) -> Element:
    """Return the end of the page: printed output, notes, and how the submission was graded."""
    printed = None
    if result["printed"].strip():
        text = say(result["printed"], 8000, keep="\n\t")
        head = element("summary", "Your code printed")
        printed = element("details", head, element("pre", text, tabindex=0), open="open")
    notes = element("ul", *(element("li", note) for note in result["notes"]), class_="notes")
    about = [f"tier {result['tier']}", *(f"{k} {v}" for k, v in result["versions"].items())]
    about.append(f"{result['time']['started']}, {points(round(result['time']['seconds'], 1))} s")
    if result["references"]:
        about.append(f"references {result['references'][:12]}")
    facts = element("p", " · ".join(about), class_="about")
    return element("footer", printed, notes if result["notes"] else None, facts)


def page(result: Model, handout: Handout = HANDOUT_BESIDE_PAGE) -> str:
    """Return the page of a result."""
    parts = [_section(exercise, handout) for exercise in shown_exercises(result)]
    body = element(
        "main", _overview(result), _changes_section(result), _table(result), *parts, _ending(result)
    )
    return document(f"{result['assignment']}: {result['name']}", body)
