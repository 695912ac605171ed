# tries: return a tensor with more axes than an answer can have
# loses: embed


def embed(self, input_ids, *more):
    return (0 * right(self, input_ids, *more)).sum().view([1] * 40)
