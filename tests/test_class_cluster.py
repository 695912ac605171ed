"""Which workers of a cluster may grade, what decides that, and why a run without workers ends."""

import dataclasses
import shutil
import time
from pathlib import Path
from typing import Any, cast

import pytest
from distributed import Client, Event, wait
from test_class_store import TERMS

from tensormark.classroom.jobs import cluster, version, worker
from tensormark.classroom.jobs.cluster import connect
from tensormark.classroom.jobs.parcel import Parcel
from tensormark.classroom.jobs.version import NO_ASSIGNMENT, about, code, unfit, versions
from tensormark.classroom.jobs.work import Work
from tensormark.exercise import Assignment
from tensormark.folder import VARIABLE, AssignmentError, here
from tensormark.usage import UserError

from conftest import ROOT


class StubClient:
    """A client whose workers have these names and descriptions of themselves."""

    def __init__(self, **descriptions: Any) -> None:
        self.descriptions = descriptions

    def submit(self, *_: object, **__: object) -> None:
        pass

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.descriptions, 1)

    def run(self, *_: object, workers: list[str], on_error: str) -> dict[str, Any]:
        return {name: self.descriptions[name] for name in workers}


def refreshed_crew(client: StubClient, lines: list[str]) -> cluster.Crew:
    """Return a crew that has listed the workers of a cluster; it announces to `lines`."""
    crew = cluster.Crew(client, TERMS, Parcel("0", b""), False, lines.append)
    crew.refresh()
    return crew


GRADER = {"host": "good", "code": TERMS.code, "versions": TERMS.versions}


def test_workers_are_judged_by_their_descriptions_and_refused_once() -> None:
    lines: list[str] = []
    descriptions = {
        "a": GRADER,
        "b": GRADER | {"code": "x", "host": "bad"},
        "c": ImportError("no module"),
    }

    crew = refreshed_crew(StubClient(**descriptions, d=OSError("it has just gone")), lines)
    crew.last_refresh = 0.0
    crew.refresh()

    assert crew.graders == {"a": 1}
    assert lines == [
        "worker b (bad) is refused: it has different grader code; give it the same, and restart it",
        "worker c is refused: it has no grader: no module",
    ]


def test_a_worker_that_cannot_open_its_assignment_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(folder: Path) -> Assignment:
        raise AssignmentError("it needs another package")

    monkeypatch.setattr(worker, "open_assignment", fail)
    terms = dataclasses.replace(TERMS, code=code(ROOT), versions=versions(ROOT))

    station = worker.Station(terms, "0", b"", tmp_path, "here")

    assert station.refused == "it cannot open the assignment: it needs another package"


def test_a_cluster_whose_workers_are_all_refused_is_an_error_with_the_reasons() -> None:
    with pytest.raises(UserError, match=r"every worker is refused: it has torch 1, not 2"):
        refreshed_crew(StubClient(a=GRADER | {"versions": {"torch": "1"}}), [])


def test_a_run_waits_for_the_first_worker_of_a_cluster_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines: list[str] = []
    crew = refreshed_crew(StubClient(), lines)
    assert lines == ["the scheduler has no worker; waiting for one"]

    monkeypatch.setattr(cluster, "NO_WORKER", -1.0)
    crew.last_refresh = 0.0
    with pytest.raises(UserError, match="there has been no worker"):
        crew.refresh()


def test_the_reason_why_the_last_worker_was_lost_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crew = refreshed_crew(StubClient(a=GRADER, b=GRADER | {"code": "x"}), [])
    crew.reason = "its worker was killed"
    crew.client.descriptions = {}  # type: ignore[attr-defined]
    monkeypatch.setattr(cluster, "NO_WORKER", -1.0)
    crew.last_refresh = 0.0

    with pytest.raises(UserError, match=r"it has different .*; its worker was killed$"):
        crew.refresh()


def test_waiting_work_of_others_on_a_shared_cluster_goes_before_a_class(tmp_path: Path) -> None:
    def note(name: object, *_: object) -> None:
        with (tmp_path / "order").open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")

    def has(state: str, number: int) -> bool:  # on the worker: work may be on its way
        counts = other_client.run(lambda dask_worker: len(getattr(dask_worker.state, state)))
        return [*counts.values()] == [number]

    parcel, ours, theirs = Parcel("0", b""), cast("Work", "a class's"), "somebody else's"
    with connect("", 1, ROOT) as client, Client(client.scheduler.address) as other_client:
        crew = cluster.Crew(client, TERMS, parcel, False, print, note)  # type: ignore[arg-type]
        crew.graders = dict(client.nthreads())
        wait(crew.content)
        running = other_client.submit(Event("begin").wait)
        while not has("executing", 1):
            time.sleep(0.01)
        futures = [crew.submit(ours), other_client.submit(note, theirs)]
        while not has("ready", 2):
            time.sleep(0.01)
        Event("begin", client=other_client).set()
        wait([running, *futures])

    order = (tmp_path / "order").read_text(encoding="utf-8").splitlines()
    assert order == [theirs, ours]


def test_a_scheduler_that_does_not_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: StubClient) -> dict[str, int]:
        raise OSError("closed")

    monkeypatch.setattr(StubClient, "nthreads", fail)

    with pytest.raises(UserError, match="the scheduler is gone: closed"):
        refreshed_crew(StubClient(), [])


# --- files and versions, of which those that decide a grade have to be the same -----------------

DECIDE = [
    *("grader/assignment.py", "grader/exercises/one.py", "solution/main.py", "starter/main.py"),
    *("handout.md", "handout/more.md", "requirements.txt"),
]
DO_NOT = ["grader/mistakes/one.py", "grader/honest/one.py", "grader/staff.py", "README.md", "x.py"]


@pytest.fixture
def assignment(tmp_path: Path) -> Path:
    """An assignment whose files are empty."""
    for name in (*DECIDE, *DO_NOT):
        path = tmp_path / "assignment" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "assignment"


def changes_the_code(assignment: Path, path: Path) -> bool:
    """Change a file of the engine or of an assignment; say whether the code is another one."""
    code.cache_clear()
    before = code(assignment)
    path.write_text("# changed\n", encoding="utf-8")
    code.cache_clear()
    return code(assignment) != before


@pytest.mark.parametrize("name", [*DECIDE, *DO_NOT])
def test_the_assignments_files_that_decide_a_grade_count(assignment: Path, name: str) -> None:
    assert changes_the_code(assignment, assignment / name) == (name in DECIDE)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("worker/calls.py", True),
        ("judging/compare.py", True),
        ("grading.py", True),
        ("classroom/jobs/parcel.py", True),
        ("classroom/reports/page.py", False),
        ("authoring/record.py", False),
    ],
)
def test_the_engines_files_that_decide_a_grade_count(
    assignment: Path, name: str, counts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "engine"
    shutil.copytree(version.ENGINE, copy)
    monkeypatch.setattr(version, "ENGINE", copy)

    assert changes_the_code(assignment, copy / name) == counts


def test_a_copy_elsewhere_has_the_same_code(assignment: Path, tmp_path: Path) -> None:
    shutil.copytree(assignment, tmp_path / "copy")

    assert code(tmp_path / "copy") == code(assignment)


def test_packages_that_submissions_may_use_count_if_they_are_installed(assignment: Path) -> None:
    before = versions(assignment)
    text = "tqdm>=4  # bars\nno-such-package==1\n"
    (assignment / "requirements.txt").write_text(text, encoding="utf-8")

    assert versions(assignment).keys() - before.keys() == {"tqdm"}
    assert before.keys() == {"Python", "torch", "numpy", "safetensors"}


def test_a_worker_may_grade_only_with_the_same_code_and_versions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, str(ROOT))
    description, required = about(), (code(ROOT), versions(ROOT))

    assert unfit(description, *required) == ""
    assert "different grader code" in unfit(description | {"code": "x"}, *required)
    older = description["versions"] | {"torch": "1.0"}
    assert unfit(description | {"versions": older}, *required).startswith("it has torch 1.0, not")


def test_a_worker_without_an_assignment_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)

    assert unfit(about(), code(ROOT), versions(ROOT)) == NO_ASSIGNMENT


def test_workers_on_this_machine_grade_the_assignment_that_was_named(
    assignment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(ROOT))
    monkeypatch.chdir(tmp_path)

    with connect("", 1, assignment) as client:
        folders = client.run(here)

    assert list(folders.values()) == [assignment]
