"""Reads the written questions of an assignment, and the points of their rubric.

Students have the questions, on any page of the handout, under headings such as:

    ## Question (memory): what training has to remember (4 points, about 15 minutes)

Staff have the rubric: a file named in grader/staff.py, with a section for each question. Each line
that begins with a hyphen is an item of the rubric; only the items' points leave the file:

    ## Memory (4 points)

    The answer.

    - 3 points: what is needed for them.
    - 1 point: what else.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

from tensormark.authoring.course import staff_of
from tensormark.classroom.failure import FileError
from tensormark.classroom.marks import Question
from tensormark.classroom.typed import small_text
from tensormark.exercise import Assignment
from tensormark.handout import HEADING
from tensormark.reports.text import shown

NUMBER = r"([0-9]{1,3}(?:\.[0-9]{1,2})?)"
QUESTION = re.compile(rf"Question \((\w+)\): (.+) \({NUMBER} points?(?:, [^()]*)?\)")
SECTION = re.compile(rf"(\w+) \({NUMBER} points?\)")
ITEM = re.compile(rf"- {NUMBER} points?: \S.*")
# titles of other columns in sheets and gradebooks
RESERVED = frozenset(
    "student submission score max_score bonus final how written name submitted minutes_late "
    "problem flags other_files who".split()
)


def _handout_questions(assignment: Assignment) -> dict[str, tuple[str, Decimal, str]]:
    """Return title, points and page of each question in the handout, by id."""
    headings: dict[str, tuple[str, Decimal, str]] = {}
    for page, text in assignment.handout.pages.items():
        for _, heading in HEADING.findall(text):
            if not heading.startswith("Question ("):
                continue
            match = QUESTION.fullmatch(heading)
            if match is None:
                like = "Question (id): title (4 points)"
                raise FileError(f"{page}: {heading!r} must be like `{like}`")
            if match[1] in headings:
                raise FileError(f"{page}: two questions are called {match[1]}; rename one")
            headings[match[1]] = match[2], Decimal(match[3]), page
    return headings


def _sections(path: Path) -> Iterator[tuple[str, str, Decimal, list[Decimal]]]:
    """Yield location, title and points of each section of a rubric, and the points of its items."""
    section: tuple[str, str, Decimal, list[Decimal]] | None = None
    for number, line in enumerate(small_text(path).splitlines(), start=1):
        where = f"{path}, line {number}"
        if line.startswith("## "):
            if section is not None:
                yield section
            match = SECTION.fullmatch(line[3:].strip())
            if match is None:
                raise FileError(f"{where}: must be like `## Memory (4 points)`")
            section = where, match[1].casefold(), Decimal(match[2]), []
        elif section is not None and line.startswith("- "):
            match = ITEM.fullmatch(line.rstrip())
            if match is None:
                fix = "begin other lists with an asterisk"
                raise FileError(f"{where}: must be like `- 2 points: what for`; {fix}")
            section[3].append(Decimal(match[1]))
    if section is not None:
        yield section


def _question(
    headings: Mapping[str, tuple[str, Decimal, str]],
    section: tuple[str, str, Decimal, list[Decimal]],
) -> Question:
    """Return a section's question, whose points must be those in the handout."""
    where, name, points, items = section
    if name not in headings:
        raise FileError(f"{where}: the handout has no heading `Question ({name}): ...`")
    title, most, page = headings[name]
    if points != most:
        raise FileError(f"{where}: has {shown(points)} points, but {shown(most)} in {page}")
    question = Question(name, title, tuple(items))
    if question.most != points or not all(items):
        sums = f"has {shown(points)} points, and its items add up to {shown(question.most)}"
        raise FileError(f"{where}: {sums}; each must have some, as in `- 2 points: what for`")
    return question


def read_rubric(assignment: Assignment) -> tuple[Question, ...]:
    """Read the written questions of an assignment, in the order of the rubric.

    Raises:
        FileError: there are none, or rubric and handout contradict themselves or each other.
    """
    name = staff_of(assignment.folder).rubric
    if not name:
        fix = "name a rubric in grader/staff.py: STAFF = Staff(rubric=...)"
        raise FileError(f"{assignment.name} has no written questions; {fix}")
    path, headings = assignment.folder / name, _handout_questions(assignment)
    reserved = RESERVED | {exercise.id for exercise in assignment.exercises}
    questions: dict[str, Question] = {}
    for section in _sections(path):
        question = _question(headings, section)
        if question.id in questions or question.id in reserved:
            fix = f"something else is called {question.id}; rename the question"
            raise FileError(f"{section[0]}: {fix}")
        questions[question.id] = question
    if missing := [name for name in headings if name not in questions]:
        raise FileError(f"{path}: has no section for Question ({missing[0]})")
    if not questions:
        raise FileError(f"{path}: has no section such as `## Memory (4 points)`")
    return tuple(questions.values())
