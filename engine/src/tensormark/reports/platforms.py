"""The result in the formats of other tools: Gradescope, PrairieLearn, JUnit, CSV, Canvas.

All have the same score: that of the core, on the same scale. Points of extensions are separate. An
exercise that could not be graded counts in no sum; if a format can say that this is not the
student's fault, it does.
"""

import csv
import io
import json
import re
from collections.abc import Iterable
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from tensormark.reports.model import Model, headline, message_lines, shown_exercises, ungraded
from tensormark.reports.text import out_of, points, visible
from tensormark.result import Outcome

# where spreadsheets may see the start of a formula: at the start of a cell or of a part of one
FORMULA = re.compile(r"(?:^|(?<=[,;]))(?=[\s\"']*[=+\-@\uff1d\uff0b\uff0d\uff20])")
CANNOT = "could not be graded, which is not your fault; tell your instructor"


def _total_lines(result: Model) -> list[str]:
    name = result["assignment"] or "score"
    lines = [f"{name}: {out_of(result['score'], result['max_score'])}"]
    if result["bonus"]:
        bonus = out_of(result["bonus"], result["bonus_max_score"])
        lines.append(f"bonus: {bonus}, counted separately")
    if final := result.get("final"):
        total = out_of(final["points"], result["max_score"])
        lines += [f"final: {total}", *(f"  {step}" for step in final["steps"])]
    if names := ungraded(result):
        lines.append(f"{', '.join(names)} {CANNOT}")
    lines += [f"note: {note}" for note in result["notes"]]
    return [visible(line) for line in lines]


def _label(exercise: Model) -> str:
    name = exercise["id"] + (" (bonus)" if exercise["bonus"] else "")
    return visible(": ".join(filter(None, [name, exercise["title"]])), 200)


def _gradescope_test(number: int, exercise: Model) -> dict[str, Any]:
    """Return an entry of Gradescope's `tests`, without points if it could not be graded."""
    test: dict[str, Any] = {
        "number": str(number),
        "name": _label(exercise),
        "output": "\n".join([str(exercise["outcome"]), *message_lines(exercise)]),
        "visibility": "visible",
        "extra_data": {name: exercise[name] for name in ("id", "outcome", "mistake")},
    }
    if exercise["score"] is not None:
        passed = exercise["outcome"] == Outcome.PASSED
        test |= {"score": exercise["score"], "max_score": exercise["max_score"]}
        test["status"] = "passed" if passed else "failed"
    return test


def gradescope(result: Model) -> str:
    """Return results.json for Gradescope; its `score` overrides the tests' sum to exclude bonus."""
    tests = [
        _gradescope_test(n, exercise) for n, exercise in enumerate(shown_exercises(result), start=1)
    ]
    results = {
        "score": result["score"],
        "execution_time": result["time"]["seconds"],
        "output": "\n".join(_total_lines(result)),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {name: result[name] for name in ("tier", "references", "bonus", "flags")},
        "tests": tests,
    }
    return json.dumps(results, indent=2) + "\n"


def prairielearn(result: Model) -> str:
    """Return results.json for PrairieLearn; not gradable if the student is not at fault."""
    tests = [
        {
            "name": _label(exercise),
            "description": visible(headline(exercise)),
            "points": exercise["score"] or 0,
            "max_points": exercise["max_score"],
            "message": str(exercise["outcome"]),
            "output": "\n".join(message_lines(exercise)),
        }
        for exercise in shown_exercises(result)
        if not exercise["bonus"]
    ]
    results: dict[str, Any] = {
        "gradable": bool(result["max_score"]) and not ungraded(result),
        "score": result["score"] / result["max_score"] if result["max_score"] else 0,
        "message": "\n".join(_total_lines(result)),
        "output": visible(result["printed"], 20_000, keep="\n\t"),
        "images": [],
        "tests": tests,
    }
    return json.dumps(results, indent=2) + "\n"


def _junit_case(exercise: Model, suite: str) -> str:
    message, outcome = quoteattr(visible(headline(exercise))), exercise["outcome"]
    text = escape("\n".join(message_lines(exercise)))
    inner = {
        Outcome.PASSED: "",
        Outcome.BLOCKED: f"<skipped message={message}/>",
        Outcome.COULD_NOT_GRADE: f'<error type="{outcome}" message={message}>{text}</error>',
    }.get(outcome, f'<failure type="{outcome}" message={message}>{text}</failure>')
    name, group = quoteattr(_label(exercise)), quoteattr(suite)
    return f'    <testcase name={name} classname={group} time="0">{inner}</testcase>\n'


def junit(result: Model) -> str:
    """Return a JUnit XML file."""
    shown = shown_exercises(result)
    suite = visible(f"{result['assignment']}.{result['name']}", 200)
    count = {
        outcome: sum(exercise["outcome"] == outcome for exercise in shown) for outcome in Outcome
    }
    failures = count[Outcome.FAILED] + count[Outcome.NOT_WRITTEN]
    counts = (
        f'tests="{len(shown)}" failures="{failures}" errors="{count[Outcome.COULD_NOT_GRADE]}" '
        f'skipped="{count[Outcome.BLOCKED]}" time="{result["time"]["seconds"]}"'
    )
    about = "".join(
        f'      <property name="{name}" value={quoteattr(visible(result[name]))}/>\n'
        for name in ("score", "max_score", "bonus", "bonus_max_score", "tier")
    )
    cases = "".join(_junit_case(exercise, suite) for exercise in shown)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites {counts}>\n"
        f"  <testsuite name={quoteattr(suite)} {counts}>\n"
        f"    <properties>\n{about}    </properties>\n{cases}  </testsuite>\n</testsuites>\n"
    )


def comments(result: Model) -> str:
    """Return the report as Python comments, for students who get it under a Python file's name."""
    lines = _total_lines(result)
    for exercise in shown_exercises(result):
        score = out_of(exercise["score"], exercise["max_score"])
        lines += ["", f"{_label(exercise)}: {score}, {exercise['outcome']}"]
        lines += [f"    {line}" for line in message_lines(exercise)]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


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


def csv_rows(result: Model) -> str:
    """Return a CSV file of two lines: the column names and the result."""
    row: dict[str, Any] = {name: result[name] for name in ("name", "submission", "tier")}
    row |= {name: result[name] for name in ("score", "max_score", "bonus", "bonus_max_score")}
    row["started"], row["flags"] = result["time"]["started"], len(result["flags"])
    for exercise in result["exercises"]:
        row[exercise["id"]] = exercise["score"]
        row[f"{exercise['id']} outcome"] = str(exercise["outcome"])
        row[f"{exercise['id']} mistake"] = exercise["mistake"]
    return csv_text([row, row.values()])


def canvas(result: Model) -> str:
    """Return the score as a cell of Canvas's gradebook; empty (no score) if part is ungraded."""
    return "\n" if ungraded(result) else f"{points(result['score'])}\n"
