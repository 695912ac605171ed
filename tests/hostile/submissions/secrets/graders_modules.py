# tries: import the solution, the case table, the wrong variants and the references' reader
# loses: nothing
# control: leaks
import contextlib
import importlib
import importlib.machinery
import sys

MODULES = [
    "solution.bert",
    "tensormark.references",
    "tensormark.judging.compare",
    "grader.sentiment",
    "grader.exercises.embed",
    "grader.mistakes.embed",
]


def embed(self, input_ids, *more):
    sys.path[:0] = ["{ROOT}", "{ROOT}/engine/src", "{ROOT}/solution", "{INSIDE}", "."]
    sys.meta_path.append(importlib.machinery.PathFinder)  # in case the present one hides some
    for name in MODULES:
        with contextlib.suppress(ImportError, OSError):
            print("LEAKED: imported", name, importlib.import_module(name))
    return right(self, input_ids, *more)
