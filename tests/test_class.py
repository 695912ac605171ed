"""`make class` with real workers: killed, interrupted, on a cluster, refused."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from grader.assignment import ASSIGNMENT
from tensormark.classroom.jobs.store import verdict
from tensormark.grading import Grading
from tensormark.sandbox.interface import CONTAINED
from tensormark.settings import Settings

from conftest import ROOT
from graded import ran

PATIENCE = 200.0  # seconds for which a machine may stand still
COPIED = ("grader", "solution", "starter", "handout", "handout.md", "requirements.txt")
KINDS = ("right", "wrong", "unwritten", "no Python")
real = pytest.mark.tier(CONTAINED)


def texts() -> dict[str, str]:
    right = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    return {
        "right": right,
        "wrong": right.replace("words + positions + token_types", "words + positions"),
        "unwritten": (ROOT / "starter" / "bert.py").read_text(encoding="utf-8"),
        "no Python": "def f(:\n",
    }


def hand_in(folder: Path, count: int) -> Path:
    """Write `count` submissions, all of them different; return the folder."""
    folder.mkdir()
    for number in range(count):
        text = texts()[KINDS[number % len(KINDS)]]
        path = folder / f"student{number:03}.py"
        path.write_text(f"{text}\n# number {number}\n", encoding="utf-8")
    return folder


def command(folder: Path, out: Path, *options: str) -> list[str]:
    """Return the command that grades a class, from whatever folder it is run."""
    arguments = ["--check", "--tier", CONTAINED, "--out", str(out), *options, "--", str(folder)]
    return [sys.executable, "-m", "tensormark", "-C", str(ROOT), "class", *arguments]


def run(folder: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    line = command(folder, out, *options)
    return ran(*line, cwd=ROOT)


def rows(out: Path, query: str) -> list[Any]:
    """Return the rows that a query finds in a store, and none before the store exists."""
    try:
        with contextlib.closing(
            sqlite3.connect(f"file:{out / 'store.sqlite'}?mode=ro", uri=True)
        ) as file:
            return file.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []


def graded(out: Path) -> int:
    return len(rows(out, "SELECT id FROM attempt WHERE complete"))


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "nothing has happened"
        time.sleep(0.05)


@contextlib.contextmanager
def started(*line: str, folder: Path = ROOT) -> Iterator["subprocess.Popen[str]"]:
    """Start a program in its own process group, and make sure that it ends."""
    process = subprocess.Popen(
        line,
        cwd=folder,
        start_new_session=True,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=30)
        process.kill()
        process.communicate()


def workers_of(process: "subprocess.Popen[str]") -> list[int]:
    children = psutil.Process(process.pid).children()
    return [child.pid for child in children if any("spawn_main" in w for w in child.cmdline())]


def addresses(process: "subprocess.Popen[str]") -> set[str]:
    parent = psutil.Process(process.pid)
    sockets = [socket for part in (parent, *parent.children()) for socket in part.net_connections()]
    return {socket.laddr.ip for socket in sockets if socket.status == psutil.CONN_LISTEN}


class Disturbed(NamedTuple):
    """A run that was killed, and its continuation, in which a worker was killed."""

    folder: Path
    out: Path
    before: int  # the number of results when the run was killed
    listened: set[str]  # the addresses that the run listened on
    output: str
    status: int


@pytest.fixture(scope="module")
def disturbed(tmp_path_factory: pytest.TempPathFactory) -> Disturbed:
    place = tmp_path_factory.mktemp("class")
    folder, out = hand_in(place / "in", 8), place / "out"
    with started(*command(folder, out, "--workers", "2"), folder=place) as process:
        wait_for(lambda: graded(out) or process.poll() is not None)
        listened = addresses(process)
        process.kill()
        process.wait()
    before = graded(out)
    with started(*command(folder, out, "--workers", "2"), folder=place) as process:
        wait_for(lambda: graded(out) > before or process.poll() is not None)
        for worker in workers_of(process)[:1]:
            os.kill(worker, signal.SIGKILL)
        output, _ = process.communicate(timeout=PATIENCE)
    return Disturbed(folder, out, before, listened, output, process.returncode)


@real
def test_after_kill_9_the_same_command_continues_and_nobody_is_graded_twice(
    disturbed: Disturbed,
) -> None:
    assert disturbed.status == 0, disturbed.output
    assert f"{disturbed.before} graded before" in disturbed.output
    assert "8 students: 8 graded\n" in disturbed.output
    assert graded(disturbed.out) == 8


@real
def test_no_other_machine_can_connect_to_a_run(disturbed: Disturbed) -> None:
    assert disturbed.listened == {"127.0.0.1"}


@real
def test_every_result_is_the_same_as_that_of_the_submission_alone(
    disturbed: Disturbed, tmp_path: Path
) -> None:
    grading = Grading(Settings.of(ROOT, tier=CONTAINED), ASSIGNMENT)
    query = "SELECT path, result FROM attempt JOIN submission USING (digest) WHERE complete"
    stored = {Path(path): json.loads(text) for path, text in rows(disturbed.out, query)}
    assert len(stored) == 8

    for path, result in list(stored.items())[: len(KINDS)]:
        alone = json.loads(json.dumps(grading.grade(str(path), check=True).as_json()))

        left_out = dict.fromkeys(("time", "submission", "name"))
        assert result | left_out == alone | left_out


@real
def test_a_run_with_nothing_new_needs_no_worker(disturbed: Disturbed) -> None:
    before = (disturbed.out / "gradebook.csv").read_bytes()

    completed = run(disturbed.folder, disturbed.out, "--scheduler", "tcp://127.0.0.1:1")

    assert completed.returncode == 0, completed.stderr
    assert "8 graded before" in completed.stdout
    assert (disturbed.out / "gradebook.csv").read_bytes() == before


class Cluster(NamedTuple):
    """A scheduler, and the first run with it."""

    address: str
    folder: Path
    out: Path
    first_run: subprocess.CompletedProcess[str]


def copied(folder: Path) -> Path:
    """Copy the files that a worker needs, without references, checkpoint or data."""
    for name in COPIED:
        source = ROOT / name
        copy: Any = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    return folder


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two workers with a copy of the assignment, one with another grader, and one without any."""
    place = tmp_path_factory.mktemp("cluster")
    scheduler_file = place / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    local = ["--host", "127.0.0.1", "--no-dashboard"]
    with contextlib.ExitStack() as stack:
        start = [*dask, "scheduler", *local, "--port", "0", "--scheduler-file", str(scheduler_file)]
        stack.enter_context(started(*start))
        wait_for(lambda: scheduler_file.exists() and scheduler_file.read_text())
        address = json.loads(scheduler_file.read_text())["address"]
        for name in ("first", "second", "other", "none"):
            (folder := place / name).mkdir()
            if name != "none":
                copied(folder)
            if name == "other":
                with (folder / "grader" / "model.py").open("a", encoding="utf-8") as file:
                    file.write("# another\n")
            line = [*dask, "worker", address, *local, "--nthreads", "1", "--name", name]
            line += ["--local-directory", str(place / f"{name}.tmp")]
            line += [] if name == "first" else ["--no-nanny"]  # a nanny is another process
            stack.enter_context(started(*line, folder=folder))
        wait_for(lambda: worker_count(address) == 4)
        folder, out = hand_in(place / "in", 8), place / "out"
        yield Cluster(address, folder, out, run(folder, out, "--scheduler", address))


def worker_count(address: str) -> int:
    code = "import sys; from distributed import Client; print(len(Client(sys.argv[1]).nthreads()))"
    completed = subprocess.run(
        [sys.executable, "-c", code, address], capture_output=True, check=True
    )
    return int(completed.stdout)


@real
def test_workers_without_a_shared_folder_give_the_same_gradebook(
    cluster: Cluster, disturbed: Disturbed
) -> None:
    assert cluster.first_run.returncode == 0, cluster.first_run.stderr

    expected = (disturbed.out / "gradebook.csv").read_bytes()
    assert (cluster.out / "gradebook.csv").read_bytes() == expected


@real
def test_workers_with_another_grader_or_no_assignment_are_refused_by_name(cluster: Cluster) -> None:
    lines = [line for line in cluster.first_run.stderr.splitlines() if "is refused" in line]

    assert len(lines) == 2
    assert any("it has different grader code" in line for line in lines)
    assert any("it has no assignment; start it in the folder of one" in line for line in lines)
    assert all(line.startswith("worker tcp://127.0.0.1:") for line in lines)


@real
def test_an_appeal_says_what_differs_and_keeps_both_results(cluster: Cluster) -> None:
    name = "student001"
    tables = "attempt JOIN submission USING (digest)"
    query = f"SELECT result, attempt.id FROM {tables} WHERE student = '{name}'"
    ((text, number),) = rows(cluster.out, query)
    stored = json.loads(text)
    for exercise in stored["exercises"]:
        if exercise["id"] == "attention":
            exercise |= {"outcome": "failed", "score": 20}
    with contextlib.closing(sqlite3.connect(cluster.out / "store.sqlite")) as file, file:
        file.execute("UPDATE attempt SET result = ? WHERE id = ?", (json.dumps(stored), number))

    completed = run(cluster.folder, cluster.out, "--scheduler", cluster.address, "--only", name)

    assert completed.returncode == 0, completed.stderr
    assert "  attention: failed (20), now passed (25)\n" in completed.stdout
    (_, first), (text, second) = rows(cluster.out, query)
    assert first == number < second
    assert verdict(json.loads(text))["attention"] == ("passed", 25)


@real
def test_ctrl_c_keeps_finished_results_and_the_counts_add_up(
    cluster: Cluster, tmp_path: Path
) -> None:
    folder, out = hand_in(tmp_path / "in", 200), tmp_path / "out"
    with started(*command(folder, out, "--scheduler", cluster.address)) as process:
        wait_for(lambda: graded(out) or process.poll() is not None)
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE)

    assert process.returncode == 130, output
    ungraded = 200 - graded(out)
    assert f"200 students: {200 - ungraded} graded, {ungraded} not graded yet\n" in output
    assert not (out / "gradebook.csv").exists()


@real
def test_an_unreachable_scheduler_is_one_sentence(tmp_path: Path) -> None:
    completed = run(hand_in(tmp_path / "in", 1), tmp_path / "out", "--scheduler", "nonsense://x")

    assert completed.returncode == 2
    assert "\nclass: SCHEDULER=nonsense://x: cannot be reached: " in completed.stderr
    assert completed.stderr.count("\n") == 2
