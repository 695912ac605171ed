# tries: leave a daemon behind: fork, setsid, fork, let the parents exit
# loses: nothing
import contextlib
import os
import time


def embed(self, input_ids, *more):
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(10**6)
            os._exit(0)
        print("LEAKED: forked")
    return right(self, input_ids, *more)
