"""A class from a folder of submissions to the gradebook: what is graded, kept, and refused."""

import contextlib
import json
import re
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

from tensormark import strictest
from tensormark.classroom import config, grade_class, jobs
from tensormark.classroom.store import Store
from testkit import toy
from testkit.classes import graded_class, handed_in, options_in, rows_in
from testkit.graded import files_in, ran, tensormark
from testkit.resident import called

# ends the process that grades it: its parent's parent, the fourth field of the parent's stat
KILLER = """import os
with open(f"/proc/{os.getppid()}/stat") as stat:
    os.kill(int(stat.read().rpartition(")")[2].split()[1]), 9)
"""
UNISOLATED = strictest.Strictest("process", ())
ADJUSTMENTS = "student,points,reason\nada,-5.5,late\ngrace,10,showed it to me\n"


def scores(out, column="score"):
    """Return a column of the gradebook in a class's folder, by student."""
    return {name: row[column] for name, row in rows_in(out / "gradebook.csv").items()}


def command(out, hand_ins, *options):
    """Return the command line that grades a class, for a process of its own."""
    return tensormark("class", "--check", "--out", str(out), *options, "--", str(hand_ins))


@pytest.fixture(scope="module")
def graded(folder, solution_source, tmp_path_factory):
    """A folder with a class's submissions in `in` and results in `out`, and what was printed."""
    place = tmp_path_factory.mktemp("class")
    hand_ins = handed_in(place / "in", "grace.txt")
    (hand_ins / "ada.py").write_text(solution_source, "utf-8")
    (hand_ins / "alan.py").write_text(solution_source.replace(toy.BIAS, ""), "utf-8")
    (hand_ins / "emmy.py").write_text("def f(:\n", "utf-8")
    (hand_ins / "lise.py").write_text(solution_source, "utf-16")
    (hand_ins / "zoe.py").touch()
    options_in(place / "out", tier="process", viva=1, viva_students=["ada", "emmy"])
    (place / "out/adjustments.csv").write_text(ADJUSTMENTS, "utf-8")
    status, printed = graded_class(folder, hand_ins, place / "out")
    assert status == 0, printed
    return place, printed


@pytest.fixture
def place(graded, tmp_path):
    """A copy of that folder, to change and to grade again."""
    return shutil.copytree(graded[0], tmp_path / "class")


@pytest.fixture
def again(place, folder):
    """Grade that copy again, with options; return the exit status and what was printed."""
    return lambda *options: graded_class(folder, place / "in", place / "out", *options)


def test_everybody_has_a_score_and_points_with_adjustments(graded):
    place, printed = graded
    out = place / "out"

    assert "3 to grade" in printed
    unadjusted = {"ada": "80", "alan": "40", "emmy": "0", "grace": "", "lise": "", "zoe": "0"}
    assert scores(out) == unadjusted
    assert scores(out, "points") == unadjusted | {"ada": "74.5", "grace": "10"}
    result = json.loads((out / "feedback/ada/results.json").read_text("utf-8"))
    assert result["final"] == {"points": 74.5, "steps": ["adjusted by -5.5: late"]}
    assert (out / "adjustments.csv").read_text("utf-8") == ADJUSTMENTS


def test_what_cannot_be_read_or_imported_is_listed_with_the_reason(graded):
    place, printed = graded

    assert "1 cannot be imported:\n  emmy: detector.py cannot be imported: detector.py:1" in printed
    assert "2 could not be read:\n  grace: " in printed
    for name, says in (("lise", "UTF-16 text; save the file as UTF-8"), ("zoe", "is empty")):
        assert f"  {name}: detector.py " in printed
        assert says in (place / f"out/feedback/{name}/report.html").read_text("utf-8")


def test_those_who_get_questions_get_them_on_functions_that_are_right(graded):
    place, printed = graded

    assert set(files_in(place / "out/viva")) == {"keys.html", "keys/ada.html", "sheets/ada.html"}
    assert "no questions for 1 student (no function is right): emmy" in printed


def test_what_was_graded_is_not_graded_again_and_the_same_is_written(place, again):
    before = files_in(place / "out")

    status, printed = again()

    assert status == 0
    assert "3 graded before" in printed
    assert "to grade" not in printed
    assert "to make questions" not in printed
    after = files_in(place / "out")
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert {name for name in changed if not name.startswith("results.sqlite")} == set()


def test_only_what_has_changed_is_graded(place, again, private):
    options_in(place / "out", tier="process")
    shutil.copy(place / "in/ada.py", place / "in/emmy.py")
    _, equal_to_another = again()
    _, other_references = again("--references", str(private))
    _, first_references = again()

    assert "to grade" not in equal_to_another
    assert scores(place / "out", "equal_to")["emmy"] == "ada"
    assert "2 to grade" in other_references
    assert "2 graded before" in first_references


def test_the_first_run_writes_its_options_and_a_list_may_come_later(
    folder, tmp_path, solution_source, monkeypatch
):
    monkeypatch.setattr(strictest, "strictest", lambda *_: UNISOLATED)
    out = tmp_path / "new"
    hand_ins = handed_in(tmp_path / "in", "lab-ada-l/", "lab-alan/")
    for path in hand_ins.iterdir():
        (path / toy.MAIN).write_text(solution_source, "utf-8")
    roster = "identifier,github_username,file\ns1,ada-l,\ns2,alan,lab-alan\ns3,zoe,\ns4,,lab-alan\n"
    (tmp_path / "roster.csv").write_text(roster, "utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    out.mkdir()
    (out / "adjustments.csv").write_text("student,points,reason\ns3,1,x\n", "utf-8")

    _, without_list = graded_class(folder, hand_ins, out)
    text = (out / "class.toml").read_text("utf-8")
    written = config.read(out / "class.toml")
    changed = text.replace('list = ""', 'list = "~/roster.csv"')
    (out / "class.toml").write_text(changed, "utf-8")
    _, printed = graded_class(folder, hand_ins, out)

    assert "name the list in class.toml first, or take" in without_list
    usual = config.Config(tier="process", viva_students=[], leaderboard_bonus=[])
    assert written == usual
    assert scores(out) == {"s1": "80", "s2": "80", "s3": "", "s4": "80"}
    assert "list: 1 decided by its column `file`:\n  'lab-alan' goes to s2 and s4\n" in printed
    assert "1 not handed in:\n  s3: adjusted by 1: x\n" in printed
    assert (out / "class.toml").read_text("utf-8") == changed


def test_without_isolation_nothing_is_graded(folder, place, tmp_path, monkeypatch):
    none = strictest.Strictest(None, ("contained: there is no bwrap",))
    monkeypatch.setattr(strictest, "strictest", lambda *_: none)

    status, printed = graded_class(folder, place / "in", tmp_path / "new")

    assert status == 2
    assert "this machine cannot isolate submissions (contained: there is no bwrap)" in printed


# part of class.toml, the folder of submissions, and part of the message; PLACE is where both are
BAD = {
    "no folder": ("", "missing", "there is no such folder"),
    "results in place of submissions": ("", "out/feedback", "anew; move it elsewhere"),
    "a list that a run would replace": ('list = "PLACE/out/marks.csv"', "in", "move it elsewhere"),
    "ids instead of marks": (
        'list = "PLACE/out/adjustments.csv"\ncolumn = "student"',
        "in",
        "no column of marks titled 'student'; set column in class.toml to one of these titles: ",
    ),
    "a missing list": ('list = "missing.csv"', "in", "missing.csv: cannot be read"),
    "an unknown key": ('rooster = "x"', "in", "there is no option 'rooster'; "),
    "a wrong kind": ('viva = "many"', "in", "must be an integer, 0 to 20"),
    "a wrong platform": ('platform = "sakai"', "in", "must be one of gradescope, blackboard"),
    "a number for no clock": (f"budget = 1{'0' * 400}", "in", "larger than 0, at most 1000000"),
    "a text with a zero": (r'list = "a\u0000"', "in", "without the character 0"),
    "an unknown student": ('viva = 1\nviva_students = ["eve"]', "in", "is called 'eve'"),
    "no value": ("list = ", "in", "not TOML"),
    "no predictions": ("leaderboard = true", "in", "this assignment has none"),
    "a bonus for percent": ("leaderboard_bonus = [[60, 2]]", "in", "accuracies from 0 to 1"),
    "a time of no place": ("deadline = 2026-10-01T23:59:00", "in", "and time with its offset"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_option_is_one_line_and_changes_nothing(case, folder, place):
    options, hand_ins, message = BAD[case]
    text = f'tier = "process"\n{options}\n'.replace("PLACE", str(place))
    (place / "out/class.toml").write_text(text, "utf-8")
    before = files_in(place / "out")

    ended = called(folder, "class", "--out", str(place / "out"), "--", str(place / hand_ins))

    assert ended.returncode == 2
    assert message in ended.stderr.splitlines()[-1]
    after = files_in(place / "out")
    assert not [name for name in before if before[name] != after[name] and "sqlite" not in name]


def test_a_folder_with_something_else_is_left_alone(folder, place, tmp_path):
    handed_in(tmp_path / "mine", "thesis.tex")

    status, printed = graded_class(folder, place / "in", tmp_path / "mine")

    assert status == 2
    assert "has thesis.tex in it and is no class's; name a new folder" in printed
    assert set(files_in(tmp_path / "mine")) == {"thesis.tex"}


def test_a_folder_with_only_what_a_system_leaves_or_a_new_one_may_hold_a_class(tmp_path):
    handed_in(tmp_path / "new", ".DS_Store")

    with Store(tmp_path / "new") as store, Store(tmp_path / "a/b"):
        assert store.secret() == store.secret()


def test_nothing_is_lost_if_a_file_cannot_be_written(place, again, monkeypatch):
    before = files_in(place / "out/feedback")

    def full(*_):
        raise OSError(28, "No space left on device", "teach.html")

    monkeypatch.setattr(grade_class.returned, "write", full)
    status, printed = again()

    assert status == 2
    assert "results are kept, but" in printed
    assert files_in(place / "out/feedback") == before


def test_a_second_run_in_a_folder_is_refused(place, folder):
    with Store(place / "out"):
        ended = ran(*command(place / "out", place / "in"), cwd=folder)

    assert ended.returncode == 2
    assert "another run is writing there" in ended.stderr


# --- runs in processes of their own ---------------------------------------------------------------


def results_kept(out):
    """Return how many results are on disk, read from a copy: only one run may open the file."""
    copy = out.parent / "copy.sqlite"
    with contextlib.suppress(OSError, sqlite3.Error):
        shutil.copy(out / "results.sqlite", copy)
        shutil.copy(out / "results.sqlite-wal", f"{copy}-wal")
        with contextlib.closing(sqlite3.connect(copy)) as file:
            return file.execute("SELECT COUNT(*) FROM results").fetchone()[0]
    return 0


@pytest.mark.slow
@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_whatever_ends_a_run_the_same_command_continues_and_no_process_is_left(
    signal_number, folder, solution_source, tmp_path
):
    out = tmp_path / "out"
    options_in(out, tier="process")
    hand_ins = handed_in(tmp_path / "many", *(f"s{number}.py" for number in range(4)))
    for path in hand_ins.iterdir():
        path.write_text(f"{solution_source}\n# {path.name}\n", "utf-8")
    run = subprocess.Popen(
        command(out, hand_ins, "--workers", "2"),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    while run.poll() is None and results_kept(out) < 2:
        time.sleep(0.05)
    run.send_signal(signal_number)
    printed = run.communicate(timeout=60)[0]  # until no process is left that could print

    status, second = graded_class(folder, hand_ins, out)

    assert run.returncode == (130 if signal_number == signal.SIGINT else -signal.SIGKILL), printed
    before = re.search(r"(\d+) graded before", second)
    assert int(before[1]) >= 2
    assert status == 0
    assert set(scores(out).values()) == {"80"}


@pytest.mark.slow
def test_without_isolation_a_submission_that_kills_its_grader_has_a_note_and_no_score(
    folder, place
):
    (place / "in/eve.py").write_text(KILLER, "utf-8")

    ended = ran(*command(place / "out", place / "in", "--workers", "2"), cwd=folder, timeout=240)

    assert ended.returncode == 3, ended.stdout + ended.stderr
    row = rows_in(place / "out/gradebook.csv")["eve"]
    assert (row["score"], row["status"]) == ("", "could not be graded")
    assert jobs.KILLS in row["notes"]
    assert scores(place / "out")["ada"] == "80"


@pytest.mark.slow
def test_a_cluster_gives_the_same_gradebook(folder, place):
    distributed = pytest.importorskip("distributed")
    other = place / "other"
    options_in(other, tier="process")
    shutil.copy(place / "out/adjustments.csv", other)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=True
    ) as cluster:
        words = command(other, place / "in", "--scheduler", cluster.scheduler_address)
        ended = ran(*words, cwd=folder, timeout=240)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert rows_in(other / "gradebook.csv") == rows_in(place / "out/gradebook.csv")
