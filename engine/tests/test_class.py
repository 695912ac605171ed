"""A class from a folder of hand-ins to the gradebook: what is graded, kept, and ended how."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toy
from classes import graded_class, handed_in, options_in, rows_in
from graded import files_in, tensormark
from resident import called
from tensormark import strictest
from tensormark.classroom import command, config, jobs
from tensormark.classroom.jobs import LocalWorkers
from tensormark.classroom.people import FileError
from tensormark.classroom.store import only_run
from tensormark.classroom.worker import Answer

WRONG = (toy.BIAS, "")
KILLER = "import os\nos.kill(os.getppid(), 9)\n"  # it ends the process that grades it


@pytest.fixture
def hand_ins(tmp_path: Path, solution_source: str) -> Path:
    """A folder with a right, a wrong and an unreadable hand-in, and one that is not Python."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "ada.py").write_text(solution_source, encoding="utf-8")
    wrong = solution_source.replace(*WRONG)
    assert wrong != solution_source
    (folder / "alan.py").write_text(wrong, encoding="utf-8")
    (folder / "grace.txt").write_text("my code", encoding="utf-8")
    (folder / "emmy.py").write_text("def f(:\n", encoding="utf-8")
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    options_in(folder, tier="process")
    return folder


def scores(out: Path) -> dict[str, str]:
    return {name: row["score"] for name, row in rows_in(out / "gradebook.csv").items()}


def test_a_class_is_graded_once_and_whatever_changed_again(
    folder: Path, hand_ins: Path, out: Path
) -> None:
    status, printed = graded_class(folder, hand_ins, out)
    before = files_in(out)
    again, second = graded_class(folder, hand_ins, out)
    (hand_ins / "emmy.py").write_text((hand_ins / "ada.py").read_text("utf-8"), encoding="utf-8")
    third = graded_class(folder, hand_ins, out)[1]

    assert (status, again) == (0, 0)
    assert "3 to grade" in printed
    assert "could not be read: grace" in printed
    assert scores(out) == {"ada": "80", "alan": "40", "emmy": "80", "grace": ""}
    assert "3 graded before" in second
    assert "to grade" not in second
    assert "to grade" not in third  # emmy's is the same as ada's
    assert rows_in(out / "gradebook.csv")["emmy"]["equal_to"] == "ada"
    assert {name for name in before if "/" not in name} >= {
        "class.toml",
        "gradebook.csv",
        "gradebook.html",
        "teach.html",
        "results.sqlite",
    }


def test_the_same_class_gets_the_same_files(folder: Path, hand_ins: Path, out: Path) -> None:
    graded_class(folder, hand_ins, out)
    first = files_in(out)
    graded_class(folder, hand_ins, out)

    changing = ("results.sqlite", "results.sqlite-wal", "results.sqlite-shm")
    second = {name: text for name, text in files_in(out).items() if name not in changing}
    assert second == {name: text for name, text in first.items() if name not in changing}


def test_other_terms_are_graded_anew(
    folder: Path, hand_ins: Path, out: Path, private: Path
) -> None:
    graded_class(folder, hand_ins, out)

    _, printed = graded_class(folder, hand_ins, out, "--references", str(private))
    _, back = graded_class(folder, hand_ins, out)

    assert "3 to grade" in printed
    assert "3 graded before" in back


def test_the_first_run_writes_its_options_and_no_other(
    folder: Path, hand_ins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "new"
    for name in ("ada.py", "alan.py"):
        (hand_ins / name).rename(hand_ins / f"x_LATE_{len(name)}_1_{name}")
    for path in (hand_ins / "grace.txt", hand_ins / "emmy.py"):
        path.unlink()
    monkeypatch.setattr(strictest, "strictest", lambda *_: strictest.Strictest("process", ()))

    graded_class(folder, hand_ins, out)
    text = (out / "class.toml").read_text("utf-8")
    chosen = config.read(out / "class.toml")
    graded_class(folder, hand_ins, out)

    assert (chosen.platform, chosen.tier, chosen.viva) == ("canvas", "process", 0)
    assert "2 hand-ins marked late" in text
    assert (out / "class.toml").read_text("utf-8") == text


def test_a_roster_says_whose_the_folders_are_even_if_the_first_run_had_none(
    folder: Path, solution_source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "new"
    hand_ins = handed_in(tmp_path / "in", "lab-ada-l/", "lab-alan/")
    for path in hand_ins.iterdir():
        (path / toy.MAIN).write_text(solution_source, encoding="utf-8")
    roster = tmp_path / "roster.csv"
    roster.write_text("identifier,github_username\ns1,ada-l\ns2,alan\n", encoding="utf-8")
    monkeypatch.setattr(strictest, "strictest", lambda *_: strictest.Strictest("process", ()))

    graded_class(folder, hand_ins, out)
    text = (out / "class.toml").read_text("utf-8")
    text = text.replace('list = ""', f'list = "{roster}"')
    (out / "class.toml").write_text(text, encoding="utf-8")
    graded_class(folder, hand_ins, out)

    assert scores(out) == {"s1": "80", "s2": "80"}


def test_without_isolation_nothing_is_graded(
    folder: Path, hand_ins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = strictest.Strictest(None, ("contained: there is no bwrap",))
    monkeypatch.setattr(strictest, "strictest", lambda *_: none)

    status, printed = graded_class(folder, hand_ins, tmp_path / "new")

    assert status == 2
    assert "this machine cannot isolate submissions (contained: there is no bwrap)" in printed


def test_an_appeal_says_what_differs(folder: Path, hand_ins: Path, out: Path) -> None:
    graded_class(folder, hand_ins, out)

    status, printed = graded_class(folder, hand_ins, out, "--only", "alan")

    assert status == 0
    assert "1 to grade" in printed
    assert "alan: 40 / 80 before, 40 / 80 now; no exercise differs" in printed


def test_adjustments_count_and_are_never_written(folder: Path, hand_ins: Path, out: Path) -> None:
    text = "student,points,reason\nada,-5.5,late\ngrace,10,showed it to me\n"
    (out / "adjustments.csv").write_text(text, encoding="utf-8")

    graded_class(folder, hand_ins, out)

    rows = rows_in(out / "gradebook.csv")
    assert {name: row["points"] for name, row in rows.items()} == {
        **{"ada": "74.5", "alan": "40", "emmy": "0", "grace": "10"}
    }
    assert (out / "adjustments.csv").read_text("utf-8") == text
    result = json.loads((out / "feedback/ada/results.json").read_text("utf-8"))
    assert result["final"] == {"points": 74.5, "steps": ["adjusted by -5.5: late"]}


def test_questions_are_made_once_for_those_who_get_some(
    folder: Path, hand_ins: Path, out: Path
) -> None:
    options_in(out, tier="process", viva=1, viva_students=["ada", "emmy"])

    _, printed = graded_class(folder, hand_ins, out)
    files = files_in(out / "viva")
    _, again = graded_class(folder, hand_ins, out)

    assert "1 to make questions on" in printed
    assert "no questions for 1 student (no function is right): emmy" in printed
    assert set(files) == {"keys.html", "keys/ada.html", "sheets/ada.html"}
    assert "to make questions on" not in again
    assert files_in(out / "viva") == files


BAD = {
    "no folder": ({}, ["--out", "OUT", "--", "missing"], "there is no such folder"),
    "an unknown key": ({"rooster": "x"}, [], "there is no option 'rooster'; "),
    "a near key": ({"lists": "x"}, [], "did you mean list?"),
    "a wrong kind": ({"viva": "many"}, [], "must be a whole number, 0 to 20"),
    "a wrong platform": ({"platform": "sakai"}, [], "must be one of gradescope, blackboard"),
    "a number too large for a clock": ({"budget": 10**400}, [], "larger than 0, at most 1000000"),
    "a text with a zero": ({"list": "a\0"}, [], "must not contain the character 0"),
    "a list that a run would replace": ({"list": "OUT/canvas.csv"}, [], "anew; move it elsewhere"),
    "a missing list": ({"list": "missing.csv"}, [], "missing.csv: cannot be read"),
    "an unknown student": ({"viva": 1, "viva_students": ["eve"]}, [], "no one student is 'eve'"),
    "nobody to grade again": ({}, ["--only", "eve"], "no one student has that name"),
    "an unreadable one to grade again": ({}, ["--only", "grace"], "it is not a folder, a .py"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_option_is_one_line_and_changes_nothing(
    case: str, folder: Path, hand_ins: Path, out: Path
) -> None:
    options, words, message = BAD[case]
    graded_class(folder, hand_ins, out)
    options = {
        name: value.replace("OUT/", f"{out}/") if isinstance(value, str) else value
        for name, value in options.items()
    }
    options_in(out, tier="process", **options)
    before = (out / "gradebook.csv").read_bytes()

    ended = called(folder, "class", "--check", "--out", str(out), *words[:2], "--", str(hand_ins))
    if "--" in words:
        ended = called(folder, "class", "--check", "--out", str(out), *words[2:])

    assert ended.returncode == 2
    assert message in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert (out / "gradebook.csv").read_bytes() == before


@pytest.mark.parametrize("text", ["budget = " + "9" * 5000, "list = " + "[" * 5000, "list = "])
def test_options_that_cannot_be_read_are_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "class.toml").write_text(text, encoding="utf-8")

    with pytest.raises(FileError, match="not TOML"):
        config.read(tmp_path / "class.toml")


def test_a_folder_with_something_else_is_left_alone(
    folder: Path, hand_ins: Path, tmp_path: Path
) -> None:
    handed_in(tmp_path / "mine", "thesis.tex")

    status, printed = graded_class(folder, hand_ins, tmp_path / "mine")

    assert status == 2
    assert "has thesis.tex in it and is no class's; name a new folder" in printed
    assert set(files_in(tmp_path / "mine")) == {"thesis.tex"}


def test_hand_ins_where_results_are_written_are_not_lost(
    folder: Path, hand_ins: Path, out: Path
) -> None:
    hand_ins.rename(out / "feedback")
    before = files_in(out / "feedback")

    status, printed = graded_class(folder, out / "feedback", out)

    assert status == 2
    assert "move it elsewhere" in printed
    assert files_in(out / "feedback") == before


def test_what_a_system_or_a_failed_run_leaves_does_not_make_a_folder_another_thing(
    folder: Path, tmp_path: Path
) -> None:
    handed_in(tmp_path / "out", ".lock", ".DS_Store")

    with only_run(tmp_path / "out"):
        assert (tmp_path / "out/.lock").exists()


def test_nothing_is_lost_if_a_file_cannot_be_written(
    folder: Path, hand_ins: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graded_class(folder, hand_ins, out)
    before = files_in(out / "feedback")

    def full(*_: object) -> list[str]:
        raise OSError(28, "No space left on device", str(out / "teach.html"))

    monkeypatch.setattr(command.returned, "write", full)
    status, printed = graded_class(folder, hand_ins, out)

    assert status == 2
    assert "results are kept, but" in printed
    assert files_in(out / "feedback") == before


def test_the_list_may_be_in_a_home(
    folder: Path, hand_ins: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "people.csv").write_text("login,name\nada,Ada\nzoe,Zoe\n", "utf-8")
    options_in(out, tier="process", list="~/people.csv")

    _, printed = graded_class(folder, hand_ins, out)

    assert f"list: {tmp_path / 'home' / 'people.csv'}" in printed
    assert "not handed in: zoe" in printed


# --- jobs ---------------------------------------------------------------------------------------


class Scripted(jobs.Executor):
    """Ends each job as a script says: with an answer, or with an exception."""

    def __init__(self, script: dict[str, list[Any]], slots: int = 2) -> None:
        self.script = script
        self.count = slots
        self.most = 0
        self.open: list[Any] = []

    def slots(self) -> int:
        return self.count

    def submit(self, _: Callable[..., Any], /, *args: Any, **__: Any) -> Any:
        (job, _terms) = args
        future: Any = jobs.Future()
        step = self.script[job.seed].pop(0)
        self.open.append(future)
        self.most = max(self.most, len(self.open))
        if isinstance(step, BaseException):
            future.set_exception(step)
        else:
            future.set_result(step)
        return future

    def done(self, future: Any) -> None:
        self.open.remove(future)


class Died(jobs.BrokenProcessPool):
    """A worker died."""


Died.__name__ = jobs.BrokenProcessPool.__name__
DONE = Answer({"exercises": []}, 1.0)
PART = Answer({"exercises": [{"score": None}]}, 1.0)


@pytest.mark.parametrize(
    ("steps", "kept", "fault"),
    [
        ([DONE], [DONE], ""),
        ([PART, DONE], [PART, DONE], ""),
        ([PART, PART, PART], [PART] * 3, ""),
        ([ValueError("x"), DONE], [DONE], ""),
        ([ValueError("x")] * 3, [], "a worker failed: ValueError: x"),
        ([Died(), DONE], [DONE], ""),
        ([Died(), Died()], ["blamed"], ""),
    ],
)
def test_a_job_is_tried_again_as_often_as_it_makes_sense(
    steps: list[Any], kept: list[Any], fault: str
) -> None:
    job = jobs.Job(work=None, seed="a")  # type: ignore[arg-type]
    answers: list[Any] = []
    blamed = {"blamed": True}
    progress = jobs.Progress(1, "done")

    run = jobs.Run(
        None,  # type: ignore[arg-type]
        Scripted({"a": list(steps)}),  # type: ignore[arg-type]
        lambda _, answer: answers.append(answer),
        lambda _: blamed,
        progress,
        lambda _: "done",
    )
    faults = run.all([job], jobs.Stop())

    assert [each if each.result is not blamed else "blamed" for each in answers] == kept
    assert list(faults.values()) == ([fault] if fault else [])


def test_a_worker_that_cannot_grade_ends_the_run() -> None:
    script = {"a": [jobs.UnfitError("host has torch 1, not 2")]}
    job = jobs.Job(work=None, seed="a")  # type: ignore[arg-type]
    progress = jobs.Progress(1, "done")
    run = jobs.Run(None, Scripted(script), print, dict, progress, str)  # type: ignore[arg-type]

    with pytest.raises(jobs.UserError, match="a worker cannot grade: host has torch 1, not 2"):
        run.all([job], jobs.Stop())


def pid(*_: object) -> int:
    return os.getpid()


def end(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_dies_is_replaced_and_another_is_used_again() -> None:
    workers = LocalWorkers(2)
    try:
        first = workers.submit(pid)
        process = first.result(60)
        workers.done(first)
        second = workers.submit(pid)
        assert second.result(60) == process
        workers.done(second)
        third = workers.submit(end)
        assert isinstance(third.exception(60), jobs.BrokenProcessPool)
        workers.done(third)
        last = workers.submit(pid)
        assert last.result(60) != process
        workers.done(last)
    finally:
        workers.shutdown()


# --- real runs ----------------------------------------------------------------------------------


def line(out: Path, hand_ins: Path, *options: str) -> list[str]:
    return tensormark("class", "--check", "--out", str(out), *options, "--", str(hand_ins))


def members(group: int) -> set[int]:
    """Return the processes of a session."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            fields = path.read_text("utf-8").rpartition(")")[2].split()
            if int(fields[3]) == group and fields[0] != "Z":
                found.add(int(path.parent.name))
    return found


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def different(folder: Path, source: str, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"s{number}.py").write_text(f"{source}\n# {number}\n", encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_whatever_ends_a_run_the_same_command_continues_and_no_process_is_left(
    signal_number: int, folder: Path, solution_source: str, tmp_path: Path, out: Path
) -> None:
    hand_ins = different(tmp_path / "many", solution_source, 6)
    start = subprocess.Popen(
        line(out, hand_ins, "--workers", "2"),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    wait_for(lambda: start.poll() is not None or kept(out) >= 2, 120)
    start.send_signal(signal_number)
    printed = start.communicate(timeout=60)[0]
    done = kept(out)
    wait_for(lambda: not members(start.pid))

    status, second = graded_class(folder, hand_ins, out)

    assert start.returncode == (130 if signal_number == signal.SIGINT else -signal.SIGKILL)
    assert 2 <= done < 6 or "6 students" in printed
    assert f"{6 - done} to grade" in second or done == 6
    assert status == 0
    assert set(scores(out).values()) == {"80"}


def kept(out: Path) -> int:
    """Return how many results are on disk."""
    path = out / "results.sqlite"
    if not path.exists():
        return 0
    with contextlib.closing(sqlite3.connect(path)) as file, contextlib.suppress(sqlite3.Error):
        return int(file.execute("SELECT COUNT(*) FROM result").fetchone()[0])
    return 0


@pytest.mark.slow
def test_a_submission_that_kills_its_grader_gets_that_as_its_result(
    folder: Path, hand_ins: Path, out: Path
) -> None:
    """In the tier `process`, which isolates nothing."""
    (hand_ins / "eve.py").write_text(KILLER, encoding="utf-8")

    ended = subprocess.run(
        line(out, hand_ins, "--workers", "2"),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    row = rows_in(out / "gradebook.csv")["eve"]
    assert row["score"] == "0"
    assert "kills the process that grades it" in row["flags"]
    assert scores(out)["ada"] == "80"


def test_a_second_run_in_a_folder_is_refused(folder: Path, hand_ins: Path, out: Path) -> None:
    with command.only_run(out):
        status, printed = graded_class(folder, hand_ins, out)

    assert status == 2
    assert "another run is writing there" in printed


@pytest.mark.slow
def test_a_cluster_gives_the_same_gradebook(
    folder: Path, hand_ins: Path, out: Path, tmp_path: Path
) -> None:
    distributed = pytest.importorskip("distributed")
    graded_class(folder, hand_ins, out)
    other = tmp_path / "other"
    options_in(other, tier="process")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, processes=True
    ) as cluster:
        words = line(other, hand_ins, "--scheduler", cluster.scheduler_address)
        ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=240)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert rows_in(other / "gradebook.csv") == rows_in(out / "gradebook.csv")


def test_a_scheduler_that_is_not_there_is_one_line(folder: Path, hand_ins: Path, out: Path) -> None:
    words = ("class", "--scheduler", "tcp://127.0.0.1:1", "--out", out, "--", hand_ins)

    ended = called(folder, *map(str, words))

    assert ended.returncode == 2
    assert "cannot be reached" in ended.stderr.splitlines()[-1]
