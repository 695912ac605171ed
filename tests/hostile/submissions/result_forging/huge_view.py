# tries: return a view of 4 TiB onto one number
# loses: embed


def embed(self, input_ids, *more):
    return torch.zeros(1).expand(1 << 40)
