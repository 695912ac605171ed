"""Final points and written marks of a class, compared with computations written plainly."""

import csv
import datetime
import json
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any

from courses import DEADLINE, SHEET, Course, whole

from tensormark.classroom.points.adjustments import COLUMNS

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


def lost(points: Fraction, late: int | None, rule: Mapping[str, Any], most: int) -> Fraction:
    """Return what lateness takes off the points of the code, which are at most `most`."""
    if late is None or late <= rule.get("grace_minutes", 0):
        return Fraction(0)
    if late > rule.get("zero_after_days", 10**6) * 1440:
        return points
    count = ceil(late / (1440 if rule["per"] == "day" else 60))
    cost = Fraction(rule.get("points", rule.get("percent"))) * count
    cost = min(cost, Fraction(rule.get("most", "1000000")))
    if "percent" in rule:
        cost *= Fraction(points if rule.get("of") == "score" else most) / 100
    return min(cost, points)


def expected(
    score: str,
    rows: Sequence[Mapping[str, str]],
    late: int | None,
    rule: Mapping[str, Any],
    most: int = 100,
    written: Fraction | None = Fraction(0),
) -> str | float:
    """Compute what a student gets, in fractions.

    Args:
        rows: the student's adjustments, and in `own` the score of the exercise of each.
        written: points of written answers; None: they are not settled, and there is no final.
    """
    change = sum(Fraction(row["points"]) for row in rows if row["points"][:2] not in ("", "to"))
    points = Fraction(score) + change
    for row in rows:
        if row["points"].startswith("to "):
            to = Fraction(row["points"][3:])
            if not row["exercise"]:
                return rounded(to + change)
            points += to - Fraction(row["own"])
        if row["deadline"] and late is not None:
            deadline = datetime.datetime.fromisoformat(row["deadline"])
            late -= int((deadline - DEADLINE).total_seconds() // 60)
    if written is None:
        return ""
    return rounded(points + written - lost(max(points, Fraction(0)), late, rule, most))


def rounded(points: Fraction) -> float:
    """Round final points, which are never below 0."""
    return floor(max(points, Fraction(0)) * 100 + Fraction(1, 2)) / 100


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
            score = str(course.results[student]["score"])
            points = expected(score, changes, minutes, rule)
            assert float(book[student]["final"]) == points, (book[student], changes, minutes, rule)
    assert course.graded == 300
    assert len({row["final"] for row in book.values()}) > 30


# --- written questions ---------------------------------------------------------------------------

LINES = {"memory": (2, 1, 1), "rate": (Fraction(3, 2), Fraction(1, 2))}  # of SHEET


def draw_points(chance: random.Random, lines: tuple[Any, ...]) -> list[Fraction]:
    """Return the points that a marker gives for each line of a rubric, in quarters."""
    return [Fraction(chance.randrange(int(4 * most) + 1), 4) for most in lines]


def as_typed(chance: random.Random, points: list[Fraction]) -> str:
    """Write points as a sum of the lines, or as the number that they come to."""
    if chance.random() < 0.5:
        return chance.choice(["+", " + "]).join(f"{float(number):g}" for number in points)
    return chance.choice(["{:g}", "{:.2f}", "{:.4f}"]).format(float(sum(points)))


def test_a_class_has_exactly_the_points_of_a_plain_sum(course: Course) -> None:
    chance = random.Random(5)
    scores = {course.add(n, whole(float(n % 97))): n % 97 for n in range(150)}
    students = [*scores]
    opinions: dict[tuple[str, str], set[Fraction]] = {}
    sheets: list[dict[str, dict[str, str]]] = [{}, {}, {}]
    columns = [title for title in SHEET.split(",") if "(" in title]
    titles = dict(zip(LINES, columns, strict=True))
    for student in students:
        for question, lines in LINES.items():
            first = draw_points(chance, lines)
            for sheet in chance.sample(sheets, chance.choice([0, 1, 1, 1, 1, 1, 2, 3])):
                points = first if chance.random() < 0.9 else draw_points(chance, lines)
                opinions.setdefault((student, question), set()).add(sum(points, Fraction(0)))
                sheet.setdefault(student, {})[titles[question]] = as_typed(chance, points)
    paths = [course.folder / f"{name}.csv" for name in "abc"]
    for path, sheet in zip(paths, sheets, strict=True):
        head = chance.sample(["student", *titles.values()], 3)
        order = chance.sample(students, len(students))
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, head, delimiter=chance.choice(",;\t"))
            writer.writeheader()
            writer.writerows({"student": student} | sheet.get(student, {}) for student in order)

    assert course.grade(f"--written={','.join(map(str, paths))}") == 0

    book, settled, disputed = course.gradebook(), 0, 0
    for student in students:
        views = [opinions.get((student, question), set()) for question in LINES]
        for question, view in zip(LINES, views, strict=True):
            expected = str(float(min(view))).removesuffix(".0") if len(view) == 1 else ""
            assert book[student][question] == expected
        disputed += sum(len(view) > 1 for view in views)
        if all(len(view) == 1 for view in views):
            settled += 1
            total = scores[student] + sum(min(view) for view in views)
            assert float(book[student]["final"]) == rounded(Fraction(total))
        else:
            assert (book[student]["final"], book[student]["written"]) == ("", "")
    assert settled > 50
    assert disputed > 5
    assert course.graded == len(students)
