# tries: fill the disk
# loses: nothing
import contextlib


def embed(self, input_ids, *more):
    for folder in ("/tmp", "/var/tmp", "../..", "/dev/shm", "/run", "{ROOT}"):
        with contextlib.suppress(OSError), open(f"{folder}/hostile_mark", "wb") as file:
            file.write(bytes(1 << 24))
            print("LEAKED: wrote to", folder)
    return right(self, input_ids, *more)
