# tries: read the solution and the grader
# loses: nothing
# control: leaks
import contextlib
import os

PATHS = [
    "{ROOT}/solution",
    "{ROOT}/solution/bert.py",
    "{ROOT}/instructor",
    "{ROOT}/engine/src/tensormark/grading.py",
    "{ROOT}/engine/src/tensormark/judging/compare.py",
    "{ROOT}/grader/exercises/embed.py",
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
