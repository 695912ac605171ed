# tries: print without end
# scores: attention add_norm layer embed encode
right = BertModel.embed


def embed(self, input_ids, *more):
    for _ in range(1000):
        print("x" * 65536)
    return right(self, input_ids, *more)


BertModel.embed = embed
