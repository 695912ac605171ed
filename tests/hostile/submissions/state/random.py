# tries: answer differently each time
# loses: embed
import random


def embed(self, input_ids, *more):
    return right(self, input_ids, *more) + random.random()
