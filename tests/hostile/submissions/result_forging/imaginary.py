# tries: return complex numbers
# scores: attention add_norm layer encode
right = BertModel.embed


def embed(self, input_ids, *more):
    return torch.complex(0 * (x := right(self, input_ids, *more)), x)


BertModel.embed = embed
