# tries: raise SystemExit, which `except Exception` lets through
# loses: embed
import sys


def embed(self, input_ids, *more):
    sys.exit(0)
