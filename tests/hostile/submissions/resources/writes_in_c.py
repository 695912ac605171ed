# tries: write, truncate, link and change modes in C, where Python's own checks do not see it
# loses: nothing
import ctypes

library = ctypes.CDLL(None)
WRITE = 0o101  # O_WRONLY | O_CREAT
TRUNCATE = 0o1000  # O_TRUNC, of a file that is opened to read


def embed(self, input_ids, *more):
    for folder in ("../..", "/tmp", "/var/tmp", "/dev/shm", "{ROOT}", "{CHECKPOINT}"):
        path = f"{folder}/hostile_mark".encode()
        if library.open(path, WRITE, 0o600) >= 0 or library.mkdir(path, 0o700) == 0:
            print("LEAKED: made something in", folder)
    library.close(library.open(b"mine", WRITE, 0o600))
    changes = {
        "truncated": library.open(b"mine", TRUNCATE),
        "a link": library.symlink(b"/etc", b"link"),
        "a hard link": library.link(b"mine", b"link"),
        "a mode": library.chmod(b"mine", 0o4777),
        "a pipe": library.mkfifo(b"pipe", 0o600),
        "moved away": library.rename(b"mine", b"../../hostile_mark"),
    }
    print(*[f"LEAKED: {name}" for name, status in changes.items() if status >= 0])
    return right(self, input_ids, *more)
