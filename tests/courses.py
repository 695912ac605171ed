"""Helpers for tests of final scores: classes whose results are made up, without grading."""

import contextlib
import csv
import dataclasses
import datetime
import html
import io
import json
import random
import sqlite3
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from teaching import grade_at_once
from test_class_store import TERMS

from tensormark import cli
from tensormark.classroom import marks, run
from tensormark.classroom.jobs.store import Attempt
from tensormark.classroom.jobs.work import Ask, Work
from tensormark.classroom.points import new_sheet, written
from tensormark.viva import draw
from tensormark.viva.question import Listing, Question, Sheet

import classes
import formats
from conftest import ROOT
from test_payloads import is_clean

DEADLINE = datetime.datetime(2026, 11, 20, 18, tzinfo=datetime.UTC)
HEAD = "student,exercise,points,deadline,reason,who\n"
SHEET = "student,memory (2 + 1 + 1),memory comment,rate (1.5 + 0.5),rate comment,who\n"
RULE = 'points = 5\nper = "day"\n'


def gradebook_in(out: Path) -> dict[str, dict[str, str]]:
    """Return the rows of gradebook.csv by student."""
    text = (out / "gradebook.csv").read_text(encoding="utf-8")
    return {row["student"]: row for row in csv.DictReader(text.splitlines())}


class Course:
    """A folder with a class, in which each student gets the result that `results` has for them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, folder / "out"
        self.results: dict[str, dict[str, Any]] = {}
        self.graded = 0
        self.deadline: datetime.datetime | None = DEADLINE
        (folder / "in").mkdir()
        self.roster = ["id,login,name,submitted"]

    def add(self, number: int, result: dict[str, Any], late: int | None = 0, name: str = "") -> str:
        """Add a student who handed in `late` minutes after the deadline; None: unknown."""
        student = str(10_000 + number)
        (self.folder / f"in/{student}.py").write_text(f"# {student}\n", encoding="utf-8")
        when = "" if late is None else str(DEADLINE + datetime.timedelta(minutes=late))
        self.roster.append(f"{student},login{number},{name or f'Student No{number}'},{when}")
        self.results[student] = result
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

    def usual_options(self) -> list[str]:
        """Return the folder of hand-ins and the roster, which is written now, as options."""
        path = self.folder / "roster.csv"
        path.write_text("\n".join(self.roster), encoding="utf-8")
        return [str(self.folder / "in"), f"--roster={path}"]

    def grading_options(self, *options: str) -> list[str]:
        deadline = [f"--deadline={self.deadline.isoformat()}"] if self.deadline else []
        return [*self.usual_options(), f"--out={self.out}", *deadline, *options]

    def grade(self, *options: str) -> int:
        return cli.run(ROOT, "class", self.grading_options(*options))

    def refused(self, *options: str) -> str:
        """Return the line that says why options are refused, before anything is graded."""
        before, errors = (self.graded, self.gradebook_bytes()), io.StringIO()
        with contextlib.redirect_stderr(errors):
            assert self.grade(*options) == 2
        assert (self.graded, self.gradebook_bytes()) == before
        (line,) = errors.getvalue().splitlines()
        assert is_clean(line)
        return line

    def gradebook_bytes(self) -> bytes:
        path = self.out / "gradebook.csv"
        return path.read_bytes() if path.exists() else b""

    def write_sheet(self, *options: str) -> int:
        """Write an empty sheet for marks, sheet.csv; return the exit status."""
        out = f"--out={self.folder / 'sheet.csv'}"
        return cli.run(ROOT, "sheet", [*self.usual_options(), out, *options])

    def gradebook(self) -> dict[str, dict[str, str]]:
        return gradebook_in(self.out)

    def feedback(self, student: str) -> dict[str, Any]:
        """Return the results.json that a student gets, checked by its schema."""
        model = json.loads((self.out / f"feedback/{student}/results.json").read_bytes())
        formats.check_model(model | {"references": "0" * 64})
        return model

    def report(self, student: str) -> str:
        return (self.out / f"feedback/{student}/report.html").read_text(encoding="utf-8")

    def page(self) -> str:
        return (self.out / "gradebook.html").read_text(encoding="utf-8")

    def final(self, student: str, *options: str) -> tuple[str, str]:
        """Grade; return a student's final score, and how it was computed."""
        assert self.grade(*options) == 0
        row = self.gradebook()[student]
        return row["final"], row["how"]

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        with contextlib.closing(sqlite3.connect(self.out / "store.sqlite")) as file:
            return file.execute(query).fetchall()


CourseKind = TypeVar("CourseKind", bound=Course)


def course_in(folder: Path, patch: Any, kind: type[CourseKind] = Course) -> CourseKind:
    """Return a class whose results are made here, without workers."""
    course = kind(folder)
    grade_at_once(patch, course.result)
    patch.setattr(run, "terms_of", lambda *_: TERMS)
    patch.setattr(run, "known_sources", lambda _: [])  # similarity takes seconds
    return course


def with_questions(patch: Any) -> None:
    """Replace this assignment's written questions with the two of SHEET."""
    items = {"memory": ("2", "1", "1"), "rate": ("1.5", "0.5")}
    questions = tuple(
        marks.Question(name, f"about {name}", tuple(map(Decimal, points)))
        for name, points in items.items()
    )
    for module in (written, new_sheet):
        patch.setattr(module, "read_rubric", lambda _: questions)


def whole(score: float = 72.0, **scores: float | None) -> dict[str, Any]:
    """Return a result with this score, and perhaps scores of exercises; None: not graded."""
    result = classes.result_of(random.Random(4), "x.py")
    for exercise in result["exercises"]:
        points = scores.get(exercise["id"], 0.0)
        outcome = "could not grade" if points is None else "failed"
        exercise |= {"score": points, "outcome": outcome, "findings": []}
    return result | {"score": score, "max_score": 100.0}


KEY_EXPLANATION = "BECAUSE-IT-IS-SO"  # in what only staff may read
DISTRACTOR_EXPLANATION = "BECAUSE-IT-IS-NOT"
STAFF_NOTE = "there are few of these"


def question(number: int, seed: str) -> Question:
    options = tuple(f"answer {letter} to number {number}" for letter in "wxyz")
    others = tuple("" if place == number % 4 else DISTRACTOR_EXPLANATION for place in range(4))
    prompt = f"What is true of place {number}{seed}?"
    return Question(
        f"family {number % 6}", "attention", 1, prompt, options, number % 4, KEY_EXPLANATION, others
    )


def made_result(job: Ask) -> dict[str, Any]:
    """Return the result of a job that draws as many questions as it was asked for."""
    listing = Listing("attention", "bert.py", ((1, "def attention(self):"),))
    questions = tuple(question(n, seed=job.seed[:4]) for n in range(job.number))
    sheet = Sheet("minBERT", "bert.py", job.seed, (listing,), questions, (draw.IN_EVAL, STAFF_NOTE))
    return {"sheet": json.loads(json.dumps(dataclasses.asdict(sheet)))}


class VivaClass(Course):
    """A class whose sheets are made here, without workers."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.make = made_result
        self.jobs: list[Ask] = []

    def enrol(self, number: int, *passed: str, name: str = "") -> str:
        """Add a student, with the exercises that passed."""
        result = whole(50)
        for exercise in result["exercises"]:
            exercise["outcome"] = "passed" if exercise["id"] in passed else "failed"
        return self.add(number, result, name=name)

    def make_sheets(self, class_run: run.Run, asks: Sequence[Ask]) -> None:
        assert class_run.viva is not None
        for job in asks:
            self.jobs.append(job)
            class_run.viva.sheets.add(
                job.digest, class_run.terms, Attempt("here", 1.0, "", self.make(job))
            )

    def files(self, kind: str = "") -> dict[str, str]:
        folder = self.out / "viva" / kind
        paths = (path for path in folder.glob("**/*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_text("latin-1") for path in paths}

    def codes(self, student: str) -> dict[str, Question]:
        """Return the questions of a student's sheet by their codes, as on the page."""
        text = html.unescape(self.files("sheets")[f"{student}.html"])
        seeds = {job.seed[:4] for job in self.jobs}
        possible_questions = [question(n, seed=seed) for seed in sorted(seeds) for n in range(20)]
        return {
            question.code: question for question in possible_questions if question.prompt in text
        }


def viva_class_in(folder: Path, patch: Any) -> VivaClass:
    """Return a class whose results and questions are made here, without workers."""
    viva_class = course_in(folder, patch, VivaClass)
    patch.setattr(run.Run, "ask", lambda own, asks: viva_class.make_sheets(own, asks))
    return viva_class
