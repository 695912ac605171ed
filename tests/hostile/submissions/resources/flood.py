# tries: print without end
# loses: nothing
right = BertModel.embed


def embed(self, input_ids, *more):
    for _ in range(1000):
        print("x" * 65536)
    return right(self, input_ids, *more)


BertModel.embed = embed
