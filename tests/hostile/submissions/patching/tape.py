# tries: find the tape among all objects, and forge its lines, its prints and its length
# loses: embed
import gc
import sys


class Forged:
    def __len__(self):
        return 10**9

    def __iter__(self):
        return iter([(0, 10**9, -1, 10**9, 1, 2, *[float("nan")] * 8)] * 10**6)


def embed(self, input_ids, *more):
    for found in gc.get_objects():
        if type(found).__name__ == "Tape":
            found.records = found.prints = found.parents = Forged()
            found.returned = ["x" * 10**6] * 4
            found.files = ["../../etc/passwd"] * 10
    sys.settrace(None)
    return 0 * right(self, input_ids, *more)
