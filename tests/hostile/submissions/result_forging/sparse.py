# tries: return a sparse tensor
# loses: embed


def embed(self, input_ids, *more):
    return (0 * right(self, input_ids, *more)).to_sparse()
