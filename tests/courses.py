"""Classes for tests of what each student gets in the end: runs whose grading is instant."""

import csv
import datetime
import random
import sqlite3
from decimal import Decimal
from pathlib import Path
from typing import Any

from test_class_store import TERMS

from tensormark.classroom import command, new_sheet, run, written
from tensormark.classroom.marks import Question
from tensormark.classroom.work import Work

import classes
from conftest import ROOT

DEADLINE = datetime.datetime(2026, 11, 20, 18, tzinfo=datetime.UTC)
HEAD = "student,exercise,points,deadline,reason,who\n"
SHEET = "student,memory (2 + 1 + 1),memory comment,rate (1.5 + 0.5),rate comment,who\n"
RULE = 'points = 5\nper = "day"\n'


class Course:
    """A folder with a class; each student has what `results` says, and nothing is really graded."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, folder / "out"
        self.results: dict[str, dict[str, Any]] = {}
        self.graded = 0
        (folder / "in").mkdir()
        self.roster = ["id,login,name,submitted"]

    def add(self, number: int, result: dict[str, Any], late: int | None = 0, name: str = "") -> str:
        """Add a student who handed in so many minutes after the deadline; None: nobody knows."""
        student = str(10_000 + number)
        (self.folder / f"in/{student}.py").write_text(f"# {student}\n", encoding="utf-8")
        when = "" if late is None else str(DEADLINE + datetime.timedelta(minutes=late))
        self.roster.append(f"{student},login{number},{name or f'Student No{number}'},{when}")
        (self.folder / "roster.csv").write_text("\n".join(self.roster), encoding="utf-8")
        self.results[student] = result | {"references": TERMS.references}
        return student

    def result(self, work: Work) -> dict[str, Any]:
        self.graded += 1
        return self.results[work.sources["bert"].strip("# \n")]

    def rows(self, *rows: str, head: str = HEAD) -> str:
        """Write adjustments; return the option."""
        path = self.folder / "adjustments.csv"
        path.write_text(head + "\n".join(rows), encoding="utf-8")
        return f"--adjustments={path}"

    def rule(self, text: str = RULE) -> str:
        path = self.folder / "late.toml"
        path.write_text(text, encoding="utf-8")
        return f"--rule={path}"

    def sheet(self, *rows: str, name: str = "sheet.csv", head: str = SHEET) -> Path:
        path = self.folder / name
        path.write_text(head + "\n".join(rows), encoding="utf-8")
        return path

    def grade(self, *options: str) -> int:
        roster = "--roster", str(self.folder / "roster.csv"), "--deadline", DEADLINE.isoformat()
        line = [str(self.folder / "in"), "--out", str(self.out), *roster, *options]
        return command.main(ROOT, "class", line)

    def gradebook(self) -> dict[str, dict[str, str]]:
        text = (self.out / "gradebook.csv").read_text(encoding="utf-8")
        return {row["student"]: row for row in csv.DictReader(text.splitlines())}

    def final(self, student: str, *options: str) -> tuple[str, str]:
        """Grade; return what a student gets, and how it came about."""
        assert self.grade(*options) == 0
        row = self.gradebook()[student]
        return row["final"], row["how"]

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.out / "store.sqlite") as file:
            return file.execute(query).fetchall()


def opened(folder: Path, patch: Any) -> Course:
    """Return a class whose results are made here, without workers."""
    course = Course(folder)
    classes.grade_at_once(patch, course.result)
    patch.setattr(run, "terms_of", lambda *_: TERMS)
    patch.setattr(run, "known_sources", lambda _: [])  # to be compared with, which takes seconds
    return course


def with_questions(patch: Any) -> None:
    """Have two written questions, those of SHEET, in place of this assignment's."""
    items = {"memory": ("2", "1", "1"), "rate": ("1.5", "0.5")}
    questions = tuple(
        Question(name, f"about {name}", tuple(map(Decimal, points)))
        for name, points in items.items()
    )
    for module in (written, new_sheet):
        patch.setattr(module, "read_rubric", lambda _: questions)


def whole(score: float = 72.0, **scores: float | None) -> dict[str, Any]:
    """Return a result with this score; some exercises may have their own, None for no verdict."""
    made = classes.result_of(random.Random(4), "x.py")
    for exercise in made["exercises"]:
        given = scores.get(exercise["id"], 0.0)
        outcome = "could not grade" if given is None else "failed"
        exercise |= {"score": given, "outcome": outcome, "findings": []}
    return made | {"score": score, "max_score": 100.0}
