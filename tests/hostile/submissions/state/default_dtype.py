# tries: leave another default type behind
# scores: attention add_norm layer encode
# partly: embed
right = BertModel.embed


def embed(self, input_ids, *more):
    torch.set_default_dtype(torch.float64)
    return right(self, input_ids, *more)


BertModel.embed = embed
