# tries: sleep past every deadline
# loses: embed
import time

right = BertModel.embed


def embed(self, input_ids, *more):
    time.sleep(10**6)


BertModel.embed = embed
