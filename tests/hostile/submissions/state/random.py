# tries: answer differently each time
# loses: embed
import random

right = BertModel.embed


def embed(self, input_ids, *more):
    return right(self, input_ids, *more) + random.random()


BertModel.embed = embed
