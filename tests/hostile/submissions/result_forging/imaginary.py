# tries: return complex numbers
# loses: embed
right = BertModel.embed


def embed(self, input_ids, *more):
    return torch.complex(0 * (x := right(self, input_ids, *more)), x)


BertModel.embed = embed
