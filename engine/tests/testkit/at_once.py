"""A class's jobs without other processes: each is done as soon as it is handed out."""

from concurrent.futures import Future
from typing import Any

from tensormark.classroom.jobs import Job, Terms, do


class Here:
    """Does each job at once, in this process."""

    def slots(self) -> int:
        return 1

    def submit(self, job: Job, terms: Terms) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(do(job, terms))
        except Exception as error:
            future.set_exception(error)
        return future

    def close(self) -> None:
        pass


def here(_scheduler: str, _count: int) -> Here:
    """Take the place of jobs.workers."""
    return Here()
