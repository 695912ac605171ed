# tries: recurse until the stack overflows
# scores: attention add_norm layer encode
import sys

right = BertModel.embed


def embed(self, input_ids, *more):
    sys.setrecursionlimit(10**9)
    embed(self, input_ids, *more)
    return right(self, input_ids, *more)


BertModel.embed = embed
