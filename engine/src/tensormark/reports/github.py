"""The result for GitHub Actions: a summary of the step, and annotations at the student's lines.

In the summary, every character that could have a meaning in Markdown or HTML is written as a
numeric entity. A workflow command is one line: characters that would end it or its values are
escaped.
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
LEVELS = {Outcome.FAILED: "error", Outcome.NOT_WRITTEN: "notice", Outcome.BLOCKED: "notice"}


def _literal(text: str) -> str:
    """Return a text that Markdown and HTML show literally."""
    return "".join(
        char if char in SAFE or (char.isalpha() and not char.isascii()) else f"&#{ord(char)};"
        for char in visible(text)
    )


def _details(exercise: Model) -> str:
    lines = "<br>\n".join(map(_literal, message_lines(exercise)))
    name = _literal(exercise["id"])
    return f"<details open><summary><b>{name}</b></summary>\n\n{lines}\n\n</details>\n"


def summary(result: Model) -> str:
    """Return the summary of a step: a table and the messages of failed exercises."""
    title = f"{result['assignment']}: {out_of(result['score'], result['max_score'])}"
    lines = [f"## {_literal(title)}", ""]
    if result["bonus"]:
        lines += [f"Bonus: {out_of(result['bonus'], result['bonus_max_score'])}", ""]
    lines += ["| exercise | verdict | points | |", "| --- | --- | ---: | --- |"]
    for exercise in shown_exercises(result):
        word, reason = f"**{exercise['outcome']}**", _literal(headline(exercise))
        score = out_of(exercise["score"], exercise["max_score"])
        lines.append(f"| {_literal(exercise['id'])} | {word} | {score} | {reason} |")
    lines.append("")
    if names := ungraded(result):
        lines += [f"{_literal(', '.join(names))} could not be graded, which costs no points.", ""]
    lines += [f"- {_literal(note)}" for note in result["notes"]]
    lines += [
        _details(exercise)
        for exercise in shown_exercises(result)
        if exercise["outcome"] == Outcome.FAILED
    ]
    if step := next_step(result):
        lines += [f"Next: <code>{_literal(step)}</code>"]
    return "\n".join(lines) + "\n"


def shortfall(result: Model, needed: float | None = None) -> str:
    """Return why a submission does not pass a check; empty if it does.

    Args:
        needed: the points needed; None: every exercise except bonus must be passed.
    """
    score = out_of(result["score"], result["max_score"])
    core = [exercise for exercise in result["exercises"] if not exercise["bonus"]]
    unfinished = [exercise for exercise in core if exercise["outcome"] != Outcome.PASSED]
    if needed is not None and not ungraded(result):
        return "" if result["score"] >= needed else f"{score} points; {needed:g} are needed"
    outcomes = ", ".join(f"{exercise['id']} {exercise['outcome']}" for exercise in unfinished)
    return f"{score} points: {visible(outcomes)}" if outcomes or not core else ""


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def annotations(result: Model, folder: str = "starter") -> str:
    """Return a workflow command for each exercise that has not passed.

    Args:
        folder: where the submission's files are in the repository.
    """
    commands = []
    for exercise in shown_exercises(result):
        if (level := LEVELS.get(exercise["outcome"])) is None:
            continue
        place = exercise["place"] or {"file": exercise["file"]}
        location = [f"file={_value(folder)}/{_value(place['file'])}"]
        location += [f"line={int(place['line'])}"] if "line" in place else []
        score = out_of(exercise["score"], exercise["max_score"])
        title = f"title={_value(exercise['id'])} {_value(exercise['outcome'])} {_value(score)}"
        lines = message_lines(exercise)
        message = "%0A".join(map(_data, lines if any(lines) else [str(exercise["outcome"])]))
        commands.append(f"::{level} {','.join([*location, title])}::{message}\n")
    return "".join(commands)
