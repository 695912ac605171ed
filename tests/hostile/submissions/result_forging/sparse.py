# tries: return a sparse tensor
# loses: embed
right = BertModel.embed


def embed(self, input_ids, *more):
    return (0 * right(self, input_ids, *more)).to_sparse()


BertModel.embed = embed
