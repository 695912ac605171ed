"""A class from a folder of submissions to the gradebook: what is graded, kept, and ended how."""

import contextlib
import json
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

# it ends the process that grades it, which has started its own parent
KILLER = """import os
with open(f"/proc/{os.getppid()}/stat") as stat:
    os.kill(int(stat.read().rpartition(")")[2].split()[1]), 9)
"""
BY_LIST = "student,points,reason\ns3,1,x\n"
ADJUSTMENTS = "student,points,reason\nada,-5.5,late\ngrace,10,showed it to me\n"


@pytest.fixture(scope="module")
def first(folder, solution_source, tmp_path_factory):
    """The parent of a class's submissions and results, graded once, and what was printed."""
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
def place(first, tmp_path):
    """A copy of that class, in the folders `in` and `out`, to change and to grade again."""
    return shutil.copytree(first[0], tmp_path / "class")


@pytest.fixture
def again(place, folder):
    """Grade that copy again, with options; return the exit status and what was printed."""
    return lambda *options: graded_class(folder, place / "in", place / "out", *options)


@pytest.fixture
def any_tier(monkeypatch):
    monkeypatch.setattr(strictest, "strictest", lambda *_: strictest.Strictest("process", ()))


def scores(out, column="score"):
    return {name: row[column] for name, row in rows_in(out / "gradebook.csv").items()}


def test_everybody_has_a_score_with_adjustments_and_those_who_get_some_questions(first):
    place, printed = first
    out = place / "out"

    assert "3 to grade" in printed
    assert "1 cannot be imported:\n  emmy: detector.py cannot be imported: detector.py:1" in printed
    assert "2 could not be read:\n  grace: " in printed
    unread = {"grace": "", "lise": "", "zoe": ""}
    assert scores(out) == {"ada": "80", "alan": "40", "emmy": "0", **unread, "zoe": "0"}
    points = {"ada": "74.5", "alan": "40", "emmy": "0", **unread, "grace": "10", "zoe": "0"}
    assert scores(out, "points") == points
    for name, says in (("lise", "UTF-16 text; save the file as UTF-8"), ("zoe", "is empty")):
        assert says in (out / f"feedback/{name}/report.html").read_text("utf-8")
        assert f"  {name}: detector.py " in printed
    assert (out / "adjustments.csv").read_text("utf-8") == ADJUSTMENTS
    result = json.loads((out / "feedback/ada/results.json").read_text("utf-8"))
    assert result["final"] == {"points": 74.5, "steps": ["adjusted by -5.5: late"]}
    assert "no questions for 1 student (no function is right): emmy" in printed
    assert set(files_in(out / "viva")) == {"keys.html", "keys/ada.html", "sheets/ada.html"}


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
    equal = again()[1]
    other = again("--references", str(private))[1]
    back = again()[1]

    assert "to grade" not in equal
    assert rows_in(place / "out/gradebook.csv")["emmy"]["equal_to"] == "ada"
    assert "2 to grade" in other
    assert "2 graded before" in back


def test_the_first_run_writes_its_options_and_a_list_may_come_later(
    folder, tmp_path, solution_source, any_tier, monkeypatch
):
    out = tmp_path / "new"
    hand_ins = handed_in(tmp_path / "in", "lab-ada-l/", "lab-alan/")
    for path in hand_ins.iterdir():
        (path / toy.MAIN).write_text(solution_source, "utf-8")
    roster = "identifier,github_username,file\ns1,ada-l,\ns2,alan,lab-alan\ns3,zoe,\ns4,,lab-alan\n"
    (tmp_path / "roster.csv").write_text(roster, "utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    out.mkdir()
    (out / "adjustments.csv").write_text(BY_LIST, "utf-8")

    too_soon = graded_class(folder, hand_ins, out)[1]
    text = (out / "class.toml").read_text("utf-8")
    chosen = config.read(out / "class.toml")
    changed = text.replace('list = ""', 'list = "~/roster.csv"')
    (out / "class.toml").write_text(changed, "utf-8")
    printed = graded_class(folder, hand_ins, out)[1]

    assert "name the list in class.toml first, or take" in too_soon
    assert chosen == config.Config(
        tier="process", viva_students=[], leaderboard_bonus=[]
    )  # all else is as usual
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


# a part of class.toml, the folder of submissions, and a part of the message; PLACE is that of both
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


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "x://127.0.0.1:1"])
def test_a_scheduler_that_is_not_there_ends_the_run(monkeypatch, address):
    pytest.importorskip("distributed")
    monkeypatch.setattr(jobs, "CONNECTING", 0.1)

    with pytest.raises(jobs.UserError, match="cannot be reached"):
        jobs.Cluster(address)


def test_a_cluster_that_does_no_work_ends_the_run(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(jobs, "NO_WORKER", 0)
    monkeypatch.setattr(jobs, "CONNECTING", 0.5)
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster:
        connected = jobs.Cluster(cluster.scheduler_address)
        with pytest.raises(jobs.UserError, match="there has been no worker"):
            connected.slots()

    with pytest.raises(jobs.UserError, match="the scheduler has stopped"):
        connected.slots()


def test_a_folder_with_something_else_is_left_alone(folder, place, tmp_path):
    handed_in(tmp_path / "mine", "thesis.tex")
    handed_in(tmp_path / "empty", ".DS_Store")

    status, printed = graded_class(folder, place / "in", tmp_path / "mine")

    assert status == 2
    assert "has thesis.tex in it and is no class's; name a new folder" in printed
    assert set(files_in(tmp_path / "mine")) == {"thesis.tex"}
    with Store(tmp_path / "empty") as store:
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
        ended = ran(*line(place / "out", place / "in"), cwd=folder)

    assert ended.returncode == 2
    assert "another run is writing there" in ended.stderr


# --- jobs ---------------------------------------------------------------------------------------


class Scripted:
    """Ends each job as a script says: with a result, or with an exception."""

    def __init__(self, steps):
        self.steps = steps

    def slots(self):
        return 2

    def submit(self, *_):
        future = jobs.Future()
        step = self.steps.pop(0)
        if isinstance(step, BaseException):
            future.set_exception(step)
        else:
            future.set_result(step)
        return future

    def close(self):
        pass


DONE = {"exercises": [{"score": 1}]}
PART = {"exercises": [{"id": "f", "score": None}]}
DIED = jobs.BrokenProcessPool()
BUG = ValueError("x")
ANY = None  # a job, or its terms


@pytest.mark.parametrize(
    ("steps", "answer"),
    [
        ([PART, DONE], DONE),
        ([PART, PART, PART], PART),
        ([BUG, DONE], DONE),
        ([BUG, BUG, BUG], jobs.JobFailed("a worker failed: ValueError: x")),
        ([DIED, DONE], DONE),
        ([DIED, DIED], jobs.DIED),
    ],
)
def test_a_job_is_tried_again_as_often_as_it_makes_sense(steps, answer):
    left = list(steps)

    assert list(jobs.answers(Scripted(left), {"a": ANY}, ANY)) == [("a", answer)]
    assert left == []


def test_a_job_whose_worker_died_is_tried_last_and_alone():
    steps = [DIED, DONE, DONE, DONE]

    answers = jobs.answers(Scripted(steps), {"a": ANY, "b": ANY, "c": ANY}, ANY)

    assert [key for key, _ in answers][-1] == "a"


def test_a_worker_that_differs_ends_the_run():
    unfit = Scripted([jobs.UnfitWorkerError("host has torch 1, not 2")])

    with pytest.raises(jobs.UserError, match="a worker cannot grade: host has torch 1"):
        list(jobs.answers(unfit, {"a": ANY}, ANY))


def test_a_worker_without_the_references_says_that_it_cannot_grade(folder):
    settings = jobs.Settings.of(folder, references=folder)

    with pytest.raises(jobs.UnfitWorkerError, match="manifest"):
        jobs.do(ANY, jobs.Terms(folder, settings, True, ()))


# --- real runs ----------------------------------------------------------------------------------


def line(out, hand_ins, *options):
    return tensormark("class", "--check", "--out", str(out), *options, "--", str(hand_ins))


def kept(out):
    """Return how many results are on disk, from a copy, as only one run may open the file."""
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
    start = subprocess.Popen(
        line(out, hand_ins, "--workers", "2"),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    while start.poll() is None and kept(out) < 2:
        time.sleep(0.05)
    start.send_signal(signal_number)
    printed = start.communicate(timeout=60)[0]  # until no process is left that could print

    status, second = graded_class(folder, hand_ins, out)

    assert start.returncode == (130 if signal_number == signal.SIGINT else -signal.SIGKILL), printed
    before = [int(words.split()[0]) for words in second.splitlines() if "graded before" in words]
    assert len(before) == 1
    assert before[0] >= 2
    assert status == 0
    assert set(scores(out).values()) == {"80"}


@pytest.mark.slow
def test_a_submission_that_kills_its_grader_has_no_result_and_a_note(folder, place):
    """In the tier `process`, which isolates nothing."""
    (place / "in/eve.py").write_text(KILLER, "utf-8")

    ended = ran(*line(place / "out", place / "in", "--workers", "2"), cwd=folder, timeout=240)

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
        words = line(other, place / "in", "--scheduler", cluster.scheduler_address)
        ended = ran(*words, cwd=folder, timeout=240)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert rows_in(other / "gradebook.csv") == rows_in(place / "out/gradebook.csv")
