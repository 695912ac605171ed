# tries: answer differently each time
# scores: attention add_norm layer encode
import random

right = BertModel.embed


def embed(self, input_ids, *more):
    return right(self, input_ids, *more) + random.random()


BertModel.embed = embed
