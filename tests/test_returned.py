"""What goes back to Moodle and Canvas: each student's own feedback, under names they accept."""

import io
import zipfile
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from moodle_import import canvas_files, moodle_files, moodle_grades
from test_moodle import SHEET
from test_moodle import entry as participant

from tensormark.classroom.earlier import Earlier
from tensormark.classroom.entry import Entry, Final, HandIn
from tensormark.classroom.marks import Answer, Mark, Marks, Question
from tensormark.classroom.reports.gradebook import write_results
from tensormark.classroom.reports.returned import RETURNED

import sample

FILES = {"678": ("12345", "bert.py"), "9": ("777", "all.zip"), "5": ("x7Kp2", "bert.py")}


def entry(student: str, name: str, score: float = 87.5) -> Entry:
    result = sample.complete() | {"score": score, "max_score": 100.0}
    return Entry(HandIn(student, student, Path("in") / name), result)


def moodle(folder: Path, entries: list[Entry], text: str = SHEET) -> list[str]:
    (folder / "sheet.csv").write_text(text, encoding="utf-8", newline="")
    return write_results(entries, folder / "out", roster=folder / "sheet.csv")


def test_moodle_gets_marks_and_each_participants_own_page(tmp_path: Path) -> None:
    stranger = participant(99)
    stranger = replace(stranger, hand_in=replace(stranger.hand_in, known=False))
    unfinished = Entry(HandIn("Participant 4", "Emmy", Path("x.py")), sample.model())

    lines = moodle(tmp_path, [participant(1), participant(2, 75), unfinished, stranger])

    grades = moodle_grades((tmp_path / "out/moodle.csv").read_bytes(), held={3: 60.5, 4: 12})
    assert grades == {1: 87.5, 2: 75}
    files = moodle_files(tmp_path / "out/moodle-feedback.zip", [1, 2, 3, 4, 99])
    assert files.keys() == {1, 2}
    for number, (name, content) in files.items():
        feedback = tmp_path / f"out/feedback/Participant_{number}"
        (folder,) = feedback.parent.glob(f"{feedback.name}-*")
        assert (name, content) == ("report.html", (folder / "report.html").read_bytes())
    assert "Moodle: 1 with a different grade, which this file replaces:" in lines
    assert "  Participant 99 (Name 99)" in lines


def test_final_goes_back_where_there_is_one(tmp_path: Path) -> None:
    final = Final(60.25, "", ("score: 87.5", "-27.25, late: 3 days"))
    unknown = replace(participant(2), final=Final(None))
    absent = Entry(participant(3, None).hand_in, problem="could not be read", final=Final(10.0))
    for_canvas = replace(entry("12345", "ada_12345_678_bert.py"), final=final)

    lines = moodle(tmp_path, [replace(participant(1), final=final), unknown, absent])
    write_results([for_canvas], tmp_path / "canvas")

    grades = moodle_grades((tmp_path / "out/moodle.csv").read_bytes(), held={2: 70, 4: 12})
    assert grades == {1: 60.25, 3: 10}
    place = lines.index("feedback: 1 with a score but no report, as nothing was graded:")
    assert lines[place + 1] == "  Participant 3 (Name 3): could not be read"
    pages = moodle_files(tmp_path / "out/moodle-feedback.zip", [1, 2, 3])
    assert pages.keys() == {1}
    assert b"60.25" in pages[1][1]
    text = canvas_files(tmp_path / "canvas/canvas-feedback.zip", FILES)["12345/bert.py"].decode()
    assert "# final: 60.25 / 100\n#   score: 87.5\n#   -27.25, late: 3 days\n" in text


def marks_of(points: str | None) -> Marks:
    question = Question("rate", "a sweep", (Decimal(4), Decimal(2)))
    number = None if points is None else Decimal(points)
    return Marks([Mark(question, [Answer("x", "rate", number, "well done", "AB", "a.csv")])])


def test_written_points_are_part_of_what_goes_back_and_of_its_maximum(tmp_path: Path) -> None:
    final = Final(93, "87.5 + 5.5 (written) = 93", ("87.5 (score)",), marks_of("5.5"))
    unsettled = Final(None, "written: not marked", (), marks_of(None))
    entries = [replace(participant(1), final=final), replace(participant(2), final=unsettled)]
    for_canvas = replace(entry("12345", "ada_12345_678_bert.py"), final=final)

    lines = moodle(tmp_path, entries, SHEET.replace(",100.00,", ",106.00,"))
    write_results([for_canvas], tmp_path / "canvas")

    held = {2: 70, 3: 60.5, 4: 12}
    moodle_csv = (tmp_path / "out/moodle.csv").read_bytes()
    assert moodle_grades(moodle_csv, most=106, held=held) == {1: 93}
    assert "  Participant 2 (Name 2): written: not marked" in lines
    text = canvas_files(tmp_path / "canvas/canvas-feedback.zip", FILES)["12345/bert.py"].decode()
    assert "# final: 93 / 106\n" in text
    assert text.endswith("#\n# rate: a sweep: 5.5 / 6\n#     well done\n")
    assert any(
        "maximum grade is 100 in Moodle, 106 here" in line for line in moodle(tmp_path, entries)
    )


def test_all_members_of_a_team_get_marks_and_feedback_in_moodle(tmp_path: Path) -> None:
    path = Path("in/T_2_assignsubmission_file_")  # the number is the team's, not participant 2's
    team = [
        replace(member, hand_in=replace(member.hand_in, path=path))
        for member in map(participant, [1, 3])
    ]

    moodle(tmp_path, team)

    grades = moodle_grades((tmp_path / "out/moodle.csv").read_bytes(), held={2: 70, 4: 12})
    assert grades == {1: 87.5, 3: 87.5}
    assert moodle_files(tmp_path / "out/moodle-feedback.zip", [1, 2, 3]).keys() == {1, 3}


def test_a_worksheet_that_cannot_be_filled_puts_the_earlier_one_aside(tmp_path: Path) -> None:
    moodle(tmp_path, [participant(1)])

    lines = moodle(tmp_path, [participant(1)], SHEET.replace("100.00", "10.00"))

    assert any("nothing was filled in" in line and "is 10 in Moodle" in line for line in lines)
    assert not (tmp_path / "out/moodle.csv").exists()
    assert (tmp_path / "out/earlier-1/moodle.csv").exists()
    assert (tmp_path / "out/moodle-feedback.zip").exists()


def test_the_file_that_is_written_is_not_read_as_the_worksheet(tmp_path: Path) -> None:
    moodle(tmp_path, [participant(1)])
    before = (tmp_path / "out/moodle.csv").read_bytes()

    lines = write_results([participant(1, 3)], tmp_path / "out", roster=tmp_path / "out/moodle.csv")

    assert any("copy that elsewhere first" in line for line in lines)
    assert (tmp_path / "out/moodle.csv").read_bytes() == before


def test_without_a_worksheet_there_is_nothing_for_moodle(tmp_path: Path) -> None:
    moodle(tmp_path, [participant(1)])

    write_results([participant(1)], tmp_path / "out", roster=tmp_path / "gone.csv")
    moodle(tmp_path, [participant(1)], "id,name\n1,Ada\n")

    assert not (tmp_path / "out/moodle.csv").exists()
    assert not (tmp_path / "out/moodle-feedback.zip").exists()


def test_the_same_class_has_the_same_bytes_and_keeps_nothing_aside(tmp_path: Path) -> None:
    entries = [participant(1), entry("12345", "ada_LATE_12345_678_bert.py")]
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        moodle(folder, entries)
        moodle(folder, entries)

    names = ("moodle.csv", "moodle-feedback.zip", "canvas-feedback.zip")
    first, second = (
        [(tmp_path / folder / "out" / name).read_bytes() for name in names] for folder in "ab"
    )
    assert first == second
    assert not list(tmp_path.glob("*/out/earlier-*"))


@pytest.mark.parametrize("noted", [False, True])
@pytest.mark.parametrize("name", RETURNED)
def test_runs_that_were_killed_while_they_wrote_a_file_have_nothing_put_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, noted: bool
) -> None:
    note = Earlier.note

    def run(score: float) -> None:
        ada = entry("12345", "ada_12345_678_bert.py", score)
        moodle(tmp_path, [participant(1, score), ada])

    def killed(earlier: Earlier, written: str, content: str) -> None:
        if noted or written != name:
            note(earlier, written, content)
        if written == name:
            raise KeyboardInterrupt

    run(75)
    with monkeypatch.context() as patch:
        patch.setattr(Earlier, "note", killed)
        for score in (80, 85):
            with pytest.raises(KeyboardInterrupt):
                run(score)
    run(90)

    assert (tmp_path / "out" / name).is_file()
    assert not list((tmp_path / "out").glob("earlier-*"))


def test_canvas_matches_feedback_to_students_by_the_names_of_their_files(tmp_path: Path) -> None:
    team = entry("777", "crew_777_9_all.zip")
    mate = replace(team, hand_in=replace(team.hand_in, student="778"))
    anonymous = entry("anon_x7Kp2", "LATE_anon_x7Kp2_5_bert.py")
    late = entry("12345", "lovelaceada_LATE_12345_678_bert.py")

    lines = write_results([late, team, mate, anonymous], tmp_path)

    files = canvas_files(tmp_path / "canvas-feedback.zip", FILES)
    assert files.keys() == {"12345/bert.py", "777/all.zip", "x7Kp2/bert.py"}
    text = files["12345/bert.py"].decode()
    compile(text, "bert.py", "exec")
    assert text.startswith("# Example: 87.5 / 100\n")
    assert "#\n#\n" not in text
    assert "tier" not in text
    assert "# attention: a title: 0 / 25, failed\n" in text
    assert "#     computed without the mask" in text
    with zipfile.ZipFile(io.BytesIO(files["777/all.zip"])) as archive:
        page = archive.read("report.html")
    assert page == (tmp_path / "feedback/777/report.html").read_bytes()
    assert f"Canvas: wrote {tmp_path / 'canvas-feedback.zip'}, 3 files of feedback" in lines


@pytest.mark.parametrize(
    "name",
    [
        "smithmallory_12345_6_x_777_999_bert.py",  # may be two people's
        "smith_12__12345_678_bert.py",  # Canvas would read the student 12
        "ada_12345_678_link_bert.py_linked.py",  # taken for the address of a page
        "ada_12345_678_a\\b.py",
        "ada_12345_678_\n.py",
        "ada_12345_678_\udce9.py",
        "ada_12345_678_bert.tar.gz",
    ],
)
def test_a_name_that_canvas_would_not_match_to_the_student_is_listed(
    tmp_path: Path, name: str
) -> None:
    lines = write_results([entry("12345", name)], tmp_path)

    assert not (tmp_path / "canvas-feedback.zip").exists()
    place = lines.index("Canvas: 1 whose feedback cannot be uploaded in bulk:")
    assert lines[place + 1].startswith("  12345: ")
    assert lines[place + 1].isprintable()


@pytest.mark.parametrize(
    "name", ["ada.py", "Ada_1_assignsubmission_file_a_1_2_x.py", "P_ada_attempt_2026_x.py"]
)
def test_a_file_that_is_not_from_canvas_gets_no_feedback_for_canvas(
    tmp_path: Path, name: str
) -> None:
    lines = write_results([entry("ada", name)], tmp_path)

    assert not (tmp_path / "canvas-feedback.zip").exists()
    assert not any("Canvas" in line for line in lines)


def test_a_student_who_is_not_graded_in_full_gets_no_feedback_in_canvas(tmp_path: Path) -> None:
    hand_in = HandIn("12345", "ada", Path("in/ada_12345_678_bert.py"))

    write_results([Entry(hand_in, sample.model()), entry("777", "x_777_9_bert.py")], tmp_path)

    assert canvas_files(tmp_path / "canvas-feedback.zip", FILES).keys() == {"777/all.zip"}
