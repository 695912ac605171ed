"""A class of 142 odd names: on every platform each person's hand-in is their own."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import odd_class
import pytest
from odd_class import SMUGGLED, Member, members

from tensormark.classroom.entry import HandIn

from downloads import find

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
