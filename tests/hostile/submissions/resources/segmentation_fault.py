# tries: read address 0
# loses: embed
import ctypes

right = BertModel.embed


def embed(self, input_ids, *more):
    ctypes.string_at(0)


BertModel.embed = embed
