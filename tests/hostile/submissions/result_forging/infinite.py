# tries: return infinite values
# scores: attention add_norm layer encode
right = BertModel.embed


def embed(self, input_ids, *more):
    return right(self, input_ids, *more) + float("inf")


BertModel.embed = embed
