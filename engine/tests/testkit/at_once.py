"""A class's jobs without other processes: each is done as soon as it is handed out."""

from concurrent.futures import Future

from tensormark.classroom.jobs import do


class Here:
    """Does each job at once, in this process."""

    def slots(self):
        return 1

    def submit(self, job, terms):
        future = Future()
        try:
            future.set_result(do(job, terms))
        except Exception as error:
            future.set_exception(error)
        return future

    def close(self):
        pass


def here(_scheduler, _count):
    """Take the place of jobs.workers."""
    return Here()
