# tries: look around in the file system
# loses: nothing
# control: leaks
import contextlib
import os

PATHS = [
    "/",
    "/etc/passwd",
    "/etc/shadow",
    "/root",
    "/home",
    "/var/log",
    "/tmp",
    "/sys/class/net",
]

right = BertModel.embed


def embed(self, input_ids, *more):
    for path in PATHS:
        with contextlib.suppress(OSError):
            if os.path.isdir(path):
                print("LEAKED: listed", path, os.listdir(path))
            else:
                with open(path, "rb") as file:
                    print("LEAKED: read", path, file.read(40))
    return right(self, input_ids, *more)


BertModel.embed = embed
