"""A class of 142 odd names: on every platform each person's hand-in is their own."""

from collections.abc import Callable, Sequence
from dataclasses import replace
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


def worked(one: HandIn) -> str:
    if one.path is None:
        return ""
    main = one.path / "bert.py" if one.path.is_dir() else one.path
    return main.read_text(encoding="utf-8")


def read(found: Sequence[HandIn], people: Sequence[Member], key: str) -> dict[int, str]:
    """Return what everybody on the list handed in, by number."""
    by_key = {one.student: worked(one) for one in found}
    return {one.number: by_key[getattr(one, key)] for one in people}


def expected(people: Sequence[Member]) -> dict[int, str]:
    return {one.number: "" if one.absent else odd_class.work(one, one.team) for one in people}


def in_canvas(folder: Path, people: Sequence[Member]) -> tuple[list[HandIn], str]:
    roster = odd_class.export(folder / "export.csv", people, ";")
    return find(odd_class.canvas(folder / "in", people), roster), "canvas"


def in_moodle(folder: Path, people: Sequence[Member], flat: bool = False, blind: bool = False):
    roster = odd_class.worksheet(folder / "sheet.csv", people, blind)
    where = odd_class.moodle(folder / "in", people, flat, blind)
    found = find(where, roster)
    return [
        replace(one, student=one.student.removeprefix("Participant ")) for one in found
    ], "moodle"


def in_moodle_flat(folder: Path, people: Sequence[Member]):
    return in_moodle(folder, people, flat=True)


def in_moodle_blind(folder: Path, people: Sequence[Member]):
    return in_moodle(folder, people, flat=True, blind=True)


def in_gradescope(folder: Path, people: Sequence[Member]) -> tuple[list[HandIn], str]:
    roster = odd_class.roster(folder / "roster.csv", people)
    return find(odd_class.gradescope(folder / "in", people), roster), "sid"


Platform = Callable[[Path, Sequence[Member]], tuple[list[HandIn], str]]
PLATFORMS = [in_canvas, in_moodle, in_moodle_flat, in_moodle_blind, in_gradescope]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_hand_in_is_its_own_persons(tmp_path: Path, platform: Platform) -> None:
    people = [one for one in members() if platform is not in_canvas or one.name not in SMUGGLED]

    found, key = platform(tmp_path, people)

    assert read(found, people, key) == expected(people)
    assert len(found) == len(people)
    assert not [one for one in found if one.fault or not one.known]


def test_names_with_ids_in_them_harm_nobody_else_on_canvas(tmp_path: Path) -> None:
    people = members()

    found, key = in_canvas(tmp_path, people)

    own = {one.number for one in people if one.name in SMUGGLED}
    everybody = expected(people)
    assert read(found, people, key) == everybody | dict.fromkeys(own, "")
    undecided = [one for one in found if not one.known]
    assert len(undecided) == len(SMUGGLED)
    for one in undecided:
        assert one.path is None
        assert " or " in one.fault


def in_teams() -> list[Member]:
    """Return the class in teams of three, whose names are odd, and some without a team."""
    teams = [*TEAMS, *(f"Crew {number}" for number in range(30))]
    made = [
        replace(one, team=teams[place // 3] if place // 3 < len(teams) else "")
        for place, one in enumerate(members())
        if one.name not in (*SMUGGLED, *TEAMS)
    ]
    absent = {one.team for one in made if one.absent}
    return [one for one in made if not one.team or one.team not in absent]


@pytest.mark.parametrize("platform", ["canvas", "moodle", "gradescope"])
def test_what_a_team_hands_in_is_each_of_its_members(tmp_path: Path, platform: str) -> None:
    people = in_teams()
    if platform == "canvas":
        roster = odd_class.groups(tmp_path / "groups.csv", people)
        found = find(odd_class.canvas(tmp_path / "in", people), roster)
    elif platform == "moodle":
        people = [one for one in people if one.team]
        found, _ = in_moodle(tmp_path, people)
    else:
        found, _ = in_gradescope(tmp_path, people)

    key = {"canvas": "canvas", "moodle": "moodle", "gradescope": "sid"}[platform]
    assert read(found, people, key) == expected(people)
    assert len(found) == len(people)
