"""A class's run with scripted workers: what the run tries again, and when it stops."""

from collections.abc import Callable
from typing import Any

import pytest
from distributed.scheduler import KilledWorker
from test_class_store import TERMS, result, unfinished

from tensormark.classroom.jobs.engine import Engine, Stop
from tensormark.classroom.jobs.store import Attempt, Store
from tensormark.classroom.jobs.work import Work
from tensormark.classroom.jobs.worker import Answer
from tensormark.usage import UserError

GOOD = Answer("tcp://a", "a", result=result(), seconds=1.0)
HALF = Answer("tcp://a", "a", result=unfinished(), seconds=1.0)
REFUSED = Answer("tcp://b", "b", refused="it has no tier contained")
KILLED = KilledWorker("task", None, 0)


class Future:
    """A future that has its answer from the start, or never."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.callbacks: list[Callable[[Future], None]] = []
        self.status = "pending" if answer is None else "finished"
        if isinstance(answer, Exception):
            self.status = "error"

    def add_done_callback(self, callback: Callable[["Future"], None]) -> None:
        self.callbacks.append(callback)
        if self.answer is not None:
            callback(self)

    def done(self) -> bool:
        return self.status != "pending"

    def cancel(self) -> None:
        self.status = "cancelled"
        for callback in self.callbacks:
            callback(self)

    def result(self) -> Any:
        return self.answer

    def exception(self) -> Any:
        return self.answer


class Crew:
    """Workers that give the answers of a list, and good ones after those."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.graders = {"tcp://a": 1, "tcp://b": 1}
        self.refused: dict[str, str] = {}
        self.given: list[Work] = []
        self.alive, self.reason = True, ""

    @property
    def slots(self) -> int:
        return sum(self.graders.values())

    def refresh(self) -> None:
        pass

    def check(self) -> None:
        if not self.graders:
            raise UserError("every worker is refused")

    def refuse(self, address: str, host: str, reason: str) -> None:
        self.refused[address] = reason
        self.graders.pop(address, None)
        self.check()

    def submit(self, work: Work) -> Future:
        self.given.append(work)
        return Future(self.answers.pop(0) if self.answers else GOOD)


class Watch:
    """Records whether each finished attempt was final, and whether it was in the store by then."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.seen: list[tuple[bool, bool]] = []

    def done(self, attempt: Attempt, final: bool) -> None:
        (count,) = self.store.rows("SELECT COUNT(*) FROM attempt")
        self.seen.append((final, count == (len(self.seen) + 1,)))

    def tick(self, slots: int, under_way: int) -> None:
        pass


def works(count: int) -> list[Work]:
    return [Work({"bert": f"number = {n}"}) for n in range(count)]


def run(crew: Crew, store: Store, count: int, stop: Stop | None = None) -> Watch:
    watch = Watch(store)
    parts: Any = (crew, store, TERMS, watch, stop or Stop(), lambda _: result(0.0, "failed"))
    engine = Engine(*parts)
    engine.run(works(count))
    return watch


def problems(store: Store) -> list[str]:
    return [row[0] for row in store.rows("SELECT problem FROM attempt ORDER BY id")]


def test_everything_is_graded_and_in_the_store_before_it_counts(store: Store) -> None:
    watch = run(Crew(), store, 5)

    assert watch.seen == [(True, True)] * 5
    assert store.graded(TERMS) == {work.digest for work in works(5)}


def test_work_whose_worker_is_killed_is_tried_twice_again(store: Store) -> None:
    watch = run(Crew(KILLED, KILLED, GOOD), store, 1)

    assert [final for final, _ in watch.seen] == [False, False, True]
    assert store.graded(TERMS) == {works(1)[0].digest}


class Deadly(Crew):
    """Workers that are killed by some work."""

    def __init__(self, *deadly: Work) -> None:
        super().__init__()
        self.deadly = deadly

    def submit(self, work: Work) -> Future:
        self.answers = [KILLED if work in self.deadly else GOOD]
        return super().submit(work)


def test_work_that_kills_every_worker_has_a_result_and_so_have_the_others(store: Store) -> None:
    crew = Deadly(works(3)[1])

    watch = run(crew, store, 3)

    assert problems(store).count("its worker was killed") == 2
    assert store.graded(TERMS) == {work.digest for work in works(3)}
    last = store.last(works(3)[1].digest, TERMS)
    assert last is not None
    assert last.result == result(0.0, "failed")
    assert len(crew.given) == 5
    assert [final for final, _ in watch.seen].count(True) == 3


def test_when_nothing_can_be_graded_no_submission_is_blamed(store: Store) -> None:
    crew = Deadly(*works(2))

    run(crew, store, 2)

    assert problems(store) == ["its worker was killed"] * 6
    assert store.graded(TERMS) == set()


def test_work_that_may_kill_workers_is_tried_last_and_alone(store: Store) -> None:
    class Slow(Crew):
        """Workers that answer only after all of them have been given work."""

        def __init__(self) -> None:
            super().__init__()
            self.open: list[Future] = []
            self.together: list[int] = []

        def submit(self, work: Work) -> Future:
            future = Future(None)
            future.answer = KILLED if work == works(4)[0] else GOOD
            self.open.append(future)
            self.together.append(len(self.open) if work == works(4)[0] else 0)
            return future

        def refresh(self) -> None:
            for future in self.open:
                future.status = "error" if future.answer is KILLED else "finished"
                for callback in future.callbacks:
                    callback(future)
            self.open.clear()

    crew = Slow()

    run(crew, store, 4)  # type: ignore[arg-type]

    assert crew.together[-1] == 1
    assert len(store.graded(TERMS)) == 4


def test_attempts_that_a_scheduler_has_made_already_count(store: Store) -> None:
    crew = Crew(KilledWorker("task", None, 3), KILLED)

    run(crew, store, 1)

    assert problems(store) == ["its worker was killed"] * 2


def test_an_exercise_that_could_not_be_graded_is_tried_again(store: Store) -> None:
    run(Crew(HALF, GOOD), store, 1)

    assert store.graded(TERMS) == {works(1)[0].digest}
    assert store.tries(works(1)[0].digest, TERMS) == 2


def test_a_fault_in_a_worker_is_named_in_one_line(store: Store) -> None:
    run(Crew(*[MemoryError("no\nroom")] * 3), store, 1)

    assert problems(store) == ["a worker failed: MemoryError: no?room"] * 3


def test_a_worker_that_refuses_gets_no_more_work_and_the_work_is_not_blamed(store: Store) -> None:
    crew = Crew(REFUSED)

    watch = run(crew, store, 3)

    assert set(crew.refused) == {"tcp://b"}
    assert watch.seen == [(True, True)] * 3


def test_when_all_workers_refuse_the_run_ends(store: Store) -> None:
    crew = Crew(REFUSED, Answer("tcp://a", "a", refused="it has none either"))

    with pytest.raises(UserError, match="every worker is refused"):
        run(crew, store, 3)

    assert problems(store) == []


def test_work_is_taken_back_from_workers_that_are_all_gone(store: Store) -> None:
    class Leaving(Crew):
        def refresh(self) -> None:
            if len(self.given) == 2 and "tcp://c" not in self.graders:
                self.graders = {"tcp://c": 1}

    crew = Leaving(None, None)

    run(crew, store, 2)

    assert problems(store) == ["its worker was lost"] * 2 + [""] * 2


def test_jobs_that_are_under_way_share_one_set_of_workers(store: Store) -> None:
    class Watched(Engine):
        """An engine that records the workers for which it begins each job."""

        def begin(self, job: Any) -> None:
            super().begin(job)
            worker_sets.append(job.workers)

    worker_sets: list[frozenset[str]] = []
    crew = Crew(*[GOOD] * 3, REFUSED)
    parts: Any = (crew, store, TERMS, Watch(store), Stop(), lambda _: result(0.0, "failed"))

    Watched(*parts).run(works(8))

    assert set(worker_sets) == {frozenset({"tcp://a", "tcp://b"}), frozenset({"tcp://a"})}
    assert len(set(map(id, worker_sets))) == 2


def test_a_scheduler_that_is_gone_ends_the_run(store: Store) -> None:
    future = Future(None)
    crew = Crew()
    crew.submit = lambda work: future  # type: ignore[method-assign]
    crew.alive = False
    future.answer, future.status = GOOD, "cancelled"

    with pytest.raises(UserError, match="the scheduler is gone"):
        run(crew, store, 1)


def test_after_ctrl_c_work_under_way_is_kept_and_no_more_is_begun(store: Store) -> None:
    stop = Stop()

    class Interrupted(Crew):
        def submit(self, work: Work) -> Future:
            if len(self.given) == 1:
                stop(2, None)
            return super().submit(work)

    crew = Interrupted()

    run(crew, store, 10, stop)

    assert len(crew.given) == 2
    assert len(store.graded(TERMS)) == 2


def test_the_second_ctrl_c_stops_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    stop = Stop()
    stop(2, None)
    assert "finishing what is under way; press Ctrl-C again to stop at once\n" in (
        capfd.readouterr().err
    )

    with pytest.raises(KeyboardInterrupt):
        stop(2, None)
