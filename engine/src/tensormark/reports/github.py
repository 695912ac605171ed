"""The result for GitHub Actions: a summary of the step, and annotations at the student's lines.

In the summary, every character of a text that Markdown or HTML could give a meaning is written as
a number. A workflow command is one line: what would end it, or its values, is escaped.
"""

import string

from tensormark.reports.model import Model, headline, listed, message_lines, next_step, ungraded
from tensormark.reports.text import out_of, visible
from tensormark.result import Outcome

SAFE = frozenset(string.ascii_letters + string.digits + " ,()")
LEVELS = {Outcome.FAILED: "error", Outcome.NOT_WRITTEN: "notice", Outcome.BLOCKED: "notice"}


def literal(text: str) -> str:
    """Return a text that Markdown and HTML show as it is."""
    return "".join(
        char if char in SAFE or (char.isalpha() and not char.isascii()) else f"&#{ord(char)};"
        for char in visible(text)
    )


def details(exercise: Model) -> str:
    """Return the part of a summary that explains an exercise."""
    lines = "<br>\n".join(map(literal, message_lines(exercise)))
    name = literal(exercise["id"])
    return f"<details open><summary><b>{name}</b></summary>\n\n{lines}\n\n</details>\n"


def summary(result: Model) -> str:
    """Return the summary of a step: a table, and what is wrong."""
    title = f"{result['assignment']}: {out_of(result['score'], result['max_score'])}"
    lines = [f"## {literal(title)}", ""]
    if result["bonus"]:
        lines += [f"Bonus: {out_of(result['bonus'], result['bonus_max_score'])}", ""]
    lines += ["| exercise | verdict | points | |", "| --- | --- | ---: | --- |"]
    for exercise in listed(result):
        word, said = f"**{exercise['outcome']}**", literal(headline(exercise))
        score = out_of(exercise["score"], exercise["max_score"])
        lines.append(f"| {literal(exercise['id'])} | {word} | {score} | {said} |")
    lines.append("")
    if names := ungraded(result):
        lines += [f"{literal(', '.join(names))} could not be graded, which costs no points.", ""]
    lines += [f"- {literal(note)}" for note in result["notes"]]
    lines += [details(one) for one in listed(result) if one["outcome"] == Outcome.FAILED]
    if step := next_step(result):
        lines += [f"Next: <code>{literal(step)}</code>"]
    return "\n".join(lines) + "\n"


def lacking(result: Model, needed: float | None = None) -> str:
    """Say why a submission does not pass a check, or nothing if it does.

    Args:
        needed: points that are enough; None: every exercise without a bonus has to be passed.
    """
    score = out_of(result["score"], result["max_score"])
    core = [one for one in result["exercises"] if not one["bonus"]]
    open_ = [one for one in core if one["outcome"] != Outcome.PASSED]
    if needed is not None and not ungraded(result):
        return "" if result["score"] >= needed else f"{score} points; {needed:g} are needed"
    said = ", ".join(f"{one['id']} {one['outcome']}" for one in open_)
    return f"{score} points: {visible(said)}" if said or not core else ""


def data(text: str) -> str:
    """Return the text of a workflow command."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def value(text: str) -> str:
    """Return the value of a workflow command's property."""
    return data(text).replace(":", "%3A").replace(",", "%2C")


def annotations(result: Model, folder: str = "starter") -> str:
    """Return a workflow command for each exercise that has not passed.

    Args:
        folder: where the submission's files are in the repository.
    """
    made = []
    for exercise in listed(result):
        if (level := LEVELS.get(exercise["outcome"])) is None:
            continue
        place = exercise["place"] or {"file": exercise["file"]}
        where = [f"file={value(folder)}/{value(place['file'])}"]
        where += [f"line={int(place['line'])}"] if "line" in place else []
        score = out_of(exercise["score"], exercise["max_score"])
        title = f"title={value(exercise['id'])} {value(exercise['outcome'])} {value(score)}"
        lines = message_lines(exercise)
        said = "%0A".join(map(data, lines if any(lines) else [str(exercise["outcome"])]))
        made.append(f"::{level} {','.join([*where, title])}::{said}\n")
    return "".join(made)
