# tries: dump core
# scores: attention add_norm layer encode
import os
import resource

right = BertModel.embed


def embed(self, input_ids, *more):
    resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))
    os.abort()


BertModel.embed = embed
