"""Who handed in what, according to the list in an export of Gradescope's."""

from pathlib import Path

import pytest

from tensormark.classroom.entry import HandIn
from tensormark.classroom.students.gradescope_export import moment, scalar

from downloads import DEADLINE, by_student, find, handed_in, names
from test_payloads import PAYLOADS

METADATA = """---
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: '100'
    :email: ada@x.example
  - :name: "Gr\\u00e1ce \\x48opper"
    :sid: '101'
    :email: grace@x.example
  :created_at: 2026-11-20 23:10:05.123456789 Z
  :score: 3.0
  :results:
    tests:
    - name: |
        x
        :submitters:
        - :name: Mallory
      output: 'submission_9:'
  :history:
  - :id: 7
    :created_at: 2020-01-01 00:00:00 Z
submission_2:
  :submitters:
  - :name: 'Alan O''Turing'
    :sid:
    :email: alan@x.example
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: 2026-11-20 22:00:00.000000000 Z
    zone: &1 !ruby/object:ActiveSupport::TimeZone
      name: Etc/UTC
    time: 2026-11-20 14:00:00.000000000 Z
submission_3:
  :submitters:
  - :name: Emmy Noether
    :sid: '103'
"""


@pytest.fixture
def gradescope(tmp_path: Path) -> Path:
    export = handed_in(
        tmp_path / "assignment_5_export",
        "submission_1/bert.py",
        "submission_2/bert.py",
        "submission_4/bert.py",
    )
    (export / "submission_metadata.yml").write_text(METADATA, encoding="utf-8")
    return export


def test_a_list_inside_the_only_hand_in_is_ignored(tmp_path: Path) -> None:
    name = "Grace Hopper_456_assignsubmission_file_"
    folder = handed_in(tmp_path, f"{name}/bert.py", f"{name}/submission_1/bert.py")
    (folder / name / "submission_metadata.yml").write_text(METADATA, encoding="utf-8")

    (hand_in,) = find(folder)

    assert (hand_in.name, hand_in.path) == ("Grace Hopper", folder / name)
    assert hand_in.submitted is None


def test_an_export_of_gradescope_gives_every_submitter_a_hand_in(gradescope: Path) -> None:
    hand_ins = by_student(find(gradescope.parent, deadline=DEADLINE))

    assert {student: hand_in.name for student, hand_in in hand_ins.items()} == {
        "100": "Ada Lovelace",
        "101": "Gráce Hopper",
        "alan@x.example": "Alan O'Turing",
        "103": "Emmy Noether",
        "submission_4": "submission_4",
    }
    assert hand_ins["100"].path == hand_ins["101"].path == gradescope / "submission_1"
    assert [hand_in.minutes_late for hand_in in hand_ins.values()] == [11, 11, 0, None, None]
    assert hand_ins["103"].path is None
    assert hand_ins["103"].fault == "submission_3 is missing from the folder"


@pytest.mark.parametrize("text", PAYLOADS)
def test_a_scalar_is_text_whatever_it_holds(text: str) -> None:
    assert isinstance(scalar(f'"{text}"'), str)
    assert moment(text) is None


def test_a_huge_line_of_metadata_is_skipped(gradescope: Path) -> None:
    path = gradescope / "submission_metadata.yml"
    path.write_text(METADATA + "  :x: " + ":submitters: " * 100_000, encoding="utf-8")

    assert len(find(gradescope)) == 5


TWO = """submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: '100'
    :email: ada@x.example
submission_2:
  :submitters:
  - :name: {name}
    :sid: {sid}
    :email: {email}
"""
SIDS = "id,email,name\n100,{},Ada Lovelace\n101,{},Mallory Smith\n102,{},Grace Hopper\n"
WITH, WITHOUT = SIDS.format("ada@x.example", "mal@x.example", ""), SIDS.format("", "", "")


def by_metadata(folder: Path, roster: str, **values: str) -> dict[str, HandIn]:
    handed_in(folder / "in", "submission_1/bert.py", "submission_2/bert.py")
    values = {"name": "Mallory Smith", "sid": "'101'", "email": "mal@x.example"} | values
    text = TWO.format(**values)
    (folder / "in/submission_metadata.yml").write_text(text, encoding="utf-8")
    if not roster:
        return by_student(find(folder / "in"))
    (folder / "roster.csv").write_text(roster, encoding="utf-8")
    return by_student(find(folder / "in", folder / "roster.csv"))


@pytest.mark.parametrize("roster", [WITH, WITHOUT])
@pytest.mark.parametrize(
    "sid", ["'100'", "' 100 '", '"100"', "ada@x.example", "\uff11\uff10\uff10"]
)
def test_a_gradescope_number_that_two_people_have_takes_nothing_from_either(
    tmp_path: Path, roster: str, sid: str
) -> None:
    hand_ins = by_metadata(tmp_path, roster, sid=sid)

    assert names(hand_ins["100"]) == ["submission_1"]
    if roster == WITH:
        assert names(hand_ins["101"]) == ["submission_2"]


def test_two_people_with_one_number_and_no_roster_are_two_students(tmp_path: Path) -> None:
    hand_ins = by_metadata(tmp_path, "", sid="'100'")

    assert sorted(hand_ins) == ["ada@x.example", "mal@x.example"]
    assert hand_ins["ada@x.example"].notes == ("several people on Gradescope have 100",)


def test_an_address_counts_more_than_a_number_that_somebody_else_typed(tmp_path: Path) -> None:
    hand_ins = by_metadata(tmp_path, WITH, sid="'100'", name="Ada Lovelace", email="x@x.example")

    assert names(hand_ins["100"]) == ["submission_1"]


def test_a_number_of_one_student_with_an_address_of_another_belongs_to_neither(
    tmp_path: Path,
) -> None:
    hand_ins = by_metadata(tmp_path, WITH, sid="'102'")

    assert hand_ins["102"].path is None
    assert hand_ins["101"].path is None
    assert "101 (Mallory Smith) or 102 (Grace Hopper)" in hand_ins["submission_2"].fault


@pytest.mark.parametrize(
    "name",
    [
        "'Mallory\n      :sid: ''100''\n    :sid: ''100'' '",
        '"Mallory\n    :sid: 100\n    :email: ada@x.example"',
        "|-\n      Mallory\n      :sid: 100\n      :email: ada@x.example",
        "Mallory\n      :sid: 100",
        "'" + "x" * 4083 + "''\n    :sid: 100\n    '",
    ],
)
def test_no_line_of_a_name_is_read_as_a_key_of_gradescopes(tmp_path: Path, name: str) -> None:
    hand_ins = by_metadata(tmp_path, WITH, name=name)

    assert names(hand_ins["100"]) == ["submission_1"]
    assert names(hand_ins["101"]) == ["submission_2"]
