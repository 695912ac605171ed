"""Which workers of a cluster may grade, and why a run without workers ends."""

import dataclasses
import time
from pathlib import Path
from typing import Any, cast

import pytest
from distributed import Client, Event, wait
from test_class_store import TERMS

from tensormark.classroom import cluster, worker
from tensormark.classroom.cluster import ClusterError
from tensormark.classroom.parcel import Parcel
from tensormark.classroom.version import code, versions
from tensormark.classroom.work import Work
from tensormark.exercise import Assignment
from tensormark.folder import AssignmentError

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
    with pytest.raises(ClusterError, match=r"every worker is refused: it has torch 1, not 2"):
        refreshed_crew(StubClient(a=GRADER | {"versions": {"torch": "1"}}), [])


def test_a_run_waits_for_the_first_worker_of_a_cluster_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines: list[str] = []
    crew = refreshed_crew(StubClient(), lines)
    assert lines == ["the scheduler has no worker; waiting for one"]

    monkeypatch.setattr(cluster, "NO_WORKER", -1.0)
    crew.last_refresh = 0.0
    with pytest.raises(ClusterError, match="there has been no worker"):
        crew.refresh()


def test_the_reason_why_the_last_worker_was_lost_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crew = refreshed_crew(StubClient(a=GRADER, b=GRADER | {"code": "x"}), [])
    crew.reason = "its worker was killed"
    crew.client.descriptions = {}  # type: ignore[attr-defined]
    monkeypatch.setattr(cluster, "NO_WORKER", -1.0)
    crew.last_refresh = 0.0

    with pytest.raises(ClusterError, match=r"it has different .*; its worker was killed$"):
        crew.refresh()


def test_waiting_work_of_others_on_a_shared_cluster_goes_before_a_class(tmp_path: Path) -> None:
    def note(name: object, *_: object) -> None:
        with (tmp_path / "order").open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")

    def has(state: str, number: int) -> bool:  # on the worker: work may be on its way
        counts = other_client.run(lambda dask_worker: len(getattr(dask_worker.state, state)))
        return [*counts.values()] == [number]

    parcel, ours, theirs = Parcel("0", b""), cast("Work", "a class's"), "somebody else's"
    with cluster.connect("", 1, ROOT) as client, Client(client.scheduler.address) as other_client:
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

    with pytest.raises(ClusterError, match="the scheduler is gone: closed"):
        refreshed_crew(StubClient(), [])
