"""A class is killed twenty times while staff change what counts, and every `final` is right.

300 students, 40 adjustments, three late rules and the sheets of two assistants who disagree on some
answers. What each student gets is computed again in fractions, from the files alone.
"""

import csv
import datetime
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from courses import DEADLINE, HEAD
from test_ledger_plain import RULES, as_toml, drawn, rounded

from classes import CORE
from conftest import ROOT
from soak.seeds import rng

STUDENTS, KILLS = 300, 20
SOON = (0.5, 8.0)  # seconds from the start of a run to its end
SCALE = "/ math.sqrt(d)"


class Soak:
    """A class, what staff have written about it, and what was graded."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.out, self.chance = folder, folder / "out", chance
        self.late: dict[str, int] = {}
        source = (ROOT / "solution/bert.py").read_text(encoding="utf-8")
        (folder / "in").mkdir()
        lines = ["id,login,name,submitted"]
        for number in range(STUDENTS):
            student = str(10_000 + number)
            self.late[student] = chance.choice([0, -300, chance.randrange(9000)])
            when = DEADLINE + datetime.timedelta(minutes=self.late[student])
            lines.append(f"{student},login{number},Student No{number},{when}")
            wrong = source.replace(SCALE, "") if number % 3 == 0 else source
            text = f"{wrong}\n# {number % 60}\n"
            (folder / f"in/{student}.py").write_text(text, encoding="utf-8")
        (folder / "roster.csv").write_text("\n".join(lines), encoding="utf-8")

    def command(self, name: str, *options: str) -> list[str]:
        roster = "--roster", str(self.folder / "roster.csv")
        return [
            sys.executable,
            "-m",
            "tensormark",
            name,
            str(self.folder / "in"),
            *roster,
            *options,
        ]

    def grade(self, *options: str) -> list[str]:
        usual = "--deadline", DEADLINE.isoformat(), "--check", "--tier", "process"
        return self.command("class", *usual, "--out", str(self.out), *options)

    def gradebook(self) -> dict[str, dict[str, str]]:
        text = (self.out / "gradebook.csv").read_text(encoding="utf-8")
        return {row["student"]: row for row in csv.DictReader(text.splitlines())}

    def adjustments(self) -> list[dict[str, str]]:
        """Write 40 rows, none of which is about the exercise that is not graded here."""
        scores = {name: {"exercises": [{"id": e, "score": 0} for e in CORE]} for name in self.late}
        rows = drawn(self.chance, [*self.late], scores)
        for row in rows:
            if row["exercise"] == "sentiment":
                row |= {"exercise": "", "points": "+1.125"}
        lines = [",".join(row[name] for name in HEAD.strip().split(",")) for row in rows]
        text = HEAD + "\n".join(lines)
        (self.folder / "adjustments.csv").write_text(text, encoding="utf-8")
        return rows

    def sheets(self) -> dict[tuple[str, str], set[Fraction]]:
        """Fill two copies of the sheet; return what was said of each student's answers."""
        empty = self.folder / "sheet.csv"
        subprocess.run(self.command("sheet", "--out", str(empty)), cwd=ROOT, check=True)
        rows = list(csv.DictReader(empty.read_text(encoding="utf-8").splitlines()))
        titles = [title for title in rows[0] if "(" in title]
        said: dict[tuple[str, str], set[Fraction]] = {}
        filled: list[list[dict[str, str]]] = [[], []]
        for row in rows:
            copies = [dict(row, who="AB"), dict(row, who="CD")]
            for title in titles:
                most = sum(map(Fraction, title.partition("(")[2].rstrip(")").split("+")))
                points = Fraction(self.chance.randrange(int(2 * most) + 1), 2)
                for copy in self.chance.choice([copies, copies[:1], copies[1:]]):
                    given = points if self.chance.random() < 0.995 else most - points
                    copy[title] = f"{float(given):g}"
                    name = title.partition(" (")[0]
                    said.setdefault((row["student"], name), set()).add(given)
            for copy, sheet in zip(copies, filled, strict=True):
                sheet.append(copy)
        for name, sheet in zip(("ab", "cd"), filled, strict=True):
            path = self.folder / f"sheet-{name}.csv"
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(sheet)
        return said

    def options(self) -> Iterator[tuple[dict[str, Any], list[str]]]:
        """Yield each rule, and the options of a run with it."""
        sheets = ",".join(str(self.folder / f"sheet-{name}.csv") for name in ("ab", "cd"))
        for number, rule in enumerate(RULES):
            path = self.folder / f"late-{number}.toml"
            path.write_text(as_toml(rule), encoding="utf-8")
            adjusted = f"--adjustments={self.folder / 'adjustments.csv'}"
            yield rule, [adjusted, f"--rule={path}", f"--written={sheets}"]


def lost(points: Fraction, late: int, rule: Mapping[str, Any]) -> Fraction:
    """Return what lateness takes off the points of the code."""
    if late <= rule.get("grace_minutes", 0):
        return Fraction(0)
    if late > rule.get("zero_after_days", 10**6) * 1440:
        return points
    count = ceil(late / (1440 if rule["per"] == "day" else 60))
    cost = Fraction(rule.get("points", rule.get("percent"))) * count
    cost = min(cost, Fraction(rule.get("most", "1000000")))
    if "percent" in rule:
        cost *= Fraction(points if rule.get("of") == "score" else sum(CORE.values()) - 20) / 100
    return min(cost, points)


def expected(
    graded: Mapping[str, str],
    mine: Sequence[Mapping[str, str]],
    late: int,
    rule: Mapping[str, Any],
    written: Sequence[set[Fraction]],
) -> str | float:
    """Return what a student gets: nothing, if an answer is not marked or two disagree on it.

    Args:
        graded: the line of the gradebook, of which only scores are read.
    """
    changes = [row for row in mine if row["points"] and not row["points"].startswith("to ")]
    change = sum((Fraction(row["points"]) for row in changes), Fraction(0))
    points = Fraction(graded["score"]) + change
    for row in mine:
        if row["points"].startswith("to "):
            to = Fraction(row["points"][3:])
            if not row["exercise"]:
                return rounded(max(Fraction(0), to + change))
            points += to - Fraction(graded[row["exercise"]])
        if row["deadline"]:
            own = datetime.datetime.fromisoformat(row["deadline"])
            late -= int((own - DEADLINE).total_seconds() // 60)
    if any(len(view) != 1 for view in written):
        return ""
    marks = sum((min(view) for view in written), Fraction(0))
    return rounded(max(Fraction(0), points + marks - lost(max(points, Fraction(0)), late, rule)))


@pytest.mark.timeout(1800)
def test_twenty_kills_change_nothing_of_what_anybody_gets(tmp_path: Path) -> None:
    chance = rng()
    soak = Soak(tmp_path, chance)
    rows, said, runs = soak.adjustments(), soak.sheets(), list(soak.options())

    for _ in range(KILLS):
        _, options = chance.choice(runs)
        with subprocess.Popen(
            soak.grade(*options), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as run:
            time.sleep(chance.uniform(*SOON))
            run.kill()

    questions = list(dict.fromkeys(question for _, question in said))
    for rule, options in runs:
        subprocess.run(soak.grade(*options), cwd=ROOT, check=True)
        for student, row in soak.gradebook().items():
            mine = [each for each in rows if each["student"] == student]
            views = [said.get((student, question), set()) for question in questions]
            wanted = expected(row, mine, soak.late[student], rule, views)
            got = row["final"] and float(row["final"])
            assert got == wanted, (row, mine, soak.late[student], rule)
    finals = [row["final"] for row in soak.gradebook().values()]
    assert 0 < finals.count("") < STUDENTS / 2
