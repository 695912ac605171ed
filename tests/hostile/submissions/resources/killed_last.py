# tries: be the last process to be killed when memory runs out, and the first to be run
# loses: nothing
import contextlib
import os


def embed(self, input_ids, *more):
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("0")
        print("LEAKED: is not the first to be killed")
    with contextlib.suppress(OSError):
        os.nice(-1)
        print("LEAKED: is run before others")
    return right(self, input_ids, *more)
