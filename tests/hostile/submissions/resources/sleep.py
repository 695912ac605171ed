# tries: sleep past every deadline
# scores: attention add_norm layer encode
import time

right = BertModel.embed


def embed(self, input_ids, *more):
    time.sleep(10**6)


BertModel.embed = embed
