"""What a team hands in belongs to its members, and to nobody else."""

from pathlib import Path

import odd_class

from downloads import by_student, find, handed_in, listed, names

TEAMS = "id,name,team\n1,Ada,Team One\n2,Bob,Team One\n3,Cy,team-two\n4,Team One,\n5,Eve,\n"


def test_a_team_with_the_name_of_a_student_is_left_for_a_person_to_decide(tmp_path: Path) -> None:
    hand_ins = listed(tmp_path, TEAMS, "team one.zip")

    assert "team Team One or 4 (Team One)" in hand_ins["team one.zip"].fault
    assert not any(hand_in.path for hand_in in hand_ins.values())


def test_the_name_of_a_student_is_not_taken_for_a_canvas_team(tmp_path: Path) -> None:
    roster = odd_class.groups(
        tmp_path / "groups.csv",
        [odd_class.Member(n, name, team) for n, name, team in [
            (1, "Lovelace, Ada", "Crew"), (2, "Hopper, Grace", "Crew"), (3, "Crew", ""),
        ]],
    )  # fmt: skip
    folder = handed_in(tmp_path / "in", "crew_10003_5_bert.py", "crew_10001_6_bert.py")

    hand_ins = by_student(find(folder, roster))

    assert names(hand_ins["10001"]) == names(hand_ins["10002"]) == ["crew_10001_6_bert.py"]
    assert names(hand_ins["10003"]) == ["crew_10003_5_bert.py"]


def test_a_team_has_all_its_files(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text(TEAMS.replace("4,Team One", "4,X"), encoding="utf-8")
    folder = handed_in(
        tmp_path / "in",
        "Team One_9_assignsubmission_file_bert.py",
        "Team One_9_assignsubmission_file_optimizer.py",
    )

    hand_ins = by_student(find(folder, tmp_path / "roster.csv"))

    assert hand_ins["1"].parts == hand_ins["2"].parts
    assert [part.name for part in hand_ins["1"].parts] == ["bert.py", "optimizer.py"]
