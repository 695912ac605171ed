# tries: make links to secrets, in case links are followed elsewhere
# loses: nothing
# control: none, because it writes
import contextlib
import os


def embed(self, input_ids, *more):
    for make in (os.symlink, os.link):
        for folder in ("/tmp", "/dev/shm", "."):
            with contextlib.suppress(OSError):
                make("{ROOT}/reference_outputs/manifest.json", f"{folder}/hostile_mark_link")
                print("LEAKED: made a link in", folder)
    return right(self, input_ids, *more)
