# tries: return infinite values
# loses: embed
right = BertModel.embed


def embed(self, input_ids, *more):
    return right(self, input_ids, *more) + float("inf")


BertModel.embed = embed
