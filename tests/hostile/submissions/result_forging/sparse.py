# tries: return a sparse tensor
# scores: attention add_norm layer encode
right = BertModel.embed


def embed(self, input_ids, *more):
    return (0 * right(self, input_ids, *more)).to_sparse()


BertModel.embed = embed
