# tries: return more bytes than an answer may have
# loses: embed


def embed(self, input_ids, *more):
    return torch.zeros(1 << 24)
