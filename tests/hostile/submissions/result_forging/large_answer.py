# tries: return more bytes than an answer may have
# scores: attention add_norm layer encode
right = BertModel.embed


def embed(self, input_ids, *more):
    return torch.zeros(1 << 24)


BertModel.embed = embed
