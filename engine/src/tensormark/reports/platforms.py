"""The result for Gradescope and GitHub Actions, as text for Canvas, and cells of tables.

The score is that of the core. Points of extensions are separate. An exercise that could not be
graded counts in no sum.
"""

import csv
import io
import json
import re
import string
from collections.abc import Iterable
from typing import Any

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

# where spreadsheets may see the start of a formula: at the start of a cell or of a part of one
FORMULA = re.compile(r"(?:^|(?<=[,;]))(?=[\s\"']*[=+\-@\uff1d\uff0b\uff0d\uff20])")
# what Markdown and HTML show literally; all else is written as numeric entities
SAFE = frozenset(string.ascii_letters + string.digits + " ,()")
CANNOT = "could not be graded, which is not your fault; tell your instructor"


def _text(lines: Iterable[str], before: str = "") -> str:
    return "\n".join(f"{before}{visible(line)}".rstrip() for line in lines)


def _total_lines(result: Model) -> list[str]:
    name = result["assignment"] or "score"
    lines = [f"{name}: {out_of(result['score'], result['max_score'])}"]
    if result["bonus"]:
        bonus = out_of(result["bonus"], result["bonus_max_score"])
        lines.append(f"bonus: {bonus}, counted separately")
    final = result.get("final")
    if final:
        lines.append(f"final: {out_of(final['points'], result['max_score'])}")
        lines += [f"  {step}" for step in final["steps"]]
    names = ungraded(result)
    if names:
        lines.append(f"{', '.join(names)} {CANNOT}")
    return lines + [f"note: {note}" for note in result["notes"]]


def _label(exercise: Model) -> str:
    name = exercise["id"] + (" (bonus)" if exercise["bonus"] else "")
    return visible(": ".join(filter(None, [name, exercise["title"]])), 200)


def _gradescope_test(number: int, exercise: Model, visibility: str) -> dict[str, Any]:
    """Return an entry of Gradescope's `tests`, without points if it could not be graded."""
    test: dict[str, Any] = {
        "number": str(number),
        "name": _label(exercise),
        "output": _text([exercise["outcome"], *message_lines(exercise)]),
        "visibility": visibility,
        "extra_data": {name: exercise[name] for name in ("id", "outcome", "mistake")},
    }
    if exercise["score"] is not None:
        passed = exercise["outcome"] == Outcome.PASSED
        test["score"] = exercise["score"]
        test["max_score"] = exercise["max_score"]
        test["status"] = "passed" if passed else "failed"
    return test


def gradescope(
    result: Model,
    first: str = "",
    not_covered: str | None = None,
    graded: bool = True,
    hidden: str = "",
    accuracy: float = 0.0,
) -> str:
    """Return results.json for Gradescope; its `score` overrides the tests' sum to exclude bonus.

    Where the grader itself has failed there is none: by its specification, Gradescope needs one
    there or for each test, so it shows a failed autograder, which can be run again, and not a 0.

    Args:
        first: a line before all others.
        not_covered: what the tier does not, for staff.
        graded: whether the grader got as far as the submission.
        hidden: what students are told instead of verdicts before the due date, if not them.
        accuracy: of predictions, for the leaderboard; 0: there is none.
    """
    visibility = "after_due_date" if hidden else "visible"
    shown = enumerate(shown_exercises(result), start=1)
    data = {name: result[name] for name in ("tier", "references", "bonus", "flags")}
    if not_covered is not None:
        data["not covered"] = not_covered
    graded = graded and all(exercise["score"] is not None for exercise in result["exercises"])
    results = {
        **({"score": result["score"]} if graded else {}),
        **({"leaderboard": [{"name": "accuracy", "value": accuracy}]} if accuracy else {}),
        "execution_time": result["time"]["seconds"],
        "output": "\n".join(filter(None, [first, hidden or _text(_total_lines(result))])),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": visibility,
        "stdout_visibility": "hidden",
        "extra_data": data,
        "tests": [_gradescope_test(number, exercise, visibility) for number, exercise in shown],
    }
    return json.dumps(results, indent=2) + "\n"


def comments(result: Model) -> str:
    """Return the report as Python comments, for students who get it under a Python file's name."""
    lines = _total_lines(result)
    for exercise in shown_exercises(result):
        score = out_of(exercise["score"], exercise["max_score"])
        lines += ["", f"{_label(exercise)}: {score}, {exercise['outcome']}"]
        lines += [f"    {line}" for line in message_lines(exercise)]
    return _text(lines, before="# ") + "\n"


def _literal(text: str) -> str:
    """Return a text that Markdown and HTML show literally."""
    return "".join(
        char if char in SAFE or (char.isalpha() and not char.isascii()) else f"&#{ord(char)};"
        for char in visible(text)
    )


def _summary_row(exercise: Model) -> str:
    cells = [
        _literal(exercise["id"]),
        f"**{exercise['outcome']}**",
        out_of(exercise["score"], exercise["max_score"]),
        _literal(headline(exercise)),
    ]
    return f"| {' | '.join(cells)} |"


def _summary_details(exercise: Model) -> str:
    lines = "<br>\n".join(map(_literal, message_lines(exercise)))
    name = _literal(exercise["id"])
    return f"<details open><summary><b>{name}</b></summary>\n\n{lines}\n\n</details>\n"


def summary(result: Model) -> str:
    """Return GitHub's summary of a step: a table and the messages of failed exercises."""
    title = f"{result['assignment']}: {out_of(result['score'], result['max_score'])}"
    shown = shown_exercises(result)
    lines = [f"## {_literal(title)}", ""]
    if result["bonus"]:
        lines += [f"Bonus: {out_of(result['bonus'], result['bonus_max_score'])}", ""]
    lines += ["| exercise | verdict | points | |", "| --- | --- | ---: | --- |"]
    lines += [*map(_summary_row, shown), ""]
    names = ungraded(result)
    if names:
        lines += [f"{_literal(', '.join(names))} could not be graded, which costs no points.", ""]
    lines += [f"- {_literal(note)}" for note in result["notes"]]
    lines += [_summary_details(each) for each in shown if each["outcome"] == Outcome.FAILED]
    step = next_step(result)
    if step:
        lines.append(f"Next: <code>{_literal(step)}</code>")
    return "\n".join(lines) + "\n"


def _property(text: str) -> str:
    """Return a text that cannot end a property, or a line, of one of GitHub's workflow commands."""
    return "".join(f"%{ord(c):02X}" if c in "%:,\r\n" else c for c in visible(text, 200))


def annotations(result: Model) -> str:
    """Return GitHub's workflow commands that show each failure beside the line it begins on."""
    folder = str(result["submission"])
    lines = []
    for exercise in shown_exercises(result):
        if exercise["line"] is not None:
            file = exercise["file"]
            path = folder if folder.rpartition("/")[2] == file else f"{folder}/{file}"
            place = f"file={_property(path)},line={exercise['line']}"
            text = _property(f"{exercise['id']}: {headline(exercise)}")
            lines.append(f"::error {place},title={_property(exercise['id'])}::{text}\n")
    return "".join(lines)


def cell(value: Any) -> Any:
    """Return a table cell that no spreadsheet takes for a formula; numbers stay numbers.

    This holds even if a spreadsheet splits it at commas or semicolons; tabs and line ends are
    escaped.
    """
    if value is None:
        return ""
    if isinstance(value, int | float):
        return int(value) if float(value).is_integer() else value
    return FORMULA.sub("'", visible(value, 500))


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Return a table as CSV; every text is quoted, and no cell is a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerows(map(cell, row) for row in rows)
    return text.getvalue()
