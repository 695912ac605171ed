# tries: recurse until the stack overflows
# loses: embed
import sys


def embed(self, input_ids, *more):
    sys.setrecursionlimit(10**9)
    embed(self, input_ids, *more)
    return right(self, input_ids, *more)
