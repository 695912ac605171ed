"""A class is killed twenty times while staff change what counts, and every `final` is right.

300 students, 40 adjustments, three late rules and the sheets of two assistants who disagree on some
answers. What each student gets is computed again in fractions, from the files alone.
"""

import csv
import random
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from courses import Course
from test_ledger_plain import RULES, as_toml, drawn, expected

from tensormark.classroom.points.adjustments import COLUMNS

from classes import CORE
from conftest import ROOT
from soak.seeds import rng

STUDENTS, KILLS = 300, 20
SOON = (0.5, 8.0)  # seconds from the start of a run to its end
SCALE = "/ math.sqrt(d)"


class Soak(Course):
    """A class, what staff have written about it, and what was graded."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        super().__init__(folder)
        self.chance = chance
        self.late: dict[str, int] = {}
        source = (ROOT / "solution/bert.py").read_text(encoding="utf-8")
        unknown = {"exercises": [{"id": exercise, "score": 0} for exercise in CORE]}
        for number in range(STUDENTS):
            late = chance.choice([0, -300, chance.randrange(9000)])
            student = self.add(number, unknown, late)
            self.late[student] = late
            wrong = source.replace(SCALE, "") if number % 3 == 0 else source
            text = f"{wrong}\n# {number % 60}\n"
            (folder / f"in/{student}.py").write_text(text, encoding="utf-8")

    def command(self, rule: dict[str, Any]) -> list[str]:
        """Return the command that grades the class with a late rule, which is written now."""
        adjustments = f"--adjustments={self.folder / 'adjustments.csv'}"
        sheets = f"--written={self.folder / 'ab.csv'},{self.folder / 'cd.csv'}"
        options = "--check", "--tier=process", adjustments, sheets, self.rule(as_toml(rule))
        return [sys.executable, "-m", "tensormark", "class", *self.grading_options(*options)]

    def adjustments(self) -> list[dict[str, str]]:
        """Write 40 rows, none of which is about the exercise that is not graded here."""
        rows = drawn(self.chance, [*self.late], self.results)
        for row in rows:
            if row["exercise"] == "sentiment":
                row |= {"exercise": "", "points": "+1.125"}
        self.rows(*(",".join(row[name] for name in COLUMNS) for row in rows))
        return rows

    def sheets(self) -> dict[tuple[str, str], set[Fraction]]:
        """Fill two copies of the sheet; return what was said of each student's answers."""
        assert self.write_sheet() == 0
        text = (self.folder / "sheet.csv").read_text(encoding="utf-8")
        rows = list(csv.DictReader(text.splitlines()))
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
            with (self.folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(sheet)
        return said


@pytest.mark.timeout(1800)
def test_twenty_kills_change_nothing_of_what_anybody_gets(tmp_path: Path) -> None:
    chance = rng()
    soak = Soak(tmp_path, chance)
    rows, said = soak.adjustments(), soak.sheets()

    for _ in range(KILLS):
        line = soak.command(chance.choice(RULES))
        with subprocess.Popen(
            line, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as run:
            time.sleep(chance.uniform(*SOON))
            run.kill()

    questions = {question for _, question in said}
    most = sum(CORE.values()) - CORE["sentiment"]
    for rule in RULES:
        subprocess.run(soak.command(rule), cwd=ROOT, check=True)
        for student, row in soak.gradebook().items():
            mine = [
                each | {"own": row.get(each["exercise"], "")}
                for each in rows
                if each["student"] == student
            ]
            views = [said.get((student, question), set()) for question in questions]
            settled = all(len(view) == 1 for view in views)
            marks = sum((min(view) for view in views), Fraction(0)) if settled else None
            wanted = expected(row["score"], mine, soak.late[student], rule, most, marks)
            got = row["final"] and float(row["final"])
            assert got == wanted, (row, mine, soak.late[student], rule)
    finals = [row["final"] for row in soak.gradebook().values()]
    assert 0 < finals.count("") < STUDENTS / 2
