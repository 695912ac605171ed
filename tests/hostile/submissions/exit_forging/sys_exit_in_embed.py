# tries: raise SystemExit, which `except Exception` lets through
# loses: embed
import sys

right = BertModel.embed


def embed(self, input_ids, *more):
    sys.exit(0)


BertModel.embed = embed
