"""Which workers of a cluster may grade, and why a run ends when there is none."""

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


class Told:
    """Knows workers, and what they tell about themselves."""

    def __init__(self, **told: Any) -> None:
        self.told = told

    def submit(self, *_: object, **__: object) -> None:
        pass

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.told, 1)

    def run(self, *_: object, workers: list[str], on_error: str) -> dict[str, Any]:
        return {name: self.told[name] for name in workers}


def look(client: Told, said: list[str]) -> cluster.Crew:
    """Return a crew that has looked at a cluster."""
    made = cluster.Crew(client, TERMS, Parcel("0", b""), False, said.append)
    made.look()
    return made


FIT = {"host": "good", "code": TERMS.code, "versions": TERMS.versions}


def test_workers_are_told_apart_by_what_they_say_and_refused_once() -> None:
    said: list[str] = []
    told = {"a": FIT, "b": FIT | {"code": "x", "host": "bad"}, "c": ImportError("no module")}

    crew = look(Told(**told, d=OSError("it has just gone")), said)
    crew.looked = 0.0
    crew.look()

    assert crew.fit == {"a": 1}
    assert said == [
        "worker b (bad) is refused: it has different grader code; give it the same, and restart it",
        "worker c is refused: it has no grader: no module",
    ]


def test_a_worker_that_cannot_open_its_assignment_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(folder: Path) -> Assignment:
        raise AssignmentError("it needs another package")

    monkeypatch.setattr(worker, "open_assignment", fails)
    terms = dataclasses.replace(TERMS, code=code(ROOT), versions=versions(ROOT))

    station = worker.Station(terms, "0", b"", tmp_path, "here")

    assert station.refused == "it cannot open the assignment: it needs another package"


def test_a_cluster_of_which_all_are_refused_is_an_error_with_the_reasons() -> None:
    with pytest.raises(ClusterError, match=r"no worker may grade: it has torch 1, not 2"):
        look(Told(a=FIT | {"versions": {"torch": "1"}}), [])


def test_a_cluster_without_workers_is_waited_for_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    crew = look(Told(), said)
    assert said == ["the scheduler has no worker; waiting for one"]

    monkeypatch.setattr(cluster, "NO_WORKER", -1.0)
    crew.looked = 0.0
    with pytest.raises(ClusterError, match="there has been no worker"):
        crew.look()


def test_why_the_last_worker_was_lost_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    crew = look(Told(a=FIT, b=FIT | {"code": "x"}), [])
    crew.reason = "its worker was killed"
    crew.client.told = {}  # type: ignore[attr-defined]
    monkeypatch.setattr(cluster, "NO_WORKER", -1.0)
    crew.looked = 0.0

    with pytest.raises(ClusterError, match=r"it has different .*; its worker was killed$"):
        crew.look()


def test_what_waits_of_others_on_a_shared_cluster_goes_before_a_class(tmp_path: Path) -> None:
    def note(what: object, *_: object) -> None:
        with (tmp_path / "order").open("a", encoding="utf-8") as file:
            file.write(f"{what}\n")

    def has(state: str, number: int) -> bool:  # of the worker: what it was sent may be on its way
        counts = another.run(lambda dask_worker: len(getattr(dask_worker.state, state)))
        return [*counts.values()] == [number]

    parcel, ours, theirs = Parcel("0", b""), cast("Work", "a class's"), "somebody else's"
    with cluster.opened("", 1, ROOT) as client, Client(client.scheduler.address) as another:
        crew = cluster.Crew(client, TERMS, parcel, False, print, note)  # type: ignore[arg-type]
        crew.fit = dict(client.nthreads())
        wait(crew.content)
        running = another.submit(Event("begin").wait)
        while not has("executing", 1):
            time.sleep(0.01)
        futures = [crew.submit(ours), another.submit(note, theirs)]
        while not has("ready", 2):
            time.sleep(0.01)
        Event("begin", client=another).set()
        wait([running, *futures])

    order = (tmp_path / "order").read_text(encoding="utf-8").splitlines()
    assert order == [theirs, ours]


def test_a_scheduler_that_does_not_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(self: Told) -> dict[str, int]:
        raise OSError("closed")

    monkeypatch.setattr(Told, "nthreads", gone)

    with pytest.raises(ClusterError, match="the scheduler is gone: closed"):
        look(Told(), [])
