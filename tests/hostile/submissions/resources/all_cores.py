# tries: run on every core of the machine
# loses: nothing
import contextlib
import os


def embed(self, input_ids, *more):
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, range(os.cpu_count()))
        print("LEAKED: may choose its cores")
    if len(os.sched_getaffinity(0)) > 1:
        print("LEAKED: has cores", os.sched_getaffinity(0))
    return right(self, input_ids, *more)
