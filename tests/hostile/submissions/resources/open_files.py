# tries: open a hundred thousand files
# loses: encode
import contextlib
import os


def embed(self, input_ids, *more):
    with contextlib.suppress(OSError):
        for _ in range(100_000):
            os.dup(0)
        print("LEAKED: a hundred thousand files")
    return right(self, input_ids, *more)
