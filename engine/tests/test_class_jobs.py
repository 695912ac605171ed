"""The jobs of a class: which are tried again, and what ends a run."""

import pytest

from tensormark.classroom import jobs


class Scripted:
    """Workers that end each job as a script says: with a result, or with an exception."""

    def __init__(self, steps):
        self.steps = list(steps)

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
UNGRADED = {"exercises": [{"id": "f", "score": None}]}
DIED = jobs.BrokenProcessPool()
BUG = ValueError("x")
ANY = None  # a job, or its terms


@pytest.mark.parametrize(
    ("steps", "answer"),
    [
        ([UNGRADED, DONE], DONE),
        ([UNGRADED, UNGRADED, UNGRADED], UNGRADED),
        ([BUG, DONE], DONE),
        ([BUG, BUG, BUG], jobs.JobFailed("a worker failed: ValueError: x")),
        ([DIED, DONE], DONE),
        ([DIED, DIED], jobs.DIED),
    ],
)
def test_a_job_is_tried_again_as_often_as_it_makes_sense(steps, answer):
    workers = Scripted(steps)

    assert list(jobs.answers(workers, {"a": ANY}, ANY)) == [("a", answer)]
    assert workers.steps == []


def test_a_job_whose_worker_died_is_tried_last():
    first_dies = Scripted([DIED, DONE, DONE, DONE])

    answers = jobs.answers(first_dies, {"a": ANY, "b": ANY, "c": ANY}, ANY)

    assert [key for key, _ in answers] == ["b", "c", "a"]


def test_a_worker_that_differs_ends_the_run():
    unfit = Scripted([jobs.UnfitWorkerError("host has torch 1, not 2")])

    with pytest.raises(jobs.UserError, match="a worker cannot grade: host has torch 1"):
        list(jobs.answers(unfit, {"a": ANY}, ANY))


def test_a_worker_without_the_references_says_that_it_cannot_grade(folder):
    settings = jobs.Settings.of(folder, references=folder)

    with pytest.raises(jobs.UnfitWorkerError, match="manifest"):
        jobs.do(ANY, jobs.Terms(folder, settings, True, ()))


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
