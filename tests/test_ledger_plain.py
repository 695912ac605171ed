"""Final points of a class, compared with a computation that is written plainly."""

import datetime
import json
import random
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any

from courses import DEADLINE, Course

from tensormark.classroom.adjustments import COLUMNS

import classes
from classes import CORE

RULES: list[dict[str, Any]] = [
    {"points": "5", "per": "day", "grace_minutes": 15, "most": "12"},
    {"percent": "7.5", "of": "score", "per": "day", "zero_after_days": 5},
    {"percent": "0.3", "per": "hour", "grace_minutes": 60, "most": "33.3"},
]


def as_toml(rule: dict[str, Any]) -> str:
    words = ("of", "per")
    return "".join(f"{k} = {json.dumps(v) if k in words else v}\n" for k, v in rule.items())


def expected(
    score: float, rows: Sequence[dict[str, str]], late: int | None, rule: dict[str, Any]
) -> float:
    """Compute what a student gets, in fractions."""
    points = Fraction(str(score))
    for row in rows:
        if row["exercise"] and row["points"].startswith("to "):
            points += Fraction(row["points"][3:]) - Fraction(row["own"])
        elif row["points"] and not row["points"].startswith("to "):
            points += Fraction(row["points"])
    for row in rows:
        if not row["exercise"] and row["points"].startswith("to "):
            changes = [Fraction(r["points"]) for r in rows if r["points"][:2] not in ("", "to")]
            return rounded(max(Fraction(0), Fraction(row["points"][3:]) + sum(changes)))
        if row["deadline"] and late is not None:
            deadline = datetime.datetime.fromisoformat(row["deadline"])
            late -= int((deadline - DEADLINE).total_seconds() // 60)
    if late is not None and late > rule.get("grace_minutes", 0):
        count = ceil(late / (1440 if rule["per"] == "day" else 60))
        cost = Fraction(rule.get("points", rule.get("percent"))) * count
        cost = min(cost, Fraction(rule.get("most", "1000000")))
        if "percent" in rule:
            cost *= Fraction(max(points, Fraction(0)) if rule.get("of") == "score" else 100) / 100
        if late > rule.get("zero_after_days", 10**6) * 1440:
            cost = points
        points -= cost
    return rounded(max(Fraction(0), points))


def rounded(value: Fraction) -> float:
    return floor(value * 100 + Fraction(1, 2)) / 100


def drawn(chance: random.Random, students: Sequence[str], results: dict[str, Any]) -> list[Any]:
    """Return 40 rows that do not contradict each other."""
    rows: list[dict[str, str]] = []
    sets, with_total, with_deadline = set(), set(chance.sample(students[:60], 15)), set()
    for number, student in enumerate(chance.choices(students[:60], k=40)):
        row = {"exercise": "", "points": "", "deadline": "", "reason": f"r{number}", "who": "AB"}
        kind = chance.choice(["change", "total", "set", "deadline"])
        exercise = chance.choice([*CORE])
        if kind == "set" and student in with_total and student not in sets:
            row["points"] = f"to {chance.randrange(101)}"
            sets.add(student)
        elif kind == "set" and student not in with_total and (student, exercise) not in sets:
            row |= {"exercise": exercise, "points": f"to {chance.randrange(CORE[exercise])}"}
            sets.add((student, exercise))
        elif kind == "deadline" and student not in with_deadline:
            with_deadline.add(student)
            until = DEADLINE + datetime.timedelta(minutes=chance.randrange(4000))
            row["deadline"] = until.isoformat()
        elif kind == "change" and student not in with_total:
            row |= {"exercise": exercise, "points": f"{chance.uniform(-9, 9):.3f}"}
        else:
            row["points"] = "+1.125"
        score = next(e["score"] for e in results[student]["exercises"] if e["id"] == exercise)
        rows.append(row | {"student": student, "own": str(score)})
    return rows


def test_a_class_gets_what_a_plain_computation_says_and_is_graded_once(course: Course) -> None:
    chance = random.Random(11)
    late: dict[str, int | None] = {}
    for number in range(300):
        minutes = chance.choice([None, 0, -300, 1440, 7200, *(chance.randrange(9000),) * 5])
        result = classes.result_of(chance, "x.py")
        for exercise in result["exercises"]:
            exercise["score"] = exercise["score"] or 0.0
        late[course.add(number, result, minutes)] = minutes
    rows = drawn(chance, [*late], course.results)
    lines = []
    for row in rows:
        number = int(row["student"]) - 10_000
        name = chance.choice([row["student"], f"login{number}", f"no{number}, STUDENT"])
        lines.append(",".join([f'"{name}"', *(row[column] for column in COLUMNS[1:])]))

    for rule in RULES:
        assert course.grade(course.rows(*lines), course.rule(as_toml(rule))) == 0

        book = course.gradebook()
        for student, minutes in late.items():
            changes = [row for row in rows if row["student"] == student]
            score = course.results[student]["score"]
            points = expected(score, changes, minutes, rule)
            assert float(book[student]["final"]) == points, (book[student], changes, minutes, rule)
    assert course.graded == 300
    assert len({row["final"] for row in book.values()}) > 30
