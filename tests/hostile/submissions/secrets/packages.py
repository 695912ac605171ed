# tries: read packages that are installed for the instructor only
# loses: nothing
# control: leaks
import contextlib
import os
import sys

MODULES = ["transformers", "sklearn", "hypothesis", "mypy"]


def embed(self, input_ids, *more):
    for name in MODULES:
        for folder in sys.path:
            with (
                contextlib.suppress(OSError),
                open(os.path.join(folder, name, "__init__.py")) as file,
            ):
                print("LEAKED: read", name, file.read(20))
        with contextlib.suppress(Exception):
            __import__(name)
            print("LEAKED: imported", name, "with success")
    return right(self, input_ids, *more)
