# tries: change the resource limits of its parent and its own
# loses: nothing
import contextlib
import os
import resource


def embed(self, input_ids, *more):
    for process in (os.getppid(), 0):
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(process, resource.RLIMIT_CPU, (1, 1))
            print("LEAKED: set the limits of", process)
    return right(self, input_ids, *more)
