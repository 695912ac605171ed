"""A class of 142 odd names: on every platform each person's hand-in and grade are their own."""

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import odd_class
import pytest
from courses import gradebook_in
from moodle_import import moodle_files, moodle_grades
from odd_class import SMUGGLED, Member, members
from teaching import grade_at_once
from test_class_store import TERMS, result

from tensormark import cli
from tensormark.classroom import run
from tensormark.classroom.entry import HandIn
from tensormark.classroom.jobs.work import Work

from conftest import ROOT
from downloads import find, handed_in

TEAMS = [
    "Team One",
    "Default group",
    "team two",
    "Ünïcode 🚀",
    "=1+1",
    "a_12_34_b",
    "LATE",
    "x" * 90,
]


def work_of(hand_in: HandIn) -> str:
    if hand_in.path is None:
        return ""
    main = hand_in.path / "bert.py" if hand_in.path.is_dir() else hand_in.path
    return main.read_text(encoding="utf-8")


def read(hand_ins: Sequence[HandIn], people: Sequence[Member], key: str) -> dict[int, str]:
    """Return what everybody on the list handed in, by number."""
    by_key = {hand_in.student: work_of(hand_in) for hand_in in hand_ins}
    return {member.number: by_key[getattr(member, key)] for member in people}


def expected(people: Sequence[Member]) -> dict[int, str]:
    return {
        member.number: "" if member.absent else odd_class.work(member, member.team)
        for member in people
    }


def in_canvas(folder: Path, people: Sequence[Member]) -> tuple[list[HandIn], str]:
    roster = odd_class.export(folder / "export.csv", people, ";")
    return find(odd_class.canvas(folder / "in", people), roster), "canvas"


def in_canvas_groups(folder: Path, people: Sequence[Member]) -> tuple[list[HandIn], str]:
    roster = odd_class.groups(folder / "groups.csv", people)
    return find(odd_class.canvas(folder / "in", people), roster), "canvas"


def in_moodle(
    folder: Path, people: Sequence[Member], flat: bool = False, blind: bool = False
) -> tuple[list[HandIn], str]:
    roster = odd_class.worksheet(folder / "sheet.csv", people, blind)
    return find(odd_class.moodle(folder / "in", people, flat, blind), roster), "participant"


def in_gradescope(folder: Path, people: Sequence[Member]) -> tuple[list[HandIn], str]:
    roster = odd_class.roster(folder / "roster.csv", people)
    return find(odd_class.gradescope(folder / "in", people), roster), "sid"


Platform = Callable[[Path, Sequence[Member]], tuple[list[HandIn], str]]
PLATFORMS: dict[str, Platform] = {
    "canvas": in_canvas,
    "moodle": in_moodle,
    "moodle, flat": partial(in_moodle, flat=True),
    "moodle, blind": partial(in_moodle, flat=True, blind=True),
    "gradescope": in_gradescope,
}


@pytest.mark.parametrize("platform", PLATFORMS.values(), ids=PLATFORMS)
def test_every_hand_in_belongs_to_its_author(tmp_path: Path, platform: Platform) -> None:
    people = [
        member for member in members() if platform is not in_canvas or member.name not in SMUGGLED
    ]

    hand_ins, key = platform(tmp_path, people)

    assert read(hand_ins, people, key) == expected(people)
    assert len(hand_ins) == len(people)
    assert not [hand_in for hand_in in hand_ins if hand_in.fault or not hand_in.known]


def test_names_with_ids_in_them_harm_nobody_else_on_canvas(tmp_path: Path) -> None:
    people = members()

    hand_ins, key = in_canvas(tmp_path, people)

    smuggled = {member.number for member in people if member.name in SMUGGLED}
    works = expected(people)
    assert read(hand_ins, people, key) == works | dict.fromkeys(smuggled, "")
    undecided = [hand_in for hand_in in hand_ins if not hand_in.known]
    assert len(undecided) == len(SMUGGLED)
    for hand_in in undecided:
        assert hand_in.path is None
        assert " or " in hand_in.fault


def in_teams() -> list[Member]:
    """Return the class in teams of three, whose names are odd, and some without a team."""
    teams = [*TEAMS, *(f"Crew {number}" for number in range(30))]
    people = [
        replace(member, team=teams[place // 3] if place // 3 < len(teams) else "")
        for place, member in enumerate(members())
        if member.name not in (*SMUGGLED, *TEAMS)
    ]
    absent = {member.team for member in people if member.absent}
    return [member for member in people if not member.team or member.team not in absent]


@pytest.mark.parametrize("platform", [in_canvas_groups, in_moodle, in_gradescope])
def test_a_teams_hand_in_belongs_to_each_of_its_members(tmp_path: Path, platform: Platform) -> None:
    people = [member for member in in_teams() if member.team or platform is not in_moodle]

    hand_ins, key = platform(tmp_path, people)

    assert read(hand_ins, people, key) == expected(people)
    assert len(hand_ins) == len(people)


# --- gradebooks, with a grader that knows whose work each file is -------------------------------


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Score every submission with its author's number, without workers."""

    def result_of(work: Work) -> dict[str, Any]:
        number = re.search("[0-9]+", work.sources["bert"])
        score = {"score": float(number[0]) if number else 0.0, "max_score": 200.0}
        return result() | score

    grade_at_once(monkeypatch, result_of)
    monkeypatch.setattr(run, "terms_of", lambda *_: TERMS)


def gradebook(folder: Path, *options: str) -> dict[str, str]:
    status = cli.run(ROOT, "class", [str(folder / "in"), "--out", str(folder / "out"), *options])
    assert status == 0
    rows = gradebook_in(folder / "out")
    return {student.lstrip("'"): row["score"] for student, row in rows.items()}


def scores(people: Sequence[Member]) -> dict[int, str]:
    return {member.number: "" if member.absent else str(member.number) for member in people}


def test_the_gradebooks_of_three_platforms_agree(tmp_path: Path) -> None:
    people = [member for member in members() if member.name not in SMUGGLED]
    canvas, moodle, gradescope = (tmp_path / name for name in ("canvas", "moodle", "gradescope"))
    odd_class.canvas(canvas / "in", people)
    odd_class.moodle(moodle / "in", people, flat=False)
    odd_class.gradescope(gradescope / "in", people)
    export = str(odd_class.export(canvas / "export.csv", people))
    sheet = str(odd_class.worksheet(moodle / "sheet.csv", people))

    first = gradebook(canvas, "--canvas", export)
    second = gradebook(moodle, "--roster", sheet)
    third = gradebook(gradescope, "--canvas", export)

    assert {member.number: first[member.canvas] for member in people} == scores(people)
    assert {member.number: second[member.participant] for member in people} == scores(people)
    assert {member.number: third[member.canvas] for member in people} == scores(people)
    grades = {member.number: float(member.number) for member in people if not member.absent}
    assert grades == {
        int(number) - 20_000: grade
        for number, grade in moodle_grades((moodle / "out/moodle.csv").read_bytes(), 200).items()
    }
    numbers = [int(member.moodle) for member in people]
    pages = moodle_files(moodle / "out/moodle-feedback.zip", numbers)
    assert {number - 20_000 for number in pages} == grades.keys()
    for folder in (canvas, gradescope):
        text = (folder / "out/canvas.csv").read_text(encoding="utf-8")
        rows = list(csv.reader(text.splitlines()))[1:]
        assert {row[1]: row[-1] for row in rows} == {
            member.canvas: str(member.number) for member in people if not member.absent
        }


def test_unlisted_students_and_ambiguous_files_are_in_the_output_and_on_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "smithmallory_1_6_x_2_9_bert.py"
    handed_in(tmp_path / "in", "lovelaceada_1_10_bert.py", "evil_999_11_bert.py", name)
    rows = "id,name\n1,Ada Lovelace\n2,Mallory Smith\n"
    (tmp_path / "roster.csv").write_text(rows, encoding="utf-8")

    gradebook(tmp_path, "--roster", str(tmp_path / "roster.csv"))

    output = capsys.readouterr().out
    complaint = "could belong to 1 (Ada Lovelace) or 2 (Mallory Smith), so nobody gets it"
    assert "\n  not on the roster: 999 (evil)\n" in output
    assert f"\n  could not be read: {name}: {complaint}" in output
    page = (tmp_path / "out/gradebook.html").read_text(encoding="utf-8")
    assert "not on the roster" in page
    assert "so nobody gets it" in page
