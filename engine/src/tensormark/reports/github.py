"""The result for GitHub Actions: a summary of the step.

Every character that could have a meaning in Markdown or HTML is written as a
numeric entity.
"""

import string

from tensormark.reports.model import (
    Model,
    headline,
    message_lines,
    next_step,
    shown_exercises,
    ungraded,
)
from tensormark.reports.text import out_of, visible
from tensormark.result import Outcome

SAFE = frozenset(string.ascii_letters + string.digits + " ,()")


def _literal(text: str) -> str:
    """Return a text that Markdown and HTML show literally."""
    return "".join(
        char if char in SAFE or (char.isalpha() and not char.isascii()) else f"&#{ord(char)};"
        for char in visible(text)
    )


def _row(exercise: Model) -> str:
    cells = [
        _literal(exercise["id"]),
        f"**{exercise['outcome']}**",
        out_of(exercise["score"], exercise["max_score"]),
        _literal(headline(exercise)),
    ]
    return f"| {' | '.join(cells)} |"


def _details(exercise: Model) -> str:
    lines = "<br>\n".join(map(_literal, message_lines(exercise)))
    name = _literal(exercise["id"])
    return f"<details open><summary><b>{name}</b></summary>\n\n{lines}\n\n</details>\n"


def summary(result: Model) -> str:
    """Return the summary of a step: a table and the messages of failed exercises."""
    title = f"{result['assignment']}: {out_of(result['score'], result['max_score'])}"
    shown = shown_exercises(result)
    lines = [f"## {_literal(title)}", ""]
    if result["bonus"]:
        lines += [f"Bonus: {out_of(result['bonus'], result['bonus_max_score'])}", ""]
    lines += ["| exercise | verdict | points | |", "| --- | --- | ---: | --- |"]
    lines += [*map(_row, shown), ""]
    names = ungraded(result)
    if names:
        lines += [f"{_literal(', '.join(names))} could not be graded, which costs no points.", ""]
    lines += [f"- {_literal(note)}" for note in result["notes"]]
    lines += [_details(each) for each in shown if each["outcome"] == Outcome.FAILED]
    step = next_step(result)
    if step:
        lines.append(f"Next: <code>{_literal(step)}</code>")
    return "\n".join(lines) + "\n"
