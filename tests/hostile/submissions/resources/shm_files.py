# tries: leave memory behind in /dev/shm, System V segments and memory files
# loses: nothing
import contextlib
import ctypes
import os


def embed(self, input_ids, *more):
    with contextlib.suppress(OSError):
        with open("/dev/shm/hostile_mark", "wb") as file:
            file.write(bytes(1 << 24))
        print("LEAKED: a file in /dev/shm")
    with contextlib.suppress(OSError):
        os.memfd_create("hostile_mark")
        print("LEAKED: a memory file")
    library = ctypes.CDLL(None)
    if library.shmget(0x6D42, 1 << 24, 0o1666) >= 0:
        print("LEAKED: a System V segment")
    if library.semget(0x6D42, 1, 0o1666) >= 0 or library.msgget(0x6D42, 0o1666) >= 0:
        print("LEAKED: a System V semaphore or queue")
    return right(self, input_ids, *more)
